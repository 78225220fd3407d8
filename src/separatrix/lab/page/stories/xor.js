/** XOR: of the 16 labellings of a square a line can separate 14; with x₁x₂ as a third feature a plane separates all. */

import { defaults } from "../core/learners.js";
import { labellings } from "../core/labellings.js";
import { num } from "../words/number.js";
import { statusWords } from "../words/sentence.js";
import { atEnd, chapter, fixed } from "./chapters.js";

/** @typedef {import("../core/types.js").Story} Story */
/** @typedef {import("../core/types.js").StoryState} StoryState */

/** @type {[number, number, number][]} */
const POINTS = [
  [1, 1, 1],
  [1, -1, -1],
  [-1, 1, -1],
  [-1, -1, 1],
];

/** Return how many labellings of the points a line can separate. @param {StoryState} state */
function possible(state) {
  return labellings(state.points.x1, state.points.x2).filter((each) => each.separable).length;
}

/** @type {Story} */
export const XOR = {
  id: "xor",
  name: "XOR",
  points: POINTS,
  learners: [defaults("perceptron", { tie: "mistake" })],
  evidence: "labellings",
  question: {
    ask: "Four points can be labelled in 16 ways. How many of them can a line separate?",
    choices: [
      { id: "eight", label: "8", reply: "Noted. Each labelling is a thumbnail beside the stage." },
      { id: "twelve", label: "12", reply: "Noted. Each labelling is a thumbnail beside the stage." },
      { id: "fourteen", label: "14", reply: "Noted. Each labelling is a thumbnail beside the stage." },
      { id: "all", label: "all 16", reply: "Noted. Then a line could separate this one, too." },
    ],
    truth: "fourteen",
  },
  chapters: [
    chapter("predict", "start", fixed("Four points can be labelled in 16 ways. How many of them can a line separate?", "Blue where the signs agree, orange where they differ: this labelling is called XOR. What is your guess?")),
    chapter("watch", "end", (state) => ({ title: `${num(possible(state))} of ${num(2 ** Math.min(10, state.points.n))}.`, text: "Only the two in which the diagonals have different labels fail: the diagonals cross, and their intersection would be on both sides of the line." })),
    chapter("why", "end", (state) => {
      const run = state.runs[0];
      if (run.learner.lift === "none") return { title: "What would help? A third feature.", text: "Add *x*₁*x*₂, the product of the coordinates, and XOR is its sign." };
      return atEnd(state) && run.trace.status === "converged"
        ? { title: "With *x*₁*x*₂ a plane separates them.", text: "The four points are lifted to the corners of a tetrahedron, and a plane can separate any labelling of those: all 16." }
        : statusWords(run);
    }, { set: { lift: "product" }, controls: "lift" }),
    chapter("break", "end", (state) => ({ title: "Now break it: flip labels, and switch the third feature on and off.", text: state.runs[0].verdict.kind === "separable" ? "This labelling is separable." : "No line in the plane separates this labelling." }), { set: { lift: "none" }, controls: "lift" }),
    chapter("challenge", "end", (state) => XOR.challenge(state), { set: { lift: "none" } }),
  ],
  challenge: (state) => {
    const title = "Challenge: place four points so that a line can separate fewer than 14 labellings.";
    if (state.points.n !== 4) return { won: false, title, text: `There are ${num(state.points.n)} points: four are needed.` };
    const count = possible(state);
    if (count < 14) return { won: true, title: `Done: only ${num(count)} of 16.`, text: "Three points on a line cannot have the middle one differ from both others. In general position it is always 14." };
    return { won: false, title, text: `Now it is ${num(count)}. Which positions are special?` };
  },
};
