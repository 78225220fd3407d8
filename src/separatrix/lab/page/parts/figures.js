/**
 * Which figures stand beside the stage: what the story needs, and what the learner shows.
 */

import { weightAxes } from "../views/weights.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {"bound"|"weights"|"losses"|"likelihood"|"lifted"|"orders"|"labellings"|"kernel"|"compare"|"status"} FigureId */

/**
 * The figures, the most important first.
 * @param {Store} store
 * @returns {FigureId[]}
 */
export function figuresFor(store) {
  const { state, run } = store;
  if (!run) return [];
  const wanted = state.story?.evidence, { learner } = run;
  /** @type {FigureId[]} */
  const out = [];
  if (state.learners.length > 1) out.push("compare");
  if (wanted === "orders" || wanted === "labellings") out.push(wanted);
  if (learner.kind === "kernel") out.push("kernel");
  else if (learner.kind === "perceptron" && wanted !== "losses") out.push("bound");
  else if (learner.kind === "logistic" && state.learners.length === 1) out.push("likelihood");
  if (learner.lift !== "none" && learner.kind !== "kernel") out.push("lifted");
  const descends = learner.kind === "lms" || learner.kind === "svm" || learner.kind === "logistic" || learner.kind === "zero-one" || learner.kind === "margin";
  if (wanted === "losses" || (descends && out.length < 2)) out.push("losses");
  if (out.length < 2 && weightAxes(run)) out.push("weights");
  if (!out.length) out.push("status");
  return wanted === "bound" || out.length < 3 ? out : out.slice(0, 2);
}
