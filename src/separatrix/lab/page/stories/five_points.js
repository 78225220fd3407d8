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
    ask: "How often will the perceptron be wrong before it gets every point right?",
    choices: [
      { id: "few", label: "1 to 3", range: [1, 3], reply: "Your guess is on the chart now." },
      { id: "some", label: "4 to 8", range: [4, 8], reply: "Your guess is on the chart now." },
      { id: "many", label: "9 to 17", range: [9, 17], reply: "Your guess is on the chart now. The theorem would allow it." },
      { id: "more", label: "18 or more", range: [18, 40], reply: "Your guess is on the chart now. A theorem rules it out: in the third chapter you can see how." },
    ],
    truth: "some",
  },
  chapters: [
    chapter("predict", "start", fixed("How often will the perceptron be wrong before it gets every point right?", "It starts knowing nothing and looks at the five points again and again; only a mistake changes its line. What is your guess?")),
    chapter("watch", "start", (state) => {
      if (!atEnd(state)) return stepWords(state.runs[0], state.tick);
      const made = state.runs[0].trace.updates;
      const choice = FIVE_POINTS.question.choices.find((each) => each.id === state.guess);
      const right = choice?.range && made >= choice.range[0] && made <= choice.range[1];
      const guess = choice ? ` Your guess was ${choice.label}${right ? ", which is right" : ""}.` : "";
      const { title, text } = statusWords(state.runs[0]);
      return { title, text: text + guess };
    }),
    chapter(
      "why",
      "end",
      (state) => {
        const { bound } = state.runs[0];
        if (!bound.exists) return { title: "Without a line the theorem says nothing.", text: "Undo the last move to get the two curves back." };
        return {
          title: `Why at most [=${num(bound.most)}]? Because ‖*w*‖² cannot grow fast, and cannot grow slowly either.`,
          text: `After *t* mistakes ‖*w*‖² is at most *tR*² = ${num(bound.R2)}*t*, since only points with a wrong score are added. It is at least *t*²*γ*² = ${Math.abs(bound.gamma - 1) < 1e-9 ? "" : num(bound.gamma * bound.gamma)}*t*², since each of them has at least *γ* along the widest-margin direction. Both hold only up to *t* = ${num(bound.ratio)}.`,
        };
      },
      { proof: true },
    ),
    chapter("break", "end", (state) => {
      const { verdict } = state.runs[0];
      if (verdict.kind === "separable") return { title: "Now break it: drag an [-orange] point to where no line can get it right.", text: "Verdict, run and bound are recomputed as you drag." };
      return { title: "Broken: no line through the origin separates these.", text: "The proof: a weighted mean of the points, orange ones with their signs reversed, is exactly 0. So there is no margin *γ*, and no bound on the number of mistakes." };
    }),
    chapter("challenge", "end", (state) => FIVE_POINTS.challenge(state)),
  ],
  challenge: (state) => {
    const { bound, trace } = state.runs[0];
    const moved = changes(state, POINTS);
    if (moved === 1 && bound.exists && bound.most > GOAL) {
      return { won: true, title: `Done: the theorem now allows [=${num(bound.most)}] mistakes.`, text: `*R* = ${num(bound.R)} and *γ* = ${num(bound.gamma)}. In fact there were ${counted(trace.updates, "mistake")}: a bound says what cannot happen, not what will.` };
    }
    const hint = moved > 1 ? "More than one point has moved: undo until only one has." : `At present it allows ${bound.exists ? num(bound.most) : "any number, as no line exists"}. Long points raise *R*; what lowers *γ*?`;
    return { won: false, title: `Challenge: move one point until the theorem allows more than ${GOAL} mistakes.`, text: hint };
  },
};
