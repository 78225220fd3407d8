/**
 * Descent of a mean loss: least mean squares and logistic regression, by batch, row by row, or Newton's method.
 *
 *     batch        w ← w − η ∇P,                     P(w) = mean loss(x·w, y) + ½ strength ‖w‖² (not of the intercept)
 *     row by row   w ← w − η_k slope(x·w, y) x,      η_k = η / (1 + decay·k), decay 0 or that of the inverse schedule
 *     Newton       w ← w − t H⁻¹ ∇P,                 t = 1, ½, ¼, … until P falls enough
 *
 * Batch and single steps of the squared loss are the library's to the last bit. Rate 0 takes half the largest rate that
 * converges: 1/L by batch, L the largest curvature; 1/R² (least mean squares) and 4/R² (logistic) row by row. Cost: one pass per
 * step; row by row, one read per visit, and one pass for the objective shown.
 */

import { makeOrder } from "./order.js";
import { startWeights } from "./perceptron.js";
import { pairwiseSum } from "./sums.js";
import { eigen, gram, solveSemidefinite } from "./symmetric.js";
import { grow, growDoubles, newTrace } from "./trace.js";

/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./types.js").Learner} Learner */
/** @typedef {import("./types.js").Verdict} Verdict */
/** @typedef {import("./types.js").Status} Status */

const DIVERGING = 1e12;
const FLAT = 1e-10;
const SUFFICIENT = 1e-4;
const SHORTEST = 2 ** -40;
const SMALLEST_SCALE = 2 ** -10;

/** @typedef {{bound: number, value: (eta: number, y: number) => number, slope: (eta: number, y: number) => number, curvature: (eta: number, y: number) => number}} RowLoss */

/** @type {RowLoss} */
const SQUARED = { bound: 1, value: (eta, y) => 0.5 * ((eta - y) * (eta - y)), slope: (eta, y) => eta - y, curvature: () => 1 };

/** @type {RowLoss} */
const LOGISTIC = {
  bound: 0.25,
  value: (eta, y) => {
    const margin = y * eta;
    return Math.log1p(Math.exp(-Math.abs(margin))) - Math.min(margin, 0);
  },
  slope: (eta, y) => {
    const margin = y * eta;
    const tail = Math.exp(-Math.abs(margin));
    return -y * ((margin > 0 ? tail : 1) / (1 + tail));
  },
  curvature: (eta, y) => {
    const tail = Math.exp(-Math.abs(y * eta));
    return tail / ((1 + tail) * (1 + tail));
  },
};

/** @param {Features} features @param {Learner} learner @param {Verdict} verdict */
export function descentRun(features, learner, verdict) {
  return learner.update === "stochastic" ? new StochasticRun(features, learner, verdict) : new BatchDescent(features, learner, verdict);
}

/**
 * Return the quantities that bound the rates: R² and, of the eigenvalues of XᵗX/n, the largest and the least that is not 0.
 * @param {Features} features @param {number} virtual
 */
function rateLimits(features, virtual) {
  const { values } = eigen(gram(features, virtual, () => 1 / features.n, 1));
  const largest = Math.max(values[values.length - 1], 0);
  const least = values.find((value) => value > 1e-12 * largest) ?? 0;
  let radius2 = 0;
  for (let i = 0; i < features.n; i++) {
    let square = virtual;
    for (let j = 0; j < features.p; j++) square += features.values[i * features.p + j] ** 2;
    radius2 = Math.max(radius2, square);
  }
  return { largest, least, radius2 };
}

class Descent {
  /** @param {Features} features @param {Learner} learner @param {Verdict} verdict @param {boolean} byRow */
  constructor(features, learner, verdict, byRow) {
    this.features = features;
    this.learner = learner;
    this.verdict = verdict;
    this.loss = learner.kind === "lms" ? SQUARED : LOGISTIC;
    this.virtual = learner.intercept ? 1 : 0;
    this.p = features.p + this.virtual;
    this.w = startWeights(learner, this.p);
    this.trace = newTrace(learner.kind, learner.intercept, this.p, features.n, byRow);
    this.trace.objective = new Float64Array(64);
    this.trace.gradientNorm = new Float64Array(64);
    this.slopes = new Float64Array(features.n);
    this.values = new Float64Array(features.n);
    this.gradient = new Float64Array(this.p);
    const limits = features.n ? rateLimits(features, this.virtual) : { largest: 1, least: 1, radius2: 1 };
    const steepest = (byRow ? limits.radius2 : limits.largest) * this.loss.bound + (byRow ? 0 : learner.strength);
    this.rate = learner.rate > 0 ? learner.rate : steepest > 0 ? 1 / steepest : 1;
    this.decay = learner.schedule === "inverse" ? learner.decay || this.rate * Math.max(limits.least * (learner.kind === "lms" ? 1 : 0), learner.strength) || 1 / features.n : 0;
    this.ceiling = Infinity;
    this.firstSlope = 0;
    if (!features.n) this.finish("empty");
    else this.record(0);
  }

