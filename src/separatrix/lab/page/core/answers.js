/** Learners whose answer comes in one step: the widest margin of the plane, and the fewest mistakes. */

import { newTrace } from "./trace.js";
import { makePoints, pointRows } from "./points.js";
import { judge } from "./verdict.js";
import { fewestMistakes } from "./zero_one.js";

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
  trace.done = true;
  trace.kept = w ?? new Float64Array(p);
  trace.status = !features.n ? "empty" : w ? "optimal" : "infeasible";
  if (w) {
    trace.weights.set(w, p);
    trace.squaredNorm[1] = w.reduce((sum, value) => sum + value * value, 0);
    trace.length = trace.updates = trace.version[0] = trace.updateTick[0] = 1;
    trace.row[0] = -1;
    trace.score[0] = NaN;
  }
  return { trace, advance: () => true };
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

/** The fewest mistakes; of the lines that make them, the one of widest margin to the other points. @param {Points} points @param {Features} features @param {Learner} learner */
export function zeroOneRun(points, features, learner) {
  if (!points.n) return answered(features, learner, null);
  const { wrong, w } = fewestMistakes(points, learner.intercept);
  const right = makePoints(pointRows(points).filter((_, i) => !wrong.includes(i)));
  const { margin } = judge(right, learner.intercept);
  const line = margin && Number.isFinite(margin.gamma) && margin.gamma > 0 ? [margin.b, margin.w1, margin.w2] : null;
  return answered(features, learner, line ? Float64Array.from(learner.intercept ? line : line.slice(1)) : w);
}
