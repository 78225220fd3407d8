/** The record of a run: one entry per tick, one row of weights per version; arrays double as they fill. */

/** @typedef {import("./types.js").Trace} Trace */
/** @typedef {import("./types.js").Kind} Kind */

const FIRST = 256;

/**
 * @param {Kind} kind @param {boolean} intercept @param {number} p @param {number} n @param {boolean} byRow
 * @returns {Trace}
 */
export function newTrace(kind, intercept, p, n, byRow) {
  return {
    kind,
    intercept,
    p,
    n,
    status: "running",
    done: false,
    length: 0,
    byRow,
    row: new Int32Array(FIRST),
    wrong: new Uint8Array(FIRST),
    score: new Float64Array(FIRST),
    version: new Int32Array(FIRST),
    updates: 0,
    weights: new Float64Array(p * 32),
    squaredNorm: new Float64Array(32),
    updateTick: new Int32Array(FIRST),
    objective: null,
    gradientNorm: null,
    rates: null,
    kept: new Float64Array(p),
    vote: null,
    cycle: null,
    alpha: null,
    gap: null,
    passes: 0,
  };
}

/** Make room for a number of ticks. @param {Trace} trace @param {number} ticks */
export function grow(trace, ticks) {
  const size = Math.max(ticks, 2 * trace.row.length);
  trace.row = copyInto(new Int32Array(size), trace.row);
  trace.version = copyInto(new Int32Array(size), trace.version);
  trace.updateTick = copyInto(new Int32Array(size), trace.updateTick);
  trace.wrong = copyInto(new Uint8Array(size), trace.wrong);
  trace.score = copyInto(new Float64Array(size), trace.score);
}

/**
 * @template {Int32Array|Uint8Array|Float64Array} T
 * @param {T} to @param {T} from
 * @returns {T}
 */
function copyInto(to, from) {
  to.set(from);
  return to;
}

/** Return an array with room for `size` numbers, the old ones copied. @param {Float64Array} array @param {number} size */
export function growDoubles(array, size) {
  return size <= array.length ? array : copyInto(new Float64Array(Math.max(size, 2 * array.length)), array);
}