  /** @param {number} i @param {Float64Array} w */
  score(i, w) {
    const { values, p } = this.features;
    const { virtual } = this;
    let total = 0;
    for (let j = 0, k = i * p; j < p; j++, k++) total += values[k] * w[j + virtual];
    return virtual ? total + w[0] : total;
  }

  /** Return P at some weights, and write its gradient. @param {Float64Array} w */
  expand(w) {
    const { features, loss, virtual, values, slopes, gradient, learner } = this;
    const { n, p, signs } = features;
    for (let i = 0; i < n; i++) {
      const eta = this.score(i, w);
      values[i] = loss.value(eta, signs[i]);
      slopes[i] = loss.slope(eta, signs[i]);
    }
    gradient.fill(0);
    if (virtual) gradient[0] = pairwiseSum(slopes);
    for (let i = 0; i < n; i++) for (let j = 0, k = i * p; j < p; j++, k++) gradient[j + virtual] += slopes[i] * features.values[k];
    let penalty = 0;
    for (let j = 0; j < this.p; j++) {
      gradient[j] /= n;
      if (j >= virtual && learner.strength) {
        gradient[j] += learner.strength * w[j];
        penalty += w[j] * w[j];
      }
    }
    return pairwiseSum(values) / n + (learner.strength * penalty) / 2;
  }

  /** Write the weights as the next version, with objective and slope there; return whether it is over. @param {number} version */
  record(version) {
    const { trace, w, p, gradient } = this;
    trace.weights = growDoubles(trace.weights, (version + 1) * p);
    trace.squaredNorm = growDoubles(trace.squaredNorm, version + 1);
    trace.objective = growDoubles(/** @type {Float64Array} */ (trace.objective), version + 1);
    trace.gradientNorm = growDoubles(/** @type {Float64Array} */ (trace.gradientNorm), version + 1);
    const value = this.expand(w);
    let square = 0;
    let slope = 0;
    for (let j = 0; j < p; j++) {
      trace.weights[version * p + j] = w[j];
      square += w[j] * w[j];
      slope += gradient[j] * gradient[j];
    }
    trace.squaredNorm[version] = square;
    trace.objective[version] = value;
    trace.gradientNorm[version] = Math.sqrt(slope);
    trace.updates = version;
    if (version === 0) {
      this.ceiling = DIVERGING * (Math.abs(value) + this.rate * slope);
      this.firstSlope = Math.sqrt(slope);
    }
    return Number.isFinite(value) && value <= this.ceiling;
  }

  /** @param {number} row @param {number} score */
  tick(row, score) {
    const { trace } = this;
    const k = trace.length;
    if (k >= trace.row.length) grow(trace, k + 1);
    trace.row[k] = row;
    trace.score[k] = score;
    trace.wrong[k] = row >= 0 && this.features.signs[row] * score <= 0 ? 1 : 0;
    trace.length = k + 1;
    trace.version[k] = trace.updates + 1;
    trace.updateTick[trace.updates] = k + 1;
    if (!this.record(trace.updates + 1)) this.finish("diverged");
  }

  /** @param {Status} status */
  finish(status) {
    this.trace.status = status;
    this.trace.done = true;
    this.trace.kept = this.w.slice();
  }

  /** Whether the likelihood is known to have no maximum. */
  get runsOff() {
    const known = this.verdict.kind !== "overlap" && this.verdict.kind !== "undecided";
    return this.learner.kind !== "lms" && !this.learner.strength && known;
  }

  /** End at the limit of steps. */
  stop() {
    this.finish(this.runsOff ? "runs off" : "max steps");
  }

  /** End where the slope is 0 to rounding. */
  end() {
    this.finish(this.runsOff ? "runs off" : "converged");
  }
}

class BatchDescent extends Descent {
  /** @param {Features} features @param {Learner} learner @param {Verdict} verdict */
  constructor(features, learner, verdict) {
    super(features, learner, verdict, false);
  }

  /** Continue for about `visits` visits; return whether the run is over. @param {number} visits */
  advance(visits) {
    const { trace, learner, features } = this;
    const until = trace.length + Math.max(1, Math.ceil(visits / (2 * Math.max(1, features.n))));
    while (!trace.done && trace.length < until) {
      if (this.isFlat()) this.end();
      else if (trace.length >= learner.maxSteps) this.stop();
      else if (learner.update === "newton") this.newtonStep();
      else this.gradientStep();
    }
    return trace.done;
  }

