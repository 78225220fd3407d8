/**
 * The perceptron in its dual form: a mistake on row i adds 1 to αᵢ, and the score of x is Σ αⱼ yⱼ k(x, xⱼ).
 *
 * The scores of all rows are kept and brought up to date at each mistake by one row of the kernel matrix, in the order
 * of the library's. With an intercept 1 is added to the kernel. Cost: O(1) per visit, O(n) per mistake.
 */

import { kernelValue } from "./kernels.js";
import { makeOrder } from "./order.js";
import { isMistake, tieCode } from "./perceptron.js";
import { grow, newTrace } from "./trace.js";

/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./types.js").Learner} Learner */
/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("./types.js").Status} Status */

export class KernelRun {
  /** @param {Points} points @param {Features} features @param {Learner} learner */
  constructor(points, features, learner) {
    this.points = points;
    this.signs = features.signs;
    this.learner = learner;
    this.tie = tieCode(learner);
    this.scores = new Float64Array(points.n);
    this.order = makeOrder(learner, points.n);
    this.streak = 0;
    this.trace = newTrace("kernel", learner.intercept, 0, points.n, true);
    this.trace.alpha = new Int32Array(points.n);
    if (!points.n) this.finish("empty");
  }

  /** @param {number} visits */
  advance(visits) {
    const { trace, points, learner, signs } = this;
    const until = trace.length + visits;
    let work = 0;
    while (!trace.done && trace.length < until && work < visits) {
      const i = this.order.row(trace.length);
      if (i < 0) {
        this.finish("max steps");
        break;
      }
      const score = this.scores[i];
      const wrong = isMistake(score, signs[i], this.tie, learner.margin);
      this.tick(i, score, wrong);
      if (wrong) {
        this.streak = 0;
        this.remember(i);
        work += points.n;
      } else this.streak++;
      if (this.streak >= points.n) {
        if (learner.order === "cyclic" || this.allRight()) this.finish("converged");
        else this.streak = 0;
      }
      if (!trace.done && trace.updates >= learner.maxUpdates) this.finish("max updates");
    }
    return trace.done;
  }

  /** @param {number} i */
  remember(i) {
    const { points, scores, learner, signs, trace } = this;
    const factor = learner.rate * signs[i];
    const constant = learner.intercept ? 1 : 0;
    /** @type {Int32Array} */ (trace.alpha)[i]++;
    for (let j = 0; j < points.n; j++) {
      scores[j] += factor * (kernelValue(learner, points.x1[i], points.x2[i], points.x1[j], points.x2[j]) + constant);
    }
  }

  allRight() {
    for (let i = 0; i < this.points.n; i++) if (isMistake(this.scores[i], this.signs[i], this.tie, this.learner.margin)) return false;
    return true;
  }

  /** @param {number} row @param {number} score @param {boolean} wrong */
  tick(row, score, wrong) {
    const { trace } = this;
    const k = trace.length;
    if (k >= trace.row.length) grow(trace, k + 1);
    trace.row[k] = row;
    trace.score[k] = score;
    trace.wrong[k] = wrong ? 1 : 0;
    if (wrong) trace.updateTick[trace.updates++] = k + 1;
    trace.version[k] = trace.updates;
    trace.length = k + 1;
  }

  /** @param {Status} status */
  finish(status) {
    this.trace.status = status;
    this.trace.done = true;
  }
}
