/** Far point: least mean squares is pulled by a point that is far on its own side; the perceptron is not. */

import { modelAt, wrongRows } from "../core/derive.js";
import { defaults } from "../core/learners.js";
import { counted, num } from "../words/number.js";
import { changes, chapter, fixed } from "./chapters.js";

/** @typedef {import("../core/types.js").Story} Story */
/** @typedef {import("../core/types.js").StoryState} StoryState */

/** @type {[number, number, number][]} */
const POINTS = [
  [1, 1, 1],
  [1, 2, 1],
  [2, 0, 1],
  [2, 3, 1],
  [-1, 1, -1],
  [-1, 2, -1],
  [-2, 0, -1],
  [-2, 3, -1],
];
const MOVED = 3;
/** @type {[number, number, number][]} */
const FAR = POINTS.map((row, i) => (i === MOVED ? [8, 3, 1] : row));

/** Return the mistakes of each learner at the end of its run. @param {StoryState} state */
function mistakes(state) {
  return state.runs.map((run) => wrongRows(run, modelAt(run, run.trace.length)));
}

/** @type {Story} */
export const FAR_POINT = {
  id: "far-point",
  name: "Far point",
  points: POINTS,
  learners: [defaults("lms", { maxSteps: 1000 }), defaults("perceptron")],
  evidence: "losses",
  question: {
    ask: "Drag [+blue 4] from (2, 3) to (8, 3), deeper into its own side. Which learner gets worse?",
    choices: [
      { id: "lms", label: "Least mean squares", reply: "Noted. Now drag the point." },
      { id: "perceptron", label: "The perceptron", reply: "Noted. Now drag the point." },
      { id: "both", label: "Both", reply: "Noted. Now drag the point." },
      { id: "neither", label: "Neither: the point is right", reply: "Noted. Now drag the point." },
    ],
    truth: "lms",
  },
  chapters: [
    chapter("predict", "end", fixed("Drag [+blue 4] from (2, 3) to (8, 3), deeper into its own side. Which learner gets worse?", "Left, least mean squares; right, the perceptron. Both have every point right. What is your guess?")),
    chapter("watch", "end", (state) => {
      const [lms, perceptron] = mistakes(state);
      return { title: `Least mean squares: ${counted(lms, "point")} wrong. Perceptron: ${counted(perceptron, "point")} wrong.`, text: lms ? "The far point rotates the line of least mean squares, and a point near the line becomes wrong." : "Drag blue 4 to the right and watch the left line rotate." };
    }, { points: FAR }),
    chapter("why", "end", fixed("Why? Least mean squares penalises large scores, even with the right sign.", "It wants every score to be exactly 1 or −1. A point far on its own side has a score of 3 or 4, and its squared error is as large as that of a point far on the wrong side. The perceptron only asks for the sign."), { points: FAR }),
    chapter("break", "end", (state) => {
      const [lms] = mistakes(state);
      return { title: "Now break it: how many points can one far point make wrong?", text: `Now ${counted(lms, "point is", "points are")} wrong, although the classes are separable.` };
    }, { points: FAR }),
    chapter("challenge", "end", (state) => FAR_POINT.challenge(state), { points: POINTS }),
  ],
  challenge: (state) => {
    const title = "Challenge: move [+blue 4] along *x*₂ = 3, as far right as least mean squares stays right.";
    if (changes(state, POINTS) > 1 || state.points.n !== POINTS.length || state.points.x2[MOVED] !== 3) return { won: false, title, text: "Only blue 4 may move, and only sideways: undo, and try again." };
    const [lms] = mistakes(state);
    const x = state.points.x1[MOVED];
    if (lms) return { won: false, title, text: `At ${num(x)} a point is wrong: go back a little.` };
    if (x >= 6.9 && x <= 7) return { won: true, title: `Done: ${num(x)} is the last tenth.`, text: "At 7 the line of least squares passes exactly through (1, 2); beyond, that point is wrong." };
    return { won: false, title, text: `At ${num(x)} every point is still right: continue.` };
  },
};
