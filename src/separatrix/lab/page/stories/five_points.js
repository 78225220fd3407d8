/** Five points: how many mistakes does a perceptron make, and why never more than 17? */

import { defaults } from "../core/learners.js";
import { statusWords, stepWords } from "../words/sentence.js";
import { counted, num } from "../words/number.js";
import { atEnd, changes, chapter, fixed } from "./chapters.js";

/** @typedef {import("../core/types.js").Story} Story */

/** @type {[number, number, number][]} */
const POINTS = [
  [1, 4, 1],
  [1, -2, 1],
  [-1, -3, -1],
  [-1, 2, -1],
  [-2, 0, -1],
];
const GOAL = 100;

/** @type {Story} */
export const FIVE_POINTS = {
  id: "five-points",
  name: "Five points",
  points: POINTS,
  learners: [defaults("perceptron", { intercept: false })],
  evidence: "bound",
  question: {
    ask: "How many mistakes until a line separates [+blue] from [-orange]?",
    choices: [
      { id: "few", label: "1 to 3", range: [1, 3], reply: "Noted on the chart." },
      { id: "some", label: "4 to 8", range: [4, 8], reply: "Noted on the chart." },
      { id: "many", label: "9 to 17", range: [9, 17], reply: "Noted on the chart. It is possible: nothing forbids it." },
      { id: "more", label: "18 or more", range: [18, 40], reply: "That cannot happen: a theorem forbids it. The chart shows why." },
    ],
    truth: "some",
  },
  chapters: [
    chapter("predict", "start", fixed("How many mistakes until a line separates [+blue] from [-orange]?", "A perceptron turns its line only when it gets a point wrong. Make a guess.")),
    chapter("watch", "start", (state) => {
      if (!atEnd(state)) return stepWords(state.runs[0], state.tick);
      const made = state.runs[0].trace.updates;
      const choice = FIVE_POINTS.question.choices.find((each) => each.id === state.guess);
      const right = choice?.range && made >= choice.range[0] && made <= choice.range[1];
      const guess = choice ? ` You said ${choice.label}: ${right ? "right" : "not this time"}.` : "";
      const { title, text } = statusWords(state.runs[0]);
      return { title, text: text + guess };
    }),
    chapter(
      "why",
      "end",
      (state) => {
        const { bound } = state.runs[0];
        if (!bound.exists) return { title: "No line, so no theorem.", text: "Undo, and the two curves meet again." };
        return {
          title: `Why never more than [=${num(bound.most)}]? *w* grows slowly, but steadily.`,
          text: `Each mistake adds at most *R*² = ${num(bound.R2)} to ‖*w*‖². Along the widest-margin direction each one adds at least *γ* = ${num(bound.gamma)} to *w*, so ‖*w*‖² is at least *t*²*γ*². The line and the parabola meet at ${num(bound.ratio)}.`,
        };
      },
      { proof: true },
    ),
    chapter("break", "end", (state) => {
      const { verdict } = state.runs[0];
      if (verdict.kind === "separable") return { title: "Now break it: drag an [-orange] point in among the [+blue] ones.", text: "The verdict follows your hand, and so do the run, the bound and the proof." };
      return { title: "Broken: no line through the origin is left.", text: "Reflect the orange points through the origin: together with the blue ones they surround it. No line means no margin, and no bound on the mistakes." };
    }),
    chapter("challenge", "end", (state) => FIVE_POINTS.challenge(state)),
  ],
  challenge: (state) => {
    const { bound, trace } = state.runs[0];
    const moved = changes(state, POINTS);
    if (moved === 1 && bound.exists && bound.most > GOAL) {
      return { won: true, title: `Done: now up to [=${num(bound.most)}] mistakes are possible.`, text: `*R* = ${num(bound.R)} and *γ* = ${num(bound.gamma)}. The perceptron itself made ${counted(trace.updates, "mistake")}: the theorem is a guarantee, not a forecast.` };
    }
    const hint = moved > 1 ? "Only one point may move: undo, and try again." : `Now at most ${bound.exists ? num(bound.most) : "—"} are possible. What makes (*R*/*γ*)² large?`;
    return { won: false, title: `Challenge: move one point so that more than ${GOAL} mistakes are possible.`, text: hint };
  },
};
