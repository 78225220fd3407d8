/**
 * The mistake bound (Novikoff 1962) for every rate, start, schedule and margin of the perceptron.
 *
 * With rates η_k, S = Σ η_k, rows no longer than R, a required margin m and a unit separator w* of margin γ:
 *
 *     (w*·w₀ + γ S)² ≤ ‖w_t‖² ≤ ‖w₀‖² + R² Σ η_k² + 2 m S
 *
 * which bounds S, and so the number of updates; from start 0 it is (R/γ)², whatever the rate. For rates η/k,
 * S ≥ η ln(t + 1) and Σ η_k² ≤ η² π²/6. For the batch rule n R² stands for R², and t counts corrected mistakes. R and γ
 * are those of the rows as the perceptron sees them, with their 1 if there is an intercept.
 */

import { hull } from "./hull.js";
import { nearestPoint } from "./nearest.js";

/** @typedef {import("./types.js").Bound} Bound */
/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./types.js").Learner} Learner */
/** @typedef {import("./types.js").Trace} Trace */
/** @typedef {import("./types.js").Verdict} Verdict */

const LARGEST_EXPONENT = 700;
const PINNED = 1e-9;
const WHOLE = 1e-9;
const OUTWARD = 1 + 1e-9; // inflates a bound for the rounding of its own evaluation
const TINY = 1e-290; // more than sums lose by underflow
const MAX_UPDATES = 2 ** 40; // beyond, rounding errors are not bounded

/**
 * Return the bound of rows with a known verdict.
 * @param {Features} features
 * @param {Learner} learner
 * @param {Verdict} verdict
 * @returns {Bound}
 */
export function boundOf(features, learner, verdict) {
  const virtual = learner.intercept ? 1 : 0;
  const p = features.p + virtual;
  const { R2, farthest } = radius(features, virtual);
  const start = (learner.kind === "perceptron" && learner.start) || [];
  let startNorm2 = 0;
  for (let j = 0; j < p; j++) startNorm2 += (start[j] ?? 0) * (start[j] ?? 0);
  const separable = verdict.kind === "separable" || verdict.kind === "one class";
  const found = separable ? widestMargin(features, virtual) : null;
  const separator = found?.w ?? null;
  let ahead = 0;
  if (separator) for (let j = 0; j < p; j++) ahead += separator[j] * (start[j] ?? 0);
  const perceptron = learner.kind === "perceptron";
  const batch = perceptron && learner.update === "batch";
  const inverse = perceptron && learner.schedule === "inverse";
  const asked = perceptron ? learner.margin : 0;
  /** @type {Bound} */
  const bound = {
    exists: separator !== null,
    R: Math.sqrt(R2),
    R2,
    farthest,
    gamma: found?.gamma ?? 0,
    separator,
    pins: found?.pins ?? [],
    ratio: found ? R2 / (found.gamma * found.gamma) : Infinity,
    most: Infinity,
    textbook: !batch && !inverse && !asked && startNorm2 === 0,
    startNorm2,
    startAhead: ahead,
    rate: perceptron ? learner.rate : 1,
    inverse,
    asked,
    rows: batch ? features.n : 1,
  };
  if (bound.exists) bound.most = wholeUpdates(updateLimit(bound));
  return bound;
}

/** Round down, but not by rounding: 16.9999999999 is 17. @param {number} limit */
function wholeUpdates(limit) {
  return limit < 2 ** 53 ? Math.floor(limit * (1 + WHOLE)) : limit;
}

/**
 * Return the limit of the updates as the library computes it, not rounded down.
 * @param {Bound} bound
 */
export function updateLimit(bound) {
  const { gamma, rate, asked, startAhead, startNorm2, R2, rows } = bound;
  const reach = rows * R2;
  const linear = 2 * asked - 2 * startAhead * gamma;
  const constant = startNorm2 - startAhead * startAhead;
  if (!bound.inverse) return positiveRoot(gamma * gamma, linear + reach * rate, constant) / rate;
  const squares = (reach * rows * (Math.PI * rate) ** 2) / 6;
  const total = positiveRoot(gamma * gamma, linear, constant + squares) / rate;
  return total < LARGEST_EXPONENT ? Math.expm1(total) : Infinity;
}

/**
 * Return a bound on the updates of any run in floats that the library proves, as small as the theorem gives; null if there
 * is none. As `Limits` in separatrix/certificates/mistakes.py: rounding may let a run update on a row that is right.
 * @param {Bound} bound @param {number} radius @param {number} gamma a margin of its separator @param {number} columns
 * @returns {number|null}
 */
export function updatesAtMost(bound, radius, gamma, columns) {
  const guess = updateLimit({ ...bound, gamma, R2: radius * radius });
  return [guess, Math.ceil(guess), guess * (1 + 1e-8) + 1, guess * 1.001 + 1].find((most) => endsWithin(most, bound, radius, gamma, columns)) ?? null;
}

/**
 * Tell whether no run makes more than a number of updates.
 * @param {number} most @param {Bound} bound @param {number} radius @param {number} gamma @param {number} columns
 */
