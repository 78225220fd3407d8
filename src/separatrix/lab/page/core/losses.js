/**
 * Losses of a score η for a label y = ±1, with slope and curvature in η; as functions of the margin m = y·η.
 *
 * The expressions are the library's, so that batch steps agree to the last bit where no exponential enters.
 */

import { modelAt } from "./derive.js";
import { score } from "./model.js";

/** @typedef {import("./types.js").Derivation} Derivation */
/** @typedef {import("./types.js").Model} Model */

/** @typedef {{id: string, name: string, value: (margin: number) => number, slope: (margin: number) => number}} Loss */

/** @type {Loss[]} */
export const LOSSES = [
  { id: "zero-one", name: "0–1", value: (m) => (m > 0 ? 0 : 1), slope: () => 0 },
  { id: "perceptron", name: "perceptron", value: (m) => Math.max(0, -m), slope: (m) => (m < 0 ? -1 : 0) },
  { id: "hinge", name: "hinge", value: (m) => Math.max(0, 1 - m), slope: (m) => (m < 1 ? -1 : 0) },
  { id: "squared_hinge", name: "squared hinge", value: (m) => Math.max(0, 1 - m) ** 2, slope: (m) => -2 * Math.max(0, 1 - m) },
  { id: "logistic", name: "logistic", value: logistic, slope: (m) => -1 / (1 + Math.exp(m)) },
  { id: "squared", name: "squared (LMS)", value: (m) => 0.5 * (1 - m) * (1 - m), slope: (m) => m - 1 },
];

/** Return log(1 + exp(−m)) without overflow. @param {number} m */
function logistic(m) {
  return Math.log1p(Math.exp(-Math.abs(m))) - Math.min(m, 0);
}

/**
 * Return the mean of each loss at a model, by id.
 * @param {Derivation} derivation @param {Model} [model]
 * @returns {Record<string, number>}
 */
export function totals(derivation, model = modelAt(derivation, derivation.trace.length)) {
  const { points } = derivation;
  /** @type {Record<string, number>} */
  const means = {};
  for (const loss of LOSSES) {
    let sum = 0;
    for (let i = 0; i < points.n; i++) sum += loss.value((points.label[i] === 1 ? 1 : -1) * score(model, points.x1[i], points.x2[i]));
    means[loss.id] = points.n ? sum / points.n : 0;
  }
  return means;
}
