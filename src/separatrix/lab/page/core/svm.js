/**
 * Support vector machine and widest margin: pairs of multipliers moved to where the dual is largest (SMO).
 *
 *     primal  ½‖w‖² + C Σ loss(yᵢ(w·xᵢ + b))          dual  Σ αᵢ − ½‖Σ αᵢ yᵢ xᵢ‖² (− Σ αᵢ²/4C, squared hinge)
 *
 * with 0 ≤ αᵢ ≤ C (hinge) and, with an intercept, Σ αᵢ yᵢ = 0. Each tick moves many pairs, the most violating first; the
 * difference of primal and dual is the optimality gap. C = ∞ is the widest margin. Cost: O(n) per pair.
 */

import { grow, growDoubles, newTrace } from "./trace.js";

/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./types.js").Learner} Learner */
/** @typedef {import("./types.js").Status} Status */

const RELATIVE_GAP = 1e-11;
const PAIRS = 40;
const STALLED = 400;

export class SvmRun {
  /** @param {Features} features @param {Learner} learner @param {number} [price] C; Infinity for the widest margin */
  constructor(features, learner, price = learner.C) {
    this.features = features;
    this.learner = learner;
    this.virtual = learner.intercept ? 1 : 0;
    this.squared = learner.kind === "svm" && learner.loss === "squared_hinge";
    this.C = price;
    this.high = this.squared ? Infinity : price;
    this.ridge = this.squared ? 1 / (2 * price) : 0;
    const { n, p } = features;
    this.alpha = new Float64Array(n);
    this.v = new Float64Array(p);
    this.b = 0;
    this.squares = new Float64Array(n);
    for (let i = 0; i < n; i++) for (let j = 0; j < p; j++) this.squares[i] += features.values[i * p + j] ** 2;
    this.scores = new Float64Array(n);
    this.best = Infinity;
    this.bestWeights = new Float64Array(p + this.virtual);
    this.upper = -Infinity;
    this.idle = 0;
    this.trace = newTrace(learner.kind, learner.intercept, p + this.virtual, n, false);
    this.trace.objective = new Float64Array(64);
    if (!n) this.finish("empty");
    else this.record(0);
  }

  /** Return the objective at v and the best b, and write b. */
  primal() {
    const { features, scores, v } = this;
    const { n, p, signs, values } = features;
    for (let i = 0; i < n; i++) {
      let sum = 0;
      for (let j = 0, k = i * p; j < p; j++, k++) sum += values[k] * v[j];
      scores[i] = sum;
    }
    if (this.virtual) this.b = this.bestIntercept();
    let loss = 0;
    for (let i = 0; i < n; i++) {
      const short = Math.max(0, 1 - signs[i] * (scores[i] + this.b));
      loss += this.squared ? short * short : short;
    }
    let square = 0;
    for (let j = 0; j < p; j++) square += v[j] * v[j];
    return square / 2 + this.C * loss;
  }

  /** Return the b at which the sum of losses is least. */
  bestIntercept() {
    const { signs } = this.features;
    const kinks = Float64Array.from(this.scores, (score, i) => signs[i] - score).sort();
    if (!this.squared) {
      let first = 0;
      let last = kinks.length - 1;
      while (first < last) {
        const middle = (first + last) >> 1;
        if (this.slope((kinks[middle] + kinks[Math.min(middle + 1, kinks.length - 1)]) / 2) >= 0) last = middle;
        else first = middle + 1;
      }
      let end = first;
      while (end + 1 < kinks.length && this.slope((kinks[end] + kinks[end + 1]) / 2) === 0) end++;
      return (kinks[first] + kinks[end]) / 2;
    }
    let [low, high] = [kinks[0], kinks[kinks.length - 1]];
    for (let k = 0; k < 200 && high - low > 1e-16 * (Math.abs(low) + Math.abs(high)); k++) {
      const middle = (low + high) / 2;
      if (this.slope(middle) > 0) high = middle;
      else low = middle;
    }
    return (low + high) / 2;
  }

