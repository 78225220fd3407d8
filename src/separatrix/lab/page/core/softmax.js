/**
 * Softmax of up to three classes: P(k | x) ∝ exp(w_k·x), by gradient descent or Newton's method on the mean log-loss.
 *
 * Classes are −, + and the third, those present; weights are three blocks, each with its intercept first. The loss
 * depends on differences of scores only, so steps sum to 0 over the classes.
 */

import { gram, eigen, solveSemidefinite } from "./symmetric.js";
import { grow, growDoubles, newTrace } from "./trace.js";

/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./types.js").Learner} Learner */
/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("./types.js").Verdict} Verdict */
/** @typedef {import("./types.js").Status} Status */

const CLASSES = 3;
const SUFFICIENT = 1e-4;
const SHORTEST = 2 ** -40;

/** Return which classes of −, + and the third are there. @param {Points} points */
export function presentClasses(points) {
  const present = new Float64Array(CLASSES);
  for (let i = 0; i < points.n; i++) present[codeOf(points.label[i])] = 1;
  return present;
}

/** @param {number} label */
function codeOf(label) {
  return label === -1 ? 0 : label;
}

export class SoftmaxRun {
  /** @param {Points} points @param {Features} features @param {Learner} learner @param {Verdict} verdict */
  constructor(points, features, learner, verdict) {
    this.features = features;
    this.learner = learner;
    this.verdict = verdict;
    this.virtual = learner.intercept ? 1 : 0;
    this.d = features.p + this.virtual;
    this.codes = Int8Array.from(points.label, codeOf);
    this.present = presentClasses(points);
    this.w = new Float64Array(CLASSES * this.d);
    this.gradient = new Float64Array(CLASSES * this.d);
    this.chances = new Float64Array(features.n * CLASSES);
    this.row = new Float64Array(this.d);
    this.trace = newTrace("softmax", learner.intercept, CLASSES * this.d, features.n, false);
    this.trace.objective = new Float64Array(64);
    this.trace.gradientNorm = new Float64Array(64);
    this.rate = learner.rate;
    if (!features.n) this.finish("empty");
    else if (!this.rate) {
      const values = eigen(gram(features, this.virtual, () => 1, features.n)).values;
      this.rate = 1 / (0.5 * values[values.length - 1] + learner.strength || 1);
    }
    if (features.n) this.record(0);
  }

  /** @param {number} i */
  fill(i) {
    const { p, values } = this.features;
    if (this.virtual) this.row[0] = 1;
    for (let j = 0; j < p; j++) this.row[this.virtual + j] = values[i * p + j];
    return this.row;
  }

  /** Return the mean loss at some weights, and write its gradient and the probabilities. @param {Float64Array} w */
  expand(w) {
    const { d, gradient, chances, codes, present, learner, virtual } = this;
    const { n } = this.features;
    gradient.fill(0);
    let sum = 0;
    const eta = new Float64Array(CLASSES);
    for (let i = 0; i < n; i++) {
      const x = this.fill(i);
      let most = -Infinity;
      for (let k = 0; k < CLASSES; k++) {
        eta[k] = present[k] ? 0 : -Infinity;
        for (let j = 0; j < d && present[k]; j++) eta[k] += w[k * d + j] * x[j];
        most = Math.max(most, eta[k]);
      }
      let whole = 0;
      for (let k = 0; k < CLASSES; k++) whole += Math.exp(eta[k] - most);
      sum += Math.log(whole) + most - eta[codes[i]];
      for (let k = 0; k < CLASSES; k++) {
        const chance = Math.exp(eta[k] - most) / whole;
        chances[i * CLASSES + k] = chance;
        const slope = chance - (codes[i] === k ? 1 : 0);
        for (let j = 0; j < d; j++) gradient[k * d + j] += slope * x[j];
      }
    }
    let penalty = 0;
    for (let k = 0; k < w.length; k++) {
      gradient[k] /= n;
      if (k % d >= virtual && learner.strength) {
        gradient[k] += learner.strength * w[k];
        penalty += w[k] * w[k];
      }
    }
    return sum / n + (learner.strength * penalty) / 2;
  }

