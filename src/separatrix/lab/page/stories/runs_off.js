/** Divergence: on separable data the likelihood has no maximum, and the weights grow without bound. */

import { defaults } from "../core/learners.js";
import { counted, num } from "../words/number.js";
import { statusWords, stepWords } from "../words/sentence.js";
import { atEnd, changes, chapter, fixed } from "./chapters.js";

/** @typedef {import("../core/types.js").Story} Story */
/** @typedef {import("../core/types.js").StoryState} StoryState */

/** @type {[number, number, number][]} */
const POINTS = [
  [-3, 0, -1],
  [-2, 0, -1],
  [-1, 0, -1],
  [1, 0, 1],
  [2, 0, 1],
  [3, 0, 1],
];

/** @param {StoryState} state */
function slopeOf(state) {
  return state.runs[0].trace.kept[1];
}

/** @type {Story} */
export const RUNS_OFF = {
  id: "runs-off",
  name: "Divergence",
  points: POINTS,
  learners: [defaults("logistic", { maxSteps: 400 })],
  evidence: "likelihood",
  question: {
    ask: "Logistic regression climbs the likelihood of these six labels. Where will the slope stop?",
    choices: [
      { id: "one", label: "near 1", range: [0.5, 1.5], reply: "Noted. Press play." },
      { id: "five", label: "near 5", range: [4, 6], reply: "Noted. Press play." },
      { id: "never", label: "nowhere", reply: "Noted. Press play, and give it time." },
    ],
    truth: "never",
  },
  chapters: [
    chapter("predict", "start", fixed("Logistic regression climbs the likelihood of these six labels. Where will the slope stop?", "Orange on the left, blue on the right; the curve is the probability of blue. What is your guess?")),
    chapter("watch", "start", (state) => (atEnd(state) ? statusWords(state.runs[0]) : stepWords(state.runs[0], state.tick))),
    chapter("why", "end", (state) => {
      const { verdict } = state.runs[0];
      if (verdict.kind === "overlap") return { title: "Now the classes overlap, so a maximum exists.", text: `The slope stops at ${num(slopeOf(state))}.` };
      return { title: "Why? A steeper curve is always a better one.", text: "A point lies between the classes, at 0. Make the curve twice as steep there, and all six probabilities come nearer to 1. The loss tends to 0 and never gets there; the slope tends to infinity." };
    }, { proof: true }),
    chapter("break", "end", (state) => {
      const { trace } = state.runs[0];
      if (trace.status === "runs off") return { title: "Now break it: drag a point across, and the slope will stop.", text: `After ${counted(trace.length, "step")} it is at ${num(slopeOf(state))}, and still growing.` };
      return { title: `Broken: the slope stops at ${num(slopeOf(state))}.`, text: "One point on the wrong side is enough: too steep a curve would call its label impossible." };
    }),
    chapter("challenge", "end", (state) => RUNS_OFF.challenge(state), { points: POINTS, set: { update: "newton" } }),
  ],
  challenge: (state) => {
    const { trace, verdict } = state.runs[0];
    const moved = changes(state, POINTS);
    if (moved === 1 && verdict.kind === "overlap") return { won: true, title: `Done: a maximum exists, at slope ${num(slopeOf(state))}.`, text: `The classes overlap now, and Newton's method finds it in ${counted(trace.length, "step")}.` };
    const text = moved > 1 ? "Only one point may move: undo, and try again." : verdict.kind === "quasi" ? "Nearly: the classes touch at one place, and the slope still grows without bound." : "The weights still grow without bound: what would stop them?";
    return { won: false, title: "Challenge: move one point so that a maximum exists.", text };
  },
};