function endsWithin(most, { asked, rate, inverse, rows, startNorm2, startAhead }, radius, gamma, columns) {
  const t = Math.floor(most) + 1;
  if (!(t <= MAX_UPDATES)) return false;
  const norm = Math.sqrt(startNorm2) * OUTWARD;
  const rounding = roundings(columns + 4) + roundings(t + rows + 4);
  const total = inverse ? rate * Math.log1p(t) : rate * t;
  const constant = norm ** 2 + TINY + (inverse ? (radius * rows * rate * Math.PI) ** 2 / 6 : 0);
  const linear = (inverse ? 0 : radius ** 2 * rate * rows) + 2 * asked + 2 * rounding * radius * norm + TINY;
  const square = 2 * rounding * radius ** 2;
  const progress = startAhead - 2 * roundings(columns + 8) * norm - TINY + gamma * total;
  const rising = 2 * gamma * progress > (linear + 2 * square * total) * OUTWARD ** 2 && gamma ** 2 > square * OUTWARD + TINY; // and so for every larger total
  return progress > 0 && rising && progress ** 2 > (constant + (linear + square * total) * total) * OUTWARD ** 4;
}

/** Return a bound on the relative error of k roundings. @param {number} k */
function roundings(k) {
  return (OUTWARD * k * 2 ** -53) / (1 - k * 2 ** -53);
}

/** @param {number} square @param {number} linear @param {number} constant */
function positiveRoot(square, linear, constant) {
  return (linear + Math.hypot(linear, 2 * Math.sqrt(square * Math.max(constant, 0)))) / (2 * square);
}

/** @param {Features} features @param {number} virtual */
function radius(features, virtual) {
  let R2 = 0;
  let farthest = -1;
  for (let i = 0; i < features.n; i++) {
    let square = virtual;
    for (let j = 0, k = i * features.p; j < features.p; j++, k++) square += features.values[k] * features.values[k];
    if (square > R2 || farthest < 0) {
      R2 = square;
      farthest = i;
    }
  }
  return { R2, farthest };
}

/**
 * Return the widest margin through the origin of the rows y·[1, x], by their nearest point to it; null if none shows.
 * @param {Features} features @param {number} virtual
 */
export function widestMargin(features, virtual) {
  const rows = candidates(features);
  const d = features.p + virtual;
  const z = new Float64Array(rows.length * d);
  rows.forEach((row, k) => {
    const y = features.signs[row];
    if (virtual) z[k * d] = y;
    for (let j = 0; j < features.p; j++) z[k * d + virtual + j] = y * features.values[row * features.p + j];
  });
  const found = nearestPoint(z, rows.length, d);
  if (!(found.gamma > 0)) return null;
  const norm = Math.hypot(...found.x);
  const w = found.x.map((value) => value / norm);
  const pins = [];
  for (let k = 0; k < rows.length; k++) {
    let along = 0;
    for (let j = 0; j < d; j++) along += w[j] * z[k * d + j];
    if (along <= found.gamma * (1 + PINNED)) pins.push(rows[k]);
  }
  return { w, gamma: found.gamma, upper: found.upper, pins, rows: found.support.map((k) => rows[k]), shares: found.shares };
}

/** Return the rows among which the least of every linear function is: of two columns, those on the classes' hulls. @param {Features} features */
function candidates(features) {
  const { n, p, values, signs } = features;
  if (p !== 2 || n < 12) return Array.from({ length: n }, (_, i) => i);
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  /** @type {number[]} */
  const plus = [];
  /** @type {number[]} */
  const minus = [];
  for (let i = 0; i < n; i++) {
    x[i] = values[2 * i];
    y[i] = values[2 * i + 1];
    (signs[i] > 0 ? plus : minus).push(i);
  }
  return [...hull(x, y, plus), ...hull(x, y, minus)];
}

/**
 * Return the t at which a run stands under its bound: updates, or the corrected mistakes of the batch rule.
 * @param {Bound} bound @param {Trace} trace @param {number} version
 */
export function boundTime(bound, trace, version) {
  if (bound.rows === 1 || bound.inverse || trace.byRow) return version;
  let corrected = 0;
  for (let k = 0; k < version; k++) corrected += trace.score[trace.updateTick[k] - 1];
  return corrected;
}

/** Return Σ η_k up to t. @param {Bound} bound @param {number} t */
function sumOfRates(bound, t) {
  return bound.inverse ? bound.rate * harmonic(t) : bound.rate * t;
}

/** Return the most that ‖w‖² can be after t updates. @param {Bound} bound @param {number} t */
export function ceilingAt(bound, t) {
  const squares = bound.inverse ? bound.rate * bound.rate * squareHarmonic(t) * bound.rows : bound.rate * bound.rate * t;
  return bound.startNorm2 + bound.rows * bound.R2 * squares + 2 * bound.asked * sumOfRates(bound, t);
}

/** Return the least that ‖w‖² can be after t updates, 0 without a separator. @param {Bound} bound @param {number} t */
export function floorAt(bound, t) {
  const ahead = bound.startAhead + bound.gamma * sumOfRates(bound, t);
  return bound.exists && ahead > 0 ? ahead * ahead : 0;
}

/** Return 1 + 1/2 + … + 1/t, also between whole t. @param {number} t */
function harmonic(t) {
  if (t <= 0) return 0;
  if (t > 50) return Math.log(t) + 0.5772156649015329 + 1 / (2 * t) - 1 / (12 * t * t);
  let sum = 0;
  const whole = Math.floor(t);
  for (let k = 1; k <= whole; k++) sum += 1 / k;
  return sum + (t - whole) / (whole + 1);
}

/** Return 1 + 1/4 + … + 1/t². @param {number} t */
function squareHarmonic(t) {
  if (t <= 0) return 0;
  if (t > 50) return (Math.PI * Math.PI) / 6 - 1 / t + 1 / (2 * t * t) - 1 / (6 * t * t * t);
  let sum = 0;
  const whole = Math.floor(t);
  for (let k = 1; k <= whole; k++) sum += 1 / (k * k);
  return sum + (t - whole) / ((whole + 1) * (whole + 1));
}
