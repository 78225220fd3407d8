/**
 * From points and a learner to trace, verdict and bound. Pure: the same input, the same record.
 *
 * A trace that would take longer than a slice is returned unfinished, and `advance` continues it; verdict and bound
 * are always complete.
 */

import { boundOf } from "./bound.js";
import { judgeFeatures } from "./features.js";
import { lift } from "./lift.js";
import { predict } from "./model.js";
import { startRun } from "./runs.js";
import { presentClasses } from "./softmax.js";
import { judge } from "./verdict.js";
import { samePoints } from "./points.js";

/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("./types.js").Learner} Learner */
/** @typedef {import("./types.js").Derivation} Derivation */
/** @typedef {import("./types.js").Trace} Trace */
/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./types.js").Bound} Bound */

const SLICE = 30000;
/** @type {WeakMap<Trace, {advance: (visits: number) => boolean}>} */
const runs = new WeakMap();

/**
 * @param {Points} points
 * @param {Learner} learner
 * @param {Derivation|null} [previous] of the frame before; its verdict is taken over if the points are the same
 * @returns {Derivation}
 */
export function derive(points, learner, previous = null) {
  const same = previous && (previous.points === points || samePoints(previous.points, points)) ? previous : null;
  const flat = learner.kind !== "kernel";
  const intercept = flat ? learner.intercept : true;
  const planeVerdict = same && same.planeVerdict.intercept === intercept ? same.planeVerdict : judge(points, intercept);
  const features = lift(points, learner);
  const verdict = learner.lift === "none" ? planeVerdict : judgeFeatures(features, learner.intercept);
  const bound = boundOf(features, learner, verdict);
  const run = startRun(points, features, learner, verdict);
  run.advance(SLICE);
  runs.set(run.trace, run);
  return { points, learner, features, trace: run.trace, verdict, planeVerdict, bound };
}

/**
 * Continue an unfinished trace for a number of milliseconds; return whether it is done.
 * @param {Derivation} derivation
 * @param {number} milliseconds
 * @param {() => number} [clock]
 */
export function advance(derivation, milliseconds, clock = () => performance.now()) {
  const run = runs.get(derivation.trace);
  const until = clock() + milliseconds;
  while (run && !derivation.trace.done && clock() < until) run.advance(SLICE / 10);
  return derivation.trace.done;
}

/** Return the index of the weights after a number of ticks. @param {Trace} trace @param {number} tick */
export function versionAt(trace, tick) {
  const k = Math.min(trace.length, Math.max(0, Math.floor(tick + 1e-9)));
  return k === 0 ? 0 : trace.version[k - 1];
}

/** @param {Trace} trace @param {number} version @param {Float64Array} [out] */
export function weightsAt(trace, version, out = new Float64Array(trace.p)) {
  const at = Math.min(version, trace.updates) * trace.p;
  for (let j = 0; j < trace.p; j++) out[j] = trace.weights[at + j];
  return out;
}

/** Return the weights between two ticks. @param {Trace} trace @param {number} tick may be fractional @param {Float64Array} [out] */
export function blend(trace, tick, out = new Float64Array(trace.p)) {
  const before = versionAt(trace, tick);
  const share = Math.min(1, Math.max(0, tick - Math.floor(tick + 1e-9)));
  weightsAt(trace, before, out);
  if (share <= 0 || tick >= trace.length) return out;
  const after = versionAt(trace, Math.floor(tick + 1e-9) + 1);
  for (let j = 0; j < trace.p && after !== before; j++) out[j] += share * (trace.weights[after * trace.p + j] - out[j]);
  return out;
}

/**
 * Return how often each row had been a mistake of a kernel perceptron at a version.
 * @param {Trace} trace @param {number} version
 */
export function alphaAt(trace, version) {
  const alpha = new Float64Array(trace.n);
  for (let k = 0; k < Math.min(version, trace.updates); k++) alpha[trace.row[trace.updateTick[k] - 1]] += 1;
  return alpha;
}

/**
 * Return the model after a number of ticks; at the end of a run, the one chosen by `keep`.
 * @param {Derivation} derivation @param {number} tick
 * @returns {Model}
 */
export function modelAt(derivation, tick) {
  const { trace, learner, points } = derivation;
  const end = trace.done && tick >= trace.length - 1e-9;
  /** @type {Model} */
  const model = { shape: "line", learner, w: new Float64Array(0), voters: null, counts: null, points: null, alpha: null };
  if (learner.kind === "kernel") return { ...model, shape: "kernel", points, alpha: alphaAt(trace, versionAt(trace, tick)) };
  const w = end ? trace.kept : weightsAt(trace, versionAt(trace, tick));
  if (learner.kind === "softmax") return { ...model, shape: "softmax", w, alpha: presentClasses(points) };
  if (end && trace.vote) return { ...model, shape: "vote", w, voters: trace.vote.weights, counts: trace.vote.counts };
  return { ...model, shape: learner.lift === "none" ? "line" : "lifted", w };
}

/**
 * Count the rows that a model gets wrong, and mark them.
 * @param {Derivation} derivation @param {Model} model @param {Uint8Array} [out] 1 for a row that is wrong
 */
export function wrongRows(derivation, model, out) {
  const { points, learner } = derivation;
  const three = learner.kind === "softmax";
  let count = 0;
  for (let i = 0; i < points.n; i++) {
    const label = three || points.label[i] === 1 ? points.label[i] : -1;
    const wrong = predict(model, points.x1[i], points.x2[i]) !== label;
    if (out) out[i] = wrong ? 1 : 0;
    if (wrong) count++;
  }
  return count;
}

/** Return the position after the next mistake, or the end. @param {Trace} trace @param {number} tick */
export function nextMistake(trace, tick) {
  for (let k = Math.floor(tick + 1e-9); k < trace.length; k++) if (trace.wrong[k]) return k + 1;
  return trace.length;
}

/** Return the position after the mistake before this one, or 0. @param {Trace} trace @param {number} tick */
export function previousMistake(trace, tick) {
  for (let k = Math.ceil(tick - 1e-9) - 2; k >= 0; k--) if (trace.wrong[k]) return k + 1;
  return 0;
}

/** Return the bound of points and a learner, without a run. @param {Points} points @param {Learner} learner @returns {Bound} */
export function mistakeBound(points, learner) {
  const features = lift(points, learner);
  const verdict = learner.lift === "none" ? judge(points, learner.intercept) : judgeFeatures(features, learner.intercept);
  return boundOf(features, learner, verdict);
}
