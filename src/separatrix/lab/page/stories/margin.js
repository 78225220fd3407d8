/** Margin: halve γ and the bound grows about fourfold. */

import { defaults } from "../core/learners.js";
import { statusWords, stepWords } from "../words/sentence.js";
import { num } from "../words/number.js";
import { atEnd, chapter, fixed } from "./chapters.js";
import { mistakeBound } from "../core/derive.js";
import { makePoints } from "../core/points.js";

/** @typedef {import("../core/types.js").Story} Story */

const OFFSETS = [
  [0, 3],
  [0, -3],
  [0.4, 1.5],
  [1.2, -1],
  [2, 0.5],
  [0.6, -2],
];

/**
 * Return twelve points of margin γ through the origin, the classes in turn: the − class has the offsets along x shifted by two places and
 * those along y by three, so that it is not a mirror image.
 * @param {number} gamma
 * @returns {[number, number, number][]}
 */
function atMargin(gamma) {
  const round = (/** @type {number} */ x) => Math.round(x * 1000) / 1000 + 0;
  return OFFSETS.flatMap(([a, b], k) => [
    [round(gamma + a), b, 1],
    [round(-gamma - OFFSETS[(k + 2) % 6][0]), OFFSETS[(k + 3) % 6][1], -1],
  ]);
}

const LEARNER = defaults("perceptron", { intercept: false });

/** @type {Story} */
export const MARGIN = {
  id: "margin",
  name: "Margin",
  points: atMargin(1),
  learners: [LEARNER],
  evidence: "bound",
  atMargin,
  question: {
    ask: "Halve the margin *γ*: by what factor does the bound grow?",
    choices: [
      { id: "two", label: "about 2", reply: "Noted. Set *γ* to 0.5 and compare." },
      { id: "four", label: "about 4", reply: "Noted. Set *γ* to 0.5 and compare." },
      { id: "eight", label: "about 8", reply: "Noted. Set *γ* to 0.5 and compare." },
    ],
    truth: "four",
  },
  chapters: [
    chapter("predict", "start", fixed("Halve the margin *γ*: by what factor does the bound grow?", "The gap between the classes is 2*γ* wide. Guess first, then close it step by step."), { controls: "gamma" }),
    chapter("watch", "end", (state) => {
      const { bound, trace } = state.runs[0];
      if (!atEnd(state)) return stepWords(state.runs[0], state.tick);
      if (!bound.exists) return statusWords(state.runs[0]);
      return { title: `At *γ* = ${num(bound.gamma)}: ${num(trace.updates)} mistakes under a bound of [=${num(bound.most)}].`, text: "Choose a smaller margin. The bound follows 1/*γ*²; the mistakes follow more slowly." };
    }, { controls: "gamma" }),
    chapter("why", "end", (state) => {
      const { bound } = state.runs[0];
      return { title: "Why fourfold? The parabola opens as *γ*².", text: `The bound is (*R*/*γ*)² = (${num(bound.R)}/${num(bound.gamma)})². *R* hardly changes, so halving *γ* quarters the parabola, and it meets the line about four times as late.` };
    }, { controls: "gamma", proof: true }),
    chapter("break", "end", (state) => {
      const { verdict } = state.runs[0];
      if (verdict.kind === "separable") return { title: "Now break it: close the gap completely.", text: "Drag a blue point towards the orange ones, through the origin's line." };
      return { title: "Closed: without a margin there is no bound.", text: "The bound grew as 1/*γ*²; at *γ* = 0 there is none." };
    }, { controls: "gamma" }),
    chapter("challenge", "end", (state) => MARGIN.challenge(state)),
  ],
  challenge: (state) => {
    const base = mistakeBound(makePoints(atMargin(1)), LEARNER);
    const { bound } = state.runs[0];
    const same = Math.abs(bound.gamma - 1) <= 1e-9;
    if (same && bound.ratio >= 2 * base.ratio) return { won: true, title: `Done: the bound rose from ${num(base.most)} to [=${num(bound.most)}], and *γ* is still 1.`, text: `You made *R* = ${num(bound.R)}. Far points cost as much as a narrow margin: that is why columns are scaled first.` };
    const text = same ? `Now (*R*/*γ*)² = ${num(bound.ratio)}. What else is in the formula?` : `*γ* is ${num(bound.gamma)} now: put the margin back to 1.`;
    return { won: false, title: "Challenge: double the bound of *γ* = 1 without touching *γ*.", text };
  },
};