  /** Return the slope of the sum of losses in b. @param {number} b */
  slope(b) {
    const { signs, n } = this.features;
    let sum = 0;
    for (let i = 0; i < n; i++) {
      const short = 1 - signs[i] * (this.scores[i] + b);
      if (short > 0) sum -= this.squared ? 2 * short * signs[i] : signs[i];
    }
    return sum;
  }

  dual() {
    let sum = 0;
    let square = 0;
    for (let i = 0; i < this.alpha.length; i++) sum += this.alpha[i] - (this.ridge * this.alpha[i] * this.alpha[i]) / 2;
    for (let j = 0; j < this.v.length; j++) square += this.v[j] * this.v[j];
    return sum - square / 2;
  }

  /** @param {number} version */
  record(version) {
    const { trace, virtual, features } = this;
    const p = features.p + virtual;
    const hard = this.C === Infinity;
    const value = hard ? this.hardPrimal() : this.primal();
    const lower = this.dual();
    this.upper = Math.max(this.upper, lower);
    if (value < this.best) {
      this.best = value;
      if (virtual) this.bestWeights[0] = hard ? this.hard.b : this.b;
      for (let j = 0; j < features.p; j++) this.bestWeights[virtual + j] = hard ? this.v[j] * this.hard.scale : this.v[j];
      this.idle = 0;
    } else this.idle++;
    trace.weights = growDoubles(trace.weights, (version + 1) * p);
    trace.squaredNorm = growDoubles(trace.squaredNorm, version + 1);
    trace.objective = growDoubles(/** @type {Float64Array} */ (trace.objective), version + 1);
    let square = 0;
    for (let j = 0; j < p; j++) {
      trace.weights[version * p + j] = version === 0 ? 0 : this.bestWeights[j];
      square += trace.weights[version * p + j] ** 2;
    }
    trace.squaredNorm[version] = square;
    trace.objective[version] = this.best;
    trace.updates = version;
    trace.gap = { gap: Math.max(0, this.best - this.upper), upper: this.best, lower: this.upper };
  }

  hard = { b: 0, scale: 1 };

  /** Return ½‖w‖² of v scaled so that every row reaches 1; Infinity if it separates nothing. */
  hardPrimal() {
    const { features, v, virtual } = this;
    const { n, p, signs, values } = features;
    let [low, high] = [Infinity, -Infinity];
    let square = 0;
    for (let j = 0; j < p; j++) square += v[j] * v[j];
    for (let i = 0; i < n; i++) {
      let sum = 0;
      for (let j = 0, k = i * p; j < p; j++, k++) sum += values[k] * v[j];
      if (!virtual) low = Math.min(low, signs[i] * sum);
      else if (signs[i] > 0) low = Math.min(low, sum);
      else high = Math.max(high, sum);
    }
    const reach = virtual ? (low - high) / 2 : low;
    if (!(reach > 0) || !Number.isFinite(reach)) return Infinity;
    this.hard = { b: virtual ? -(low + high) / (2 * reach) : 0, scale: 1 / reach };
    return square / (2 * reach * reach);
  }

  /** @param {number} visits */
  advance(visits) {
    const { trace, learner, features } = this;
    let work = 0;
    while (!trace.done && work < visits) {
      const moved = this.movePairs();
      const k = trace.length;
      if (k >= trace.row.length) grow(trace, k + 1);
      trace.row[k] = -1;
      trace.score[k] = NaN;
      trace.version[k] = trace.updates + 1;
      trace.updateTick[trace.updates] = k + 1;
      trace.length = k + 1;
      this.record(trace.updates + 1);
      work += PAIRS * features.n;
      const gap = /** @type {{gap: number}} */ (trace.gap).gap;
      if (gap <= RELATIVE_GAP * Math.abs(this.best) || !moved || this.idle > STALLED) this.finish("optimal");
      else if (trace.length >= Math.max(learner.maxSteps, 2000)) this.finish("max steps");
    }
    return trace.done;
  }

