/**
 * Losses of a score η for a label y = ±1, with slope and curvature in η; as functions of the margin m = y·η.
 *
 * The expressions are the library's, so that batch steps agree to the last bit where no exponential enters.
 */

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
