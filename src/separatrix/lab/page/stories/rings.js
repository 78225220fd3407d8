/** Rings: a lift by x₁² + x₂², and a kernel that needs no map. */

import { modelAt, wrongRows } from "../core/derive.js";
import { defaults } from "../core/learners.js";
import { counted, num } from "../words/number.js";
import { changes, chapter, fixed } from "./chapters.js";

/** @typedef {import("../core/types.js").Story} Story */
/** @typedef {import("../core/types.js").StoryState} StoryState */

/** @param {number} count @param {number} radius @param {number} label @returns {[number, number, number][]} */
function ring(count, radius, label) {
  const tenth = (/** @type {number} */ x) => Math.round(x * 10) / 10 + 0;
  return Array.from({ length: count }, (_, k) => {
    const angle = (2 * Math.PI * k) / count;
    return [tenth(radius * Math.cos(angle)), tenth(radius * Math.sin(angle)), label];
  });
}

const POINTS = [...ring(8, 1, 1), ...ring(12, 3, -1)];

/** Return how many points the kernel perceptron remembers. @param {StoryState} state */
function remembered(state) {
  const { alpha } = state.runs[0].trace;
  return alpha ? alpha.filter((count) => count > 0).length : 0;
}

/** @type {Story} */
export const RINGS = {
  id: "rings",
  name: "Rings",
  points: POINTS,
  learners: [defaults("kernel", { gamma: 0.25 }), defaults("perceptron", { lift: "rings" })],
  evidence: "kernel",
  question: {
    ask: "A kernel perceptron remembers the points that it got wrong. How many of the 20 must it remember?",
    choices: [
      { id: "two", label: "about 2", range: [1, 3], reply: "Noted. Press play." },
      { id: "eight", label: "about 8", range: [6, 10], reply: "Noted. Press play." },
      { id: "all", label: "all 20", range: [18, 20], reply: "Noted. Press play." },
    ],
    truth: "eight",
  },
  chapters: [
    chapter("predict", "start", fixed("A kernel perceptron remembers the points that it got wrong. How many of the 20 must it remember?", "No line can separate a ring from its inside. Left, a kernel perceptron; right, a perceptron on the lifted points. What is your guess?")),
    chapter("watch", "end", (state) => {
      const [kernel, lifted] = state.runs;
      const second = lifted ? ` The perceptron on *x*₁² + *x*₂² makes ${counted(lifted.trace.updates, "mistake")}.` : "";
      return { title: `${counted(kernel.trace.updates, "mistake")}, on ${counted(remembered(state), "point")}.`, text: `Hover over a remembered point to see its kernel.${second}` };
    }),
    chapter("why", "end", fixed("Why does it work without a map? It only compares points.", "The score of a place is a sum over the remembered points: each adds its label, weighted more the nearer it is. That is a linear predictor in a feature space that is never computed. The lift on the right computes one: *x*₁² + *x*₂² raises the outer ring, and a plane cuts between.")),
    chapter("break", "end", (state) => {
      const [kernel, lifted] = state.runs;
      const wrong = [kernel, lifted].filter(Boolean).map((run) => wrongRows(run, modelAt(run, run.trace.length)));
      return { title: "Now break it: make the kernel narrow or wide, and move points.", text: `Kernel: ${counted(wrong[0], "point")} wrong. Lift: ${counted(wrong[1] ?? 0, "point")} wrong.` };
    }, { controls: "kernel" }),
    chapter("challenge", "end", (state) => RINGS.challenge(state), { points: POINTS, set: { gamma: 0.25 } }),
  ],
  challenge: (state) => {
    const title = "Challenge: move one outer point so that the lift fails and the kernel does not.";
    const [kernel, lifted] = state.runs;
    const moved = changes(state, POINTS);
    const inner = POINTS.slice(0, 8).every(([x, y], i) => state.points.x1[i] === x && state.points.x2[i] === y);
    if (moved > 1 || !inner) return { won: false, title, text: "Only one orange point may move: undo, and try again." };
    const kernelRight = kernel.trace.status === "converged";
    const liftFails = lifted && lifted.verdict.kind !== "separable" && lifted.verdict.kind !== "undecided";
    if (moved === 1 && kernelRight && liftFails) return { won: true, title: `Done: no circle separates them, but the kernel does, with ${counted(kernel.trace.updates, "mistake")}.`, text: "The lift can only draw circles; the kernel can draw any curve, as long as no two different points share a place." };
    return { won: false, title, text: liftFails ? "The lift fails, and so does the kernel: move it less far in." : `A circle still separates them${moved ? ` at ${num(moved)} change` : ""}. Where may an orange point not be?` };
  },
};