  /** Move the most violating pairs; return whether any moved. */
  movePairs() {
    let moved = false;
    for (let k = 0; k < PAIRS; k++) {
      if (!(this.virtual ? this.movePair() : this.moveOne())) break;
      moved = true;
    }
    return moved;
  }

  /** Return the slope of the dual in yᵢ αᵢ. @param {number} i */
  slopeOf(i) {
    const { p, values, signs } = this.features;
    let sum = 0;
    for (let j = 0, k = i * p; j < p; j++, k++) sum += values[k] * this.v[j];
    return signs[i] - sum - this.ridge * this.alpha[i] * signs[i];
  }

  movePair() {
    const { features, alpha, high } = this;
    const { n, signs, p, values } = features;
    let [up, down, most, least] = [-1, -1, -Infinity, Infinity];
    const slopes = this.scores;
    for (let i = 0; i < n; i++) {
      const slope = (slopes[i] = this.slopeOf(i));
      const canGrow = signs[i] > 0 ? alpha[i] < high : alpha[i] > 0;
      if (canGrow && slope > most) [up, most] = [i, slope];
    }
    let gain = 0;
    for (let i = 0; i < n && up >= 0; i++) {
      const canShrink = signs[i] > 0 ? alpha[i] > 0 : alpha[i] < high;
      const difference = most - slopes[i];
      if (!canShrink || !(difference > 0)) continue;
      const value = (difference * difference) / this.curvature(up, i);
      if (value > gain) [down, gain, least] = [i, value, slopes[i]];
    }
    if (up < 0 || down < 0 || !(most - least > 1e-15 * (1 + Math.abs(most)))) return false;
    const roomUp = signs[up] > 0 ? high - alpha[up] : alpha[up];
    const roomDown = signs[down] > 0 ? alpha[down] : high - alpha[down];
    const move = Math.min(roomUp, roomDown, (most - least) / this.curvature(up, down));
    if (!(move > 0)) return false;
    alpha[up] = move >= roomUp ? (signs[up] > 0 ? high : 0) : alpha[up] + signs[up] * move;
    alpha[down] = move >= roomDown ? (signs[down] > 0 ? 0 : high) : alpha[down] - signs[down] * move;
    for (let j = 0; j < p; j++) this.v[j] += move * (values[up * p + j] - values[down * p + j]);
    return true;
  }

  /** @param {number} i @param {number} k */
  curvature(i, k) {
    const { p, values } = this.features;
    let sum = 2 * this.ridge;
    for (let j = 0; j < p; j++) sum += (values[i * p + j] - values[k * p + j]) ** 2;
    return Math.max(sum, 1e-12 * (this.squares[i] + this.squares[k]) || 1e-12);
  }

  /** Without an intercept one multiplier can move alone. */
  moveOne() {
    const { features, alpha, high } = this;
    const { n, signs, p, values } = features;
    let [chosen, gain, move] = [-1, 0, 0];
    for (let i = 0; i < n; i++) {
      const slope = signs[i] * this.slopeOf(i);
      const step = Math.min(high - alpha[i], Math.max(-alpha[i], slope / Math.max(this.squares[i] + this.ridge, 1e-300)));
      const value = step * slope;
      if (value > gain) [chosen, gain, move] = [i, value, step];
    }
    if (chosen < 0 || !(gain > 1e-30)) return false;
    alpha[chosen] += move;
    for (let j = 0; j < p; j++) this.v[j] += move * signs[chosen] * values[chosen * p + j];
    return true;
  }

  /** @param {Status} status */
  finish(status) {
    this.trace.status = status;
    this.trace.done = true;
    this.trace.kept = this.bestWeights.slice();
  }
}
