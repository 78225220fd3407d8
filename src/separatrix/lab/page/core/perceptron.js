/**
 * The perceptron, single and batch, update for update and bit for bit as the library runs it.
 *
 *     mistake: y·score < 0, or a score of exactly 0 as `tie` says; with a margin m > 0: y·score < m
 *     update:  w ← w + η_k y x, or with the batch rule the sum of y x over all mistakes;  η_k = rate, or rate / k
 *
 * Scores are ((x1·w1) + x2·w2 + …) + b, in this order. A run stops after n correct visits in a row, at a limit, or when
 * it is proved to repeat without end: same row to visit, same weights as before. All state is in arrays, so that a run
 * continues where it stopped. Cost: one read of the row per visit.
 */

import { pairwiseSum } from "./sums.js";
import { makeOrder } from "./order.js";
import { grow, growDoubles, newTrace } from "./trace.js";

/** @typedef {import("./types.js").Learner} Learner */
/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./types.js").Trace} Trace */

const TIES = { positive: 1, negative: -1, mistake: 0, correct: 2 };
const MOST_TICKS = 4000000;
const CYCLE_MEMORY = 20000;
const STEPS_PER_RUN = 64;

/**
 * Tell whether a score falls short for a label.
 * @param {number} score @param {number} y @param {number} tie @param {number} margin
 */
export function isMistake(score, y, tie, margin) {
  const reached = y * score;
  if (margin > 0) return !(reached >= margin);
  if (reached === 0) return tie !== 2 && tie !== y;
  return !(reached > 0);
}

/** @param {Learner} learner */
export function tieCode(learner) {
  return TIES[learner.tie];
}

/**
 * Return a run that `advance` takes on.
 * @param {Features} features
 * @param {Learner} learner
 */
export function perceptronRun(features, learner) {
  return learner.update === "batch" ? new BatchRun(features, learner) : new SingleRun(features, learner);
}

/** @param {Learner} learner @param {number} p */
export function startWeights(learner, p) {
  const w = new Float64Array(p);
  if (learner.start) for (let j = 0; j < p; j++) w[j] = learner.start[j] ?? 0;
  return w;
}

class PerceptronRun {
  /** @param {Features} features @param {Learner} learner */
  constructor(features, learner) {
    this.features = features;
    this.learner = learner;
    this.virtual = learner.intercept ? 1 : 0;
    this.p = features.p + this.virtual;
    this.w = startWeights(learner, this.p);
    this.tie = TIES[learner.tie];
    /** @type {Trace} */
    this.trace = newTrace("perceptron", learner.intercept, this.p, features.n, learner.update !== "batch");
    this.lag = new Float64Array(this.p);
    this.pocket = this.w.slice();
    this.pocketMistakes = Infinity;
    this.record(0);
    if (!features.n) this.finish("empty");
  }

  /** @param {number} i */
  score(i) {
    const { values, p } = this.features;
    const { w, virtual } = this;
    let total = 0;
    for (let j = 0, k = i * p; j < p; j++, k++) total += values[k] * w[j + virtual];
    return virtual ? total + w[0] : total;
  }

  /** Count the rows that the weights get wrong, up to a number. @param {number} margin @param {number} giveUpAt */
  countMistakes(margin, giveUpAt) {
    let mistakes = 0;
    for (let i = 0; i < this.features.n && mistakes < giveUpAt; i++) {
      if (isMistake(this.score(i), this.features.signs[i], this.tie, margin)) mistakes++;
    }
    return mistakes;
  }

  /** Keep the weights if they make fewer mistakes than those kept. @param {number} mistakes */
  pocketIfBetter(mistakes) {
    if (mistakes >= this.pocketMistakes) return;
    this.pocketMistakes = mistakes;
    this.pocket.set(this.w);
  }

  /** Write the weights as the next version. @param {number} version */
  record(version) {
    const { trace, w, p } = this;
    trace.weights = growDoubles(trace.weights, (version + 1) * p);
    trace.squaredNorm = growDoubles(trace.squaredNorm, version + 1);
    let square = 0;
    for (let j = 0; j < p; j++) {
      trace.weights[version * p + j] = w[j];
      square += w[j] * w[j];
    }
    trace.squaredNorm[version] = square;
  }

  /** Write a tick. @param {number} row @param {number} score @param {boolean} wrong */
  tick(row, score, wrong) {
    const { trace } = this;
    const k = trace.length;
    if (k >= trace.row.length) grow(trace, k + 1);
    trace.row[k] = row;
    trace.score[k] = score;
    trace.wrong[k] = wrong ? 1 : 0;
    if (wrong) {
      trace.updates++;
      trace.updateTick[trace.updates - 1] = k + 1;
      this.record(trace.updates);
    }
    trace.version[k] = trace.updates;
    trace.length = k + 1;
  }

  /** @param {import("./types.js").Status} status */
  finish(status) {
    const { trace, learner, w } = this;
    trace.status = status;
    trace.done = true;
    trace.kept = w.slice();
    if (learner.keep === "best") trace.kept = this.pocket.slice();
    if (learner.keep === "average" && trace.length) trace.kept = w.map((value, j) => value - this.lag[j] / trace.length);
    if (learner.keep === "vote") trace.vote = this.ballot();
  }

  /** Return every weight vector and the visits that it outlived. */
  ballot() {
    const { trace, p } = this;
    const counts = new Float64Array(trace.updates + 1);
    let before = 1;
    for (let k = 0; k < trace.updates; k++) {
      counts[k] = trace.updateTick[k] - before;
      before = trace.updateTick[k];
    }
    counts[trace.updates] = trace.length + 1 - before;
    return { weights: trace.weights.slice(0, (trace.updates + 1) * p), counts };
  }
}

