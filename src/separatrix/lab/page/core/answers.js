/** Learners whose answer comes in one step: the widest margin of the plane, and the fewest mistakes. */

import { linearProgram } from "./halfspace.js";
import { newTrace } from "./trace.js";
import { makePoints, pointRows } from "./points.js";
import { judge } from "./verdict.js";
import { FewestSearch } from "./zero_one.js";

/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./types.js").Learner} Learner */
/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("./types.js").Trace} Trace */
/** @typedef {import("./types.js").Verdict} Verdict */

/**
 * Return a run of one tick, from 0 to some weights; null weights are no answer.
 * @param {Features} features @param {Learner} learner @param {Float64Array|null} w
 * @returns {{trace: Trace, advance: () => boolean}}
 */
function answered(features, learner, w) {
  const p = features.p + (learner.intercept ? 1 : 0);
  const trace = newTrace(learner.kind, learner.intercept, p, features.n, false);
  finish(trace, w);
  return { trace, advance: () => true };
}

/** End a trace with its one tick; null weights are no answer. @param {Trace} trace @param {Float64Array|null} w */
function finish(trace, w) {
  trace.done = true;
  trace.kept = w ?? new Float64Array(trace.p);
  trace.status = !trace.n ? "empty" : w ? "optimal" : "infeasible";
  if (!w) return;
  trace.weights.set(w, trace.p);
  trace.squaredNorm[1] = w.reduce((sum, value) => sum + value * value, 0);
  trace.length = trace.updates = trace.version[0] = trace.updateTick[0] = 1;
  trace.row[0] = -1;
  trace.score[0] = NaN;
}

/** The widest margin, scaled so that the nearest points have scores ±1. @param {Features} features @param {Learner} learner @param {Verdict} verdict */
export function marginRun(features, learner, verdict) {
  const { margin } = verdict;
  if (!margin) return answered(features, learner, null);
  const w = [margin.b, margin.w1, margin.w2].map((value) => value / margin.gamma);
  const run = answered(features, learner, Float64Array.from(learner.intercept ? w : w.slice(1)));
  run.trace.gap = { gap: 0, upper: margin.gamma, lower: margin.gamma };
  return run;
}

/** A separating line by linear programming, with every score at least 1 in size. @param {Points} points @param {Features} features @param {Learner} learner @param {Verdict} verdict */
export function halfspaceRun(points, features, learner, verdict) {
  const found = verdict.kind === "separable" ? linearProgram(points, learner.intercept) : null;
  const run = answered(features, learner, found ? found.w : null);
  if (found) run.trace.gap = { gap: 0, upper: found.t, lower: found.t };
  return run;
}

/**
 * The fewest mistakes, searched for in slices.
 * @param {Points} points @param {Features} features @param {Learner} learner
 * @returns {{trace: Trace, advance: (visits: number) => boolean}}
 */
export function zeroOneRun(points, features, learner) {
  if (!points.n) return answered(features, learner, null);
  const search = new FewestSearch(points, learner.intercept);
  const trace = newTrace(learner.kind, learner.intercept, features.p + (learner.intercept ? 1 : 0), features.n, false);
  const advance = (/** @type {number} */ visits) => {
    if (!trace.done && search.advance(visits)) finish(trace, widestOfBest(points, learner, search.result()));
    return trace.done;
  };
  return { trace, advance };
}

/** Of the lines with the fewest mistakes, take the one of widest margin to the other points. @param {Points} points @param {Learner} learner @param {import("./zero_one.js").Fewest} found */
function widestOfBest(points, learner, { wrong, w }) {
  const right = makePoints(pointRows(points).filter((_, i) => !wrong.includes(i)));
  const { margin } = judge(right, learner.intercept);
  if (!margin || !(margin.gamma > 0) || !Number.isFinite(margin.gamma)) return w;
  const line = [margin.b, margin.w1, margin.w2];
  return Float64Array.from(learner.intercept ? line : line.slice(1));
}
