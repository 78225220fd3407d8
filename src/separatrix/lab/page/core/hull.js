/**
 * Convex hulls by Andrew's monotone chain with exact orientations: O(n log n), strict vertices only, counter-clockwise.
 */

import { orient } from "./exact.js";

/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("./types.js").Verdict} Verdict */

const MANY = 200;
const CERTAIN = 1e-14;
const TINY = 1e-280;
const ALONG_X = Float64Array.of(1, 1, 0, -1, -1, -1, 0, 1);
const ALONG_Y = Float64Array.of(0, 1, 1, 1, 0, -1, -1, -1);

/**
 * Return the rows on the hull of some rows, counter-clockwise; two rows of a segment, one of a place.
 * @param {ArrayLike<number>} x1
 * @param {ArrayLike<number>} x2
 * @param {ArrayLike<number>} rows
 * @returns {Int32Array}
 */
export function hull(x1, x2, rows) {
  const sorted = extremesByColumn(x1, x2, rows.length > MANY ? outside(x1, x2, rows) : rows);
  const m = sorted.length;
  if (m <= 2) return sorted;
  const chain = new Int32Array(2 * m);
  let k = 0;
  for (let i = 0; i < m; i++) k = push(x1, x2, chain, k, 2, sorted[i]);
  const lower = k + 1;
  for (let i = m - 2; i >= 0; i--) k = push(x1, x2, chain, k, lower, sorted[i]);
  return chain.slice(0, k - 1);
}

/**
 * Return the rows that are not certain to lie inside the polygon of those extreme in eight directions (Akl and Toussaint
 * 1978): of a cloud, few are left to sort.
 * @param {ArrayLike<number>} x1 @param {ArrayLike<number>} x2 @param {ArrayLike<number>} rows
 */
function outside(x1, x2, rows) {
  const far = new Int32Array(8).fill(rows[0]);
  const most = new Float64Array(8).fill(-Infinity);
  for (let k = 0; k < rows.length; k++) {
    const row = rows[k];
    const x = x1[row];
    const y = x2[row];
    for (let c = 0; c < 8; c++) {
      const along = ALONG_X[c] * x + ALONG_Y[c] * y;
      if (along > most[c]) {
        most[c] = along;
        far[c] = row;
      }
    }
  }
  const corners = Array.from(far).filter((row, k) => x1[row] !== x1[far[(k + 1) % 8]] || x2[row] !== x2[far[(k + 1) % 8]]);
  if (corners.length < 3) return rows;
  const m = corners.length;
  const ax = Float64Array.from(corners, (row) => x1[row]);
  const ay = Float64Array.from(corners, (row) => x2[row]);
  const ex = ax.map((x, c) => ax[(c + 1) % m] - x);
  const ey = ay.map((y, c) => ay[(c + 1) % m] - y);
  const kept = new Int32Array(rows.length);
  let count = 0;
  for (let k = 0; k < rows.length; k++) {
    const row = rows[k];
    const x = x1[row];
    const y = x2[row];
    let c = 0;
    for (; c < m; c++) {
      const left = ex[c] * (y - ay[c]);
      const right = ey[c] * (x - ax[c]);
      const size = Math.abs(left) + Math.abs(right);
      if (!(left - right > CERTAIN * size && size > TINY)) break;
    }
    if (c < m) kept[count++] = row;
  }
  return kept.slice(0, count);
}

/**
 * @param {ArrayLike<number>} x1 @param {ArrayLike<number>} x2 @param {Int32Array} chain
 * @param {number} k @param {number} least @param {number} row
 */
function push(x1, x2, chain, k, least, row) {
  while (k >= least) {
    const a = chain[k - 2];
    const b = chain[k - 1];
    if (orient(x1[a], x2[a], x1[b], x2[b], x1[row], x2[row]) > 0) break;
    k--;
  }
  chain[k] = row;
  return k + 1;
}

/**
 * Return rows sorted by x1, of each x1 only the lowest and the highest.
 * @param {ArrayLike<number>} x1 @param {ArrayLike<number>} x2 @param {ArrayLike<number>} rows
 */
function extremesByColumn(x1, x2, rows) {
  const sorted = Int32Array.from(rows);
  sorted.sort((a, b) => compare(x1[a], x1[b]) || compare(x2[a], x2[b]));
  let k = 0;
  for (let i = 0; i < sorted.length; ) {
    let j = i;
    while (j + 1 < sorted.length && x1[sorted[j + 1]] === x1[sorted[i]]) j++;
    const first = sorted[i];
    const last = sorted[j];
    sorted[k++] = first;
    if (x2[last] !== x2[first]) sorted[k++] = last;
    i = j + 1;
  }
  return sorted.slice(0, k);
}

/** @param {number} a @param {number} b */
function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Return the polygon (flat [x, y, …]) in which both hulls of a verdict lie, for drawing; empty if they do not meet.
 * @param {Points} points
 * @param {Verdict} verdict
 * @returns {number[]}
 */
export function clipHulls(points, verdict) {
  const { hullPlus, hullMinus } = verdict;
  if (hullPlus.length < 3 || hullMinus.length < 3) return [];
  let polygon = Array.from(hullPlus, (row) => [points.x1[row], points.x2[row]]);
  for (let k = 0; k < hullMinus.length && polygon.length; k++) {
    const a = hullMinus[k];
    const b = hullMinus[(k + 1) % hullMinus.length];
    polygon = clip(polygon, points.x1[a], points.x2[a], points.x1[b], points.x2[b]);
  }
  return polygon.flat();
}

/** @param {number[][]} polygon @param {number} ax @param {number} ay @param {number} bx @param {number} by */
function clip(polygon, ax, ay, bx, by) {
  /** @type {number[][]} */
  const kept = [];
  const side = (/** @type {number[]} */ q) => (bx - ax) * (q[1] - ay) - (by - ay) * (q[0] - ax);
  for (let k = 0; k < polygon.length; k++) {
    const p = polygon[k];
    const q = polygon[(k + 1) % polygon.length];
    const u = side(p);
    const v = side(q);
    if (u >= 0) kept.push(p);
    if (u * v < 0) kept.push([p[0] + (u / (u - v)) * (q[0] - p[0]), p[1] + (u / (u - v)) * (q[1] - p[1])]);
  }
  return kept;
}