  /** @param {number} version */
  record(version) {
    const { trace, w, gradient } = this;
    const p = w.length;
    trace.weights = growDoubles(trace.weights, (version + 1) * p);
    trace.squaredNorm = growDoubles(trace.squaredNorm, version + 1);
    trace.objective = growDoubles(/** @type {Float64Array} */ (trace.objective), version + 1);
    trace.gradientNorm = growDoubles(/** @type {Float64Array} */ (trace.gradientNorm), version + 1);
    trace.objective[version] = this.expand(w);
    let [square, slope] = [0, 0];
    for (let j = 0; j < p; j++) {
      trace.weights[version * p + j] = w[j];
      square += w[j] * w[j];
      slope += gradient[j] * gradient[j];
    }
    trace.squaredNorm[version] = square;
    trace.gradientNorm[version] = Math.sqrt(slope);
    trace.updates = version;
  }

  tick() {
    const { trace } = this;
    const k = trace.length;
    if (k >= trace.row.length) grow(trace, k + 1);
    trace.row[k] = -1;
    trace.score[k] = NaN;
    trace.length = k + 1;
    trace.version[k] = trace.updates + 1;
    trace.updateTick[trace.updates] = k + 1;
    this.record(trace.updates + 1);
  }

  /** @param {Status} status */
  finish(status) {
    this.trace.status = status;
    this.trace.done = true;
    this.trace.kept = this.w.slice();
  }

  /** @param {number} visits */
  advance(visits) {
    const { trace, learner, features } = this;
    const until = trace.length + Math.max(1, Math.ceil(visits / (6 * Math.max(1, features.n))));
    while (!trace.done && trace.length < until) {
      const slope = /** @type {Float64Array} */ (trace.gradientNorm)[trace.updates];
      if (slope <= 1e-14) this.finish("converged");
      else if (!Number.isFinite(slope)) this.finish("diverged");
      else if (trace.length >= learner.maxSteps) this.finish("max steps");
      else if (learner.update === "newton") this.newtonStep();
      else {
        for (let j = 0; j < this.w.length; j++) this.w[j] -= this.rate * this.gradient[j];
        this.tick();
      }
    }
    return trace.done;
  }

  /** Make a step sum to 0 over the classes, which changes no difference of scores. @param {number[]} step */
  centred(step) {
    const { d, present } = this;
    const classes = present.reduce((sum, here) => sum + here, 0);
    for (let j = 0; j < d; j++) {
      let mean = 0;
      for (let k = 0; k < CLASSES; k++) if (present[k]) mean += step[k * d + j] / classes;
      for (let k = 0; k < CLASSES; k++) if (present[k]) step[k * d + j] -= mean;
    }
    return step;
  }

  newtonStep() {
    const { trace, w, chances, features, d, learner, virtual } = this;
    const value = /** @type {Float64Array} */ (trace.objective)[trace.updates];
    const size = CLASSES * d;
    const hessian = Array.from({ length: size }, () => new Array(size).fill(0));
    for (let a = 0; a < CLASSES; a++) {
      for (let b = 0; b <= a; b++) {
        const block = gram(features, virtual, (i) => chances[i * CLASSES + a] * ((a === b ? 1 : 0) - chances[i * CLASSES + b]), features.n);
        for (let j = 0; j < d; j++) for (let k = 0; k < d; k++) hessian[a * d + j][b * d + k] = hessian[b * d + k][a * d + j] = block[j][k];
      }
    }
    for (let k = 0; k < size; k++) if (k % d >= virtual) hessian[k][k] += learner.strength;
    const gradient = Array.from(this.gradient);
    const direction = this.centred(solveSemidefinite(hessian, gradient).map((change) => -change));
    const slope = gradient.reduce((sum, each, k) => sum + each * direction[k], 0);
    const before = w.slice();
    for (let length = 1; length >= SHORTEST && slope < 0; length /= 2) {
      for (let k = 0; k < size; k++) w[k] = before[k] + length * direction[k];
      if (this.expand(w) <= value + SUFFICIENT * length * slope + 8 * 2 ** -52 * Math.abs(value)) return this.tick();
    }
    w.set(before);
    this.expand(w);
    return this.finish("converged");
  }
}
