/** Interval: points on a line, lifted by (x − μ)². */

import { defaults } from "../core/learners.js";
import { judgeFeatures } from "../core/features.js";
import { lift } from "../core/lift.js";
import { counted, num } from "../words/number.js";
import { changes, chapter, fixed } from "./chapters.js";

/** @typedef {import("../core/types.js").Story} Story */
/** @typedef {import("../core/types.js").StoryState} StoryState */

/** @type {[number, number, number][]} */
const POINTS = [
  [-3, 0, -1],
  [-2, 0, -1],
  [-1, 0, 1],
  [0, 0, 1],
  [1, 0, 1],
  [2, 0, -1],
  [3, 0, -1],
];

/**
 * Return whether some μ separates the classes: only midpoints of points and the gaps between them matter.
 * @param {StoryState} state
 */
function anyCentre(state) {
  const x = Array.from(state.points.x1);
  const middles = [...new Set(x.flatMap((a) => x.map((b) => (a + b) / 2)))].sort((a, b) => a - b);
  const tries = middles.flatMap((m, k) => (k + 1 < middles.length ? [m, (m + middles[k + 1]) / 2] : [m]));
  return tries.some((centre) => judgeFeatures(lift(state.points, { lift: "distance", centre }), true).kind === "separable");
}

/** @type {Story} */
export const INTERVAL = {
  id: "interval",
  name: "Interval",
  points: POINTS,
  learners: [defaults("perceptron", { lift: "distance", centre: 1 })],
  evidence: "lifted",
  question: {
    ask: "No point of the axis separates these. Lift each to (*x* − *μ*)²: for which *μ* does a threshold separate them?",
    choices: [
      { id: "none", label: "none", reply: "Noted. Slide *μ* and watch the parabola." },
      { id: "half", label: "|μ| < ½", reply: "Noted. Slide *μ* and watch the parabola." },
      { id: "one", label: "|μ| < 1", reply: "Noted. Slide *μ* and watch the parabola." },
      { id: "zero", label: "only 0", reply: "Noted. Slide *μ* and watch the parabola." },
    ],
    truth: "half",
  },
  chapters: [
    chapter("predict", "start", fixed("No point of the axis separates these. Lift each to (*x* − *μ*)²: for which *μ* does a threshold separate them?", "Blue in the middle, orange on both sides. The lift bends the axis into a parabola with its lowest point at *μ*. What is your guess?"), { controls: "centre" }),
    chapter("watch", "end", (state) => {
      const { verdict, learner, trace } = state.runs[0];
      const where = `At *μ* = ${num(learner.centre)}`;
      if (verdict.kind === "separable") return { title: `${where} a threshold separates them.`, text: `The perceptron finds it after ${counted(trace.updates, "mistake")}. Slide *μ* until it fails.` };
      return { title: `${where} no threshold separates them.`, text: verdict.kind === "quasi" ? "A blue and an orange point are at exactly the same height." : "Some orange point lies lower than some blue one. Slide *μ* towards the middle." };
    }, { controls: "centre" }),
    chapter("why", "end", fixed("Why ½? The nearest orange must be higher than the farthest blue.", "The farthest blue point is at distance 1 + |*μ*|, the nearest orange at 2 − |*μ*|. The first is less than the second exactly when |*μ*| < ½."), { set: { centre: 0 }, controls: "centre" }),
    chapter("break", "end", (state) => ({ title: "Now break it: move a point until only a narrow range of *μ* is left.", text: anyCentre(state) ? "Some *μ* still works." : "Now no *μ* works." }), { controls: "centre" }),
    chapter("challenge", "end", (state) => INTERVAL.challenge(state), { points: POINTS, controls: "centre" }),
  ],
  challenge: (state) => {
    const title = "Challenge: move one point so that no *μ* works.";
    const moved = changes(state, POINTS);
    if (moved > 1) return { won: false, title, text: "Only one point may move: undo, and try again." };
    if (moved === 1 && !anyCentre(state)) return { won: true, title: "Done: no *μ* works now.", text: "The classes alternate more than twice along the axis, and a parabola turns only once." };
    return { won: false, title, text: "Some *μ* still works. How often may the classes alternate along the axis?" };
  },
};
