/** The run of each kind of learner. */

import { halfspaceRun, marginRun, zeroOneRun } from "./answers.js";
import { descentRun } from "./descent.js";
import { KernelRun } from "./kernel_perceptron.js";
import { perceptronRun } from "./perceptron.js";
import { SoftmaxRun } from "./softmax.js";
import { SvmRun } from "./svm.js";

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
    case "lms":
    case "logistic":
      return descentRun(features, learner, verdict);
    case "softmax":
      return new SoftmaxRun(points, features, learner, verdict);
    case "svm":
      return new SvmRun(features, learner);
    case "halfspace":
      return halfspaceRun(points, features, learner, verdict);
    case "margin":
      return learner.lift === "none" || verdict.kind !== "separable" ? marginRun(features, learner, verdict) : new SvmRun(features, learner, Infinity);
    case "kernel":
      return new KernelRun(points, features, learner);
    case "zero-one":
      return zeroOneRun(points, features, learner);
    default:
      return perceptronRun(features, learner);
  }
}
