/** The run of each kind of learner. */

import { perceptronRun } from "./perceptron.js";

/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./types.js").Learner} Learner */
/** @typedef {import("./types.js").Verdict} Verdict */
/** @typedef {import("./types.js").Trace} Trace */

/**
 * @param {Points} points @param {Features} features @param {Learner} learner @param {Verdict} verdict
 * @returns {{trace: Trace, advance: (visits: number) => boolean}}
 */
export function startRun(points, features, learner, verdict) {
  switch (learner.kind) {
    default:
      return perceptronRun(features, learner);
  }
}