class SingleRun extends PerceptronRun {
  /** @param {Features} features @param {Learner} learner */
  constructor(features, learner) {
    super(features, learner);
    this.order = makeOrder(learner, features.n);
    this.streak = 0;
    this.pocketRun = -1;
    this.passesPlanned = 0;
    this.stepEnd = 0;
    this.seen = learner.order === "cyclic" && learner.schedule === "constant" && learner.keep === "last" ? new Map() : null;
    if (features.n) this.planStep();
    this.remember();
  }

  /** Plan a step as in the library: one pass, or a 64th of the run so far. */
  planStep() {
    const passes = Math.max(1, Math.floor(this.passesPlanned / STEPS_PER_RUN));
    this.passesPlanned += passes;
    this.stepEnd += passes * this.features.n;
  }

  /**
   * Continue for a number of visits; return whether the run is over.
   * @param {number} visits
   */
  advance(visits) {
    const { trace, features, learner, w, virtual, tie } = this;
    if (trace.done) return true;
    const { values, signs, p, n } = features;
    const { margin, rate, maxUpdates } = learner;
    const inverse = learner.schedule === "inverse";
    const until = Math.min(MOST_TICKS, trace.length + visits);
    while (trace.length < until) {
      const i = this.order.row(trace.length);
      if (i < 0) break;
      const score = this.score(i);
      const y = signs[i];
      const wrong = isMistake(score, y, tie, margin);
      if (wrong) {
        if (learner.keep === "best") this.fillPocket();
        this.streak = 0;
        let factor = rate * y;
        if (inverse) factor /= trace.updates + 1;
        if (virtual) w[0] += factor;
        for (let j = 0, k = i * p; j < p; j++, k++) w[j + virtual] += factor * values[k];
        if (learner.keep === "average") this.addLag(i, factor * trace.length);
      } else this.streak++;
      this.tick(i, score, wrong);
      if (this.isOver(n, maxUpdates)) return true;
    }
    if (trace.length >= MOST_TICKS || (trace.length < until && !trace.done)) this.end("max steps");
    return trace.done;
  }

  /** Tell whether the run is over after a visit, and end it if so. @param {number} n @param {number} maxUpdates */
  isOver(n, maxUpdates) {
    const { trace } = this;
    const stepDone = trace.length === this.stepEnd;
    if (this.streak >= n) {
      if (this.learner.order === "cyclic" || this.countMistakes(this.learner.margin, 1) === 0) return this.end("converged");
      this.streak = 0;
    }
    if (trace.updates >= maxUpdates) return this.end("max updates");
    if (stepDone) {
      this.judgePocket();
      this.planStep();
    }
    if (this.seen && trace.length % n === 0 && this.remember()) return this.end("cycle");
    return false;
  }

  /** @param {import("./types.js").Status} status */
  end(status) {
    this.judgePocket();
    this.finish(status);
    return true;
  }

  /** Evaluate the weights for the pocket after any streak, as the library does at the end of a step. */
  judgePocket() {
    if (this.learner.keep !== "best") return;
    const record = this.pocketRun;
    this.pocketRun = -1;
    this.fillPocket();
    this.pocketRun = Math.max(record, this.pocketRun);
  }

  fillPocket() {
    if (this.streak <= this.pocketRun) return;
    this.pocketRun = this.streak;
    this.pocketIfBetter(this.countMistakes(0, this.pocketMistakes));
  }

  /** @param {number} i @param {number} factor */
  addLag(i, factor) {
    const { lag, virtual } = this;
    const { values, p } = this.features;
    if (virtual) lag[0] += factor;
    for (let j = 0, k = i * p; j < p; j++, k++) lag[j + virtual] += factor * values[k];
  }

  /** Remember the weights at the end of a pass; return whether they have been here before, so that the run repeats. */
  remember() {
    const { seen, trace } = this;
    if (!seen || seen.size > CYCLE_MEMORY) return false;
    const key = this.w.join();
    const from = seen.get(key);
    if (from === undefined || trace.length === 0) {
      seen.set(key, trace.length);
      return false;
    }
    trace.cycle = { from, to: trace.length };
    return true;
  }
}

class BatchRun extends PerceptronRun {
  /** Continue for about `visits` visits; return whether the run is over. @param {number} visits */
  advance(visits) {
    const { trace, learner, features } = this;
    const until = trace.length + Math.max(1, Math.ceil(visits / Math.max(1, features.n)));
    while (!trace.done && trace.length < until) {
      const mistakes = this.step();
      if (!mistakes) this.finish("converged");
      else if (trace.updates >= learner.maxUpdates) this.finish("max updates");
    }
    return trace.done;
  }

  /** Make a pass, and an update if there are mistakes; return their number. */
  step() {
    const { features, learner, w, virtual, tie, lag, trace } = this;
    const { n, p, values, signs } = features;
    const reached = new Float64Array(n);
    let mistakes = 0;
    for (let i = 0; i < n; i++) {
      const wrong = isMistake(this.score(i), signs[i], tie, learner.margin);
      reached[i] = wrong ? signs[i] : 0;
      if (wrong) mistakes++;
    }
    this.pocketIfBetter(mistakes);
    if (!mistakes) return 0;
    const rate = learner.schedule === "inverse" ? learner.rate / (trace.updates + 1) : learner.rate;
    const total = new Float64Array(this.p);
    if (virtual) total[0] = pairwiseSum(reached);
    for (let i = 0; i < n; i++) {
      if (reached[i]) for (let j = 0, k = i * p; j < p; j++, k++) total[j + virtual] += reached[i] * values[k];
    }
    for (let j = 0; j < this.p; j++) {
      const change = rate * total[j];
      w[j] += change;
      lag[j] += trace.length * change;
    }
    this.tick(-1, mistakes, true);
    return mistakes;
  }
}
