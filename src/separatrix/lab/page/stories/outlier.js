/** One outlier: which loss is most affected? */

import { modelAt, wrongRows } from "../core/derive.js";
import { defaults } from "../core/learners.js";
import { counted, num } from "../words/number.js";
import { chapter, fixed } from "./chapters.js";

/** @typedef {import("../core/types.js").Story} Story */
/** @typedef {import("../core/types.js").StoryState} StoryState */

/** @type {[number, number, number][]} */
const POINTS = [
  [1, 2, 1],
  [2, 1, 1],
  [3, 3, 1],
  [2, 2, 1],
  [-9, -3, 1],
  [-1, 2, -1],
  [-2, 0, -1],
  [-1, -1, -1],
  [-2, 2, -1],
];
const NAMES = ["least squares", "logistic", "hinge", "0–1"];

/** @param {StoryState} state */
function mistakes(state) {
  return state.runs.map((run) => wrongRows(run, modelAt(run, run.trace.length)));
}

/** @type {Story} */
export const OUTLIER = {
  id: "outlier",
  name: "One outlier",
  points: POINTS,
  learners: [defaults("lms", { maxSteps: 2000 }), defaults("logistic", { update: "newton" }), defaults("svm"), defaults("zero-one")],
  evidence: "losses",
  question: {
    ask: "One blue point lies far on the wrong side. Which loss sacrifices the fewest points to it?",
    choices: [
      { id: "squared", label: "Squared", reply: "Noted. Look at the four lines." },
      { id: "logistic", label: "Logistic", reply: "Noted. Look at the four lines." },
      { id: "hinge", label: "Hinge", reply: "Noted. Look at the four lines." },
      { id: "zero-one", label: "0–1", reply: "Noted. Look at the four lines." },
    ],
    truth: "zero-one",
  },
  chapters: [
    chapter("predict", "start", fixed("One blue point lies far on the wrong side. Which loss sacrifices the fewest points to it?", "Four learners on the same points, each with its own idea of what a mistake costs. What is your guess?")),
    chapter("watch", "end", (state) => ({ title: `Wrong points: ${mistakes(state).map((wrong, k) => `${NAMES[k] ?? "other"} ${num(wrong)}`).join(", ")}.`, text: "Only the last one counts what we meant: mistakes." })),
    chapter("why", "end", fixed("Why? The cost grows with the distance.", "The squared loss grows with the square of the distance, logistic and hinge loss in proportion to it, so a far point outvotes several near ones. The 0–1 loss charges 1 per mistake, wherever it is; but it has no slope to follow, and finding its minimum is NP-hard.")),
    chapter("break", "end", (state) => {
      const least = mistakes(state)[3];
      const text = state.runs[3]?.trace.done ? `At least ${counted(least, "point")} must be wrong for any line.` : "The fewest mistakes are being counted …";
      return { title: "Now break it: drag the outlier farther out, or nearer.", text };
    }),
    chapter("challenge", "end", (state) => OUTLIER.challenge(state), { points: POINTS.filter((_, i) => i !== 4) }),
  ],
  challenge: (state) => {
    const title = "Challenge: add one point so that hinge and 0–1 disagree.";
    const kept = POINTS.filter((_, i) => i !== 4);
    const same = kept.every(([x, y, label], i) => state.points.x1[i] === x && state.points.x2[i] === y && state.points.label[i] === label);
    if (!same || state.points.n > kept.length + 1) return { won: false, title, text: "Leave the eight points where they are, and add one." };
    const [, , hinge, least] = mistakes(state);
    if (state.points.n === kept.length + 1 && hinge > least) return { won: true, title: `Done: hinge makes ${counted(hinge, "mistake")}, 0–1 ${num(least)}.`, text: "The price of hinge loss grows with distance, so a far point can buy more than one mistake." };
    return { won: false, title, text: `Now hinge makes ${counted(hinge ?? 0, "mistake")} and 0–1 ${num(least ?? 0)}.` };
  },
};
