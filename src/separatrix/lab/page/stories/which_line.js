/** Which line? The order of the visits decides between two of them. */

import { defaults } from "../core/learners.js";
import { allOrders } from "../core/orders.js";
import { counted, num, vec } from "../words/number.js";
import { statusWords, stepWords } from "../words/sentence.js";
import { atEnd, chapter, fixed, sameRows } from "./chapters.js";

/** @typedef {import("../core/types.js").Story} Story */
/** @typedef {import("../core/types.js").StoryState} StoryState */

/** @type {[number, number, number][]} */
const POINTS = [
  [1, 4, 1],
  [1, -2, 1],
  [-1, -3, -1],
  [-1, 2, -1],
  [-2, 0, -1],
];

/** Return how often each number of mistakes occurs, in words. @param {StoryState} state */
function tally(state) {
  const all = allOrders(state.points, state.runs[0].learner);
  if (!all) return "There are too many orders to try them all.";
  const parts = [...all.counts].map(([mistakes, orders]) => `${num(orders)} make ${counted(mistakes, "mistake")}`);
  return `Of ${num(all.orders.length)} orders ${parts.join(", ")}, and they end at ${counted(all.lines, "line")}.`;
}

/** @type {Story} */
export const WHICH_LINE = {
  id: "which-line",
  name: "Which line?",
  points: POINTS,
  learners: [defaults("perceptron", { intercept: false })],
  evidence: "orders",
  question: {
    ask: "Five points can be visited in 120 orders. At how many different lines do they end?",
    choices: [
      { id: "one", label: "1", reply: "Noted. Then the order would not matter at all." },
      { id: "two", label: "2", reply: "Noted." },
      { id: "twelve", label: "about 12", reply: "Noted." },
      { id: "all", label: "all 120", reply: "Noted. Infinitely many lines separate them, so why not?" },
    ],
    truth: "two",
  },
  chapters: [
    chapter("predict", "start", fixed("Five points can be visited in 120 orders. At how many different lines do they end?", "Many lines separate these points, and the perceptron takes the first that it finds. What is your guess?")),
    chapter("watch", "end", (state) => {
      if (!atEnd(state)) return stepWords(state.runs[0], state.tick);
      const { trace } = state.runs[0];
      return { title: `This order: ${counted(trace.updates, "mistake")}, and *w* = ${vec(trace.kept)}.`, text: tally(state) };
    }, { controls: "order" }),
    chapter("why", "end", (state) => {
      const status = statusWords(state.runs[0]);
      if (state.runs[0].verdict.kind !== "separable") return status;
      return { title: "Why so few lines? *w* is always a sum of points.", text: "Each mistake adds a point or subtracts one, so only sums of points can come out. Starting with orange 5, the first mistake gives (2, 0), and that is already right everywhere." };
    }, { controls: "order" }),
    chapter("break", "end", (state) => {
      const all = allOrders(state.points, state.runs[0].learner);
      return { title: all ? `Now break it: move a point until more than ${counted(all.lines, "line")} can come out.` : "Now break it: move a point.", text: tally(state) };
    }, { controls: "order" }),
    chapter("challenge", "end", (state) => WHICH_LINE.challenge(state), { controls: "order", points: POINTS }),
  ],
  challenge: (state) => {
    const { trace } = state.runs[0];
    if (!sameRows(state, POINTS)) return { won: false, title: "Challenge: find an order that makes one mistake.", text: "The points have changed: undo until they are the five of the story, in any order." };
    if (trace.updates === 1) return { won: true, title: "Done: one mistake is enough.", text: "40 of the 120 orders make only one. All 24 that begin with the orange point on the left are among them." };
    return { won: false, title: "Challenge: find an order that makes one mistake.", text: `This one makes ${counted(trace.updates, "mistake")}. Which point, added alone, gives a good line?` };
  },
};
