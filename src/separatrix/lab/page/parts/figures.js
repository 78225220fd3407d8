/**
 * The figures beside the stage: those that the story needs, and those of the learner.
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
  const one = state.learners.length === 1, lifted = learner.lift !== "none" && learner.kind !== "kernel";
  /** @type {FigureId[]} */
  const out = [];
  if (!one) out.push("compare");
  if (wanted === "orders" || wanted === "labellings") out.push(wanted);
  if (lifted) out.push("lifted");
  if (learner.kind === "kernel") out.push("kernel");
  if (learner.kind === "perceptron" && wanted !== "losses") out.push("bound");
  if (learner.kind === "logistic" && one) out.push("likelihood");
  if (wanted === "losses" || (wanted !== "likelihood" && descends(learner.kind))) out.push("losses");
  if (weightAxes(run)) out.push("weights");
  if (!out.length) return ["status"];
  const beside = !lifted && store.runs.some((other) => other.learner.lift !== "none" && other.learner.kind !== "kernel");
  return beside ? [...out.slice(0, 2), "lifted"] : out.slice(0, 2);
}

/**
 * Whether a learner pays a loss of the margin.
 * @param {import("../core/types.js").Kind} kind
 * @returns {boolean}
 */
function descends(kind) {
  return kind === "lms" || kind === "svm" || kind === "logistic" || kind === "zero-one" || kind === "margin" || kind === "halfspace";
}
