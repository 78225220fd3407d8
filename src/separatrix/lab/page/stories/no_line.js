/** No line: the perceptron repeats without end, and two crossing segments prove that it must. */

import { defaults } from "../core/learners.js";
import { listedRows, statusWords, stepWords } from "../words/sentence.js";
import { num } from "../words/number.js";
import { atEnd, chapter, fixed } from "./chapters.js";

/** @typedef {import("../core/types.js").Story} Story */

/** @type {[number, number, number][]} */
const POINTS = [
  [2, 1, 1],
  [4, 3, 1],
  [3, 5, 1],
  [1, 3, -1],
  [5, 6, -1],
];

/** @type {Story} */
export const NO_LINE = {
  id: "no-line",
  name: "No line",
  points: POINTS,
  learners: [defaults("perceptron", { start: [1, 1, 1], tie: "mistake" })],
  evidence: "bound",
  question: {
    ask: "Will the perceptron ever stop?",
    choices: [
      { id: "soon", label: "Yes, soon", reply: "Noted. Watch the strip below." },
      { id: "late", label: "Yes, after many mistakes", reply: "Noted. Watch the strip below." },
      { id: "never", label: "Never", reply: "Noted. How could one be sure?" },
    ],
    truth: "never",
  },
  chapters: [
    chapter("predict", "start", fixed("Will the perceptron ever stop?", "Five other points, and this time the line may miss the origin. What is your guess?")),
    chapter("watch", "start", (state) => (atEnd(state) ? statusWords(state.runs[0]) : stepWords(state.runs[0], state.tick))),
    chapter(
      "why",
      "end",
      (state) => {
        const { verdict, points } = state.runs[0];
        if (verdict.kind !== "overlap" || !verdict.witness) return { title: "Now a line exists, so it stops.", text: "Undo to see why there was none." };
        return {
          title: "Why no line? Two segments cross.",
          text: `The starred point is a mean of ${listedRows(points, verdict.witness.rows, 1)} and also of ${listedRows(points, verdict.witness.rows, -1)}, weighted as shown. A line with the first on one side and the others on the other would have the star on both.`,
        };
      },
      { proof: true },
    ),
    chapter("break", "end", (state) => {
      const { verdict, trace } = state.runs[0];
      if (verdict.kind === "overlap") return { title: "Now break it: drag a point until the segments no longer cross.", text: "The verdict changes as soon as a line exists, while you drag." };
      return { title: `The proof is gone: a line exists, and the run stops after ${num(trace.updates)} mistakes.`, text: verdict.margin ? `The widest margin is *γ* = ${num(verdict.margin.gamma)}.` : "" };
    }),
    chapter("challenge", "end", (state) => NO_LINE.challenge(state)),
  ],
  challenge: (state) => {
    const { trace, verdict, bound } = state.runs[0];
    const removed = POINTS.length - state.points.n;
    const untouched = POINTS.filter((row) => has(state, row)).length;
    if (removed === 1 && untouched === POINTS.length - 1) {
      if (verdict.kind === "separable") return { won: true, title: `Done: it stops after ${num(trace.updates)} mistakes.`, text: `Deleting point 3, 4 or 5 is enough. The theorem now allows ${num(bound.most)}.` };
      return { won: false, title: "Not this one: the hulls still overlap.", text: "Undo, and look at the proof: which points does it need?" };
    }
    const text = removed > 1 ? "Only one point may go: undo, and try again." : "Use the delete tool, or choose a point with [ and ] and press Delete.";
    return { won: false, title: "Challenge: delete one point so that it stops.", text: text.replace(/[[\]]/g, "\\$&") };
  },
};

/** @param {import("../core/types.js").StoryState} state @param {[number, number, number]} row */
function has(state, row) {
  const { points } = state;
  for (let i = 0; i < points.n; i++) if (points.x1[i] === row[0] && points.x2[i] === row[1] && points.label[i] === row[2]) return true;
  return false;
}