  isFlat() {
    const slope = /** @type {Float64Array} */ (this.trace.gradientNorm)[this.trace.updates];
    return slope === 0 || (slope <= FLAT * this.firstSlope && this.learner.kind === "lms") || slope <= 1e-14;
  }

  gradientStep() {
    for (let j = 0; j < this.p; j++) this.w[j] -= this.rate * this.gradient[j];
    this.tick(-1, NaN);
  }

  newtonStep() {
    const { features, loss, learner, trace, w, virtual } = this;
    const value = /** @type {Float64Array} */ (trace.objective)[trace.updates];
    const hessian = gram(features, virtual, (i) => loss.curvature(this.score(i, w), features.signs[i]), features.n);
    for (let j = virtual; j < this.p; j++) hessian[j][j] += learner.strength;
    const gradient = Array.from(this.gradient);
    const direction = solveSemidefinite(hessian, gradient).map((change) => -change);
    let slope = 0;
    for (let j = 0; j < this.p; j++) slope += gradient[j] * direction[j];
    const rounding = 8 * 2 ** -52 * Math.abs(value);
    const before = w.slice();
    for (let length = 1; length >= SHORTEST && slope < 0; length /= 2) {
      for (let j = 0; j < this.p; j++) w[j] = before[j] + length * direction[j];
      if (this.expand(w) <= value + SUFFICIENT * length * slope + rounding) return this.tick(-1, NaN);
    }
    w.set(before);
    this.expand(w);
    this.end();
    return undefined;
  }
}

class StochasticRun extends Descent {
  /** @param {Features} features @param {Learner} learner @param {Verdict} verdict */
  constructor(features, learner, verdict) {
    super(features, learner, verdict, true);
    this.order = makeOrder(learner, features.n);
    this.scale = 1;
    this.total = 0;
    this.stored = this.w.slice();
    this.lag = new Float64Array(this.p);
    this.now = { total: new Float64Array(this.p), visits: 0 };
    this.since = this.now;
    this.next = this.now;
  }

  /** @param {number} visits */
  advance(visits) {
    const { trace, learner, features } = this;
    const each = Math.max(1, features.n); // the objective of each version takes a pass
    const until = trace.length + Math.max(1, Math.ceil(visits / each));
    while (!trace.done && trace.length < until) {
      if (trace.length >= learner.maxSteps) this.stop();
      else this.visit();
    }
    return trace.done;
  }

  visit() {
    const { features, learner, loss, trace, stored, virtual, lag } = this;
    const { p, values, signs, n } = features;
    const visit = trace.length;
    const i = this.order.row(visit);
    if (i < 0) return this.stop();
    let sum = 0;
    for (let j = 0, k = i * p; j < p; j++, k++) sum += values[k] * stored[j + virtual];
    let eta = this.scale * sum;
    if (virtual) eta += stored[0];
    const rate = this.rate / (1 + this.decay * visit);
    const step = -rate * loss.slope(eta, signs[i]);
    if (learner.strength) this.shrink(rate);
    if (step !== 0) {
      const factor = step / this.scale;
      if (virtual) stored[0] += step;
      for (let j = 0, k = i * p; j < p; j++, k++) stored[j + virtual] += factor * values[k];
      const ofStored = factor * this.total;
      if (virtual) lag[0] = lag[0] + ofStored + (step * visit - ofStored);
      for (let j = 0, k = i * p; j < p; j++, k++) lag[j + virtual] += ofStored * values[k];
    }
    this.total += this.scale;
    for (let j = 0; j < this.p; j++) this.w[j] = j < virtual ? stored[j] : stored[j] * this.scale;
    this.tick(i, eta);
    if (trace.length % n === 0) this.average(trace.length / n);
    return undefined;
  }

  /** Shrink all weights by one product. @param {number} rate */
  shrink(rate) {
    this.scale *= 1 - rate * this.learner.strength;
    if (Math.abs(this.scale) >= SMALLEST_SCALE) return;
    for (let j = this.virtual; j < this.p; j++) {
      this.lag[j] -= this.total * this.stored[j];
      this.stored[j] *= this.scale;
    }
    this.scale = 1;
    this.total = 0;
  }

  /** Take over the sum of all weights so far, for the average over the later half of the run. @param {number} passes */
  average(passes) {
    const visits = this.trace.length;
    const total = this.stored.map((value, j) => (j < this.virtual ? visits * value - this.lag[j] : this.total * value - this.lag[j]));
    this.now = { total, visits };
    if ((passes & (passes - 1)) === 0) {
      this.since = this.next;
      this.next = this.now;
    }
  }

  /** @param {Status} status */
  finish(status) {
    super.finish(status);
    if (this.learner.keep === "average" && this.now && this.now.visits > this.since.visits) {
      this.trace.kept = this.now.total.map((value, j) => (value - this.since.total[j]) / (this.now.visits - this.since.visits));
    }
  }
}
