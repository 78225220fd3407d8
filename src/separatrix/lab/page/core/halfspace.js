/**
 * A separating line by linear programming: the widest margin with |w₁| ≤ 1/s₁ and |w₂| ≤ 1/s₂, s the columns' sizes.
 *
 *     maximise t    subject to    yᵢ (w·xᵢ + b) ≥ t for all rows
 *
 * For fixed w the best t is half the gap between the classes along w (through the origin, the least y w·x): concave and
 * piecewise linear in w, so it is largest on the boundary of the box, at a corner or square to an edge of a hull. Those
 * are all tried. Sizes are rounded to powers of two, as the library does, so that units do not matter. Cost: one hull and
 * one pass over its vertices per edge.
 */

import { hull } from "./hull.js";

/** @typedef {import("./types.js").Points} Points */

/**
 * Return weights with yᵢ (w·xᵢ + b) ≥ 1 and the t of the program; null if no line separates the points.
 * @param {Points} points
 * @param {boolean} intercept
 * @returns {{w: Float64Array, t: number}|null}
 */
export function linearProgram(points, intercept) {
  const sizes = [points.x1, points.x2].map((column) => columnSize(column, intercept));
  const rays = vertices(points, intercept);
  let best = { t: 0, u: 0, v: 0 };
  for (const [u, v] of directions(rays, sizes)) {
    const scale = 1 / Math.max(Math.abs(u) * sizes[0], Math.abs(v) * sizes[1]);
    const t = gapAlong(rays, u * scale, v * scale, intercept).t;
    if (t > best.t) best = { t, u: u * scale, v: v * scale };
  }
  if (!(best.t > 0)) return null;
  const { middle } = gapAlong(rays, best.u, best.v, intercept);
  const w = [-middle / best.t, best.u / best.t, best.v / best.t];
  return { w: Float64Array.from(intercept ? w : w.slice(1)), t: best.t };
}

/** Return the root mean square of a column, about its mean if there is an intercept, as a power of two. @param {Float64Array} column @param {boolean} centred */
function columnSize(column, centred) {
  let mean = 0;
  for (const value of column) mean += centred ? value / column.length : 0;
  let square = 0;
  for (const value of column) square += ((value - mean) * (value - mean)) / column.length;
  return square > 0 ? 2 ** Math.round(0.5 * Math.log2(square)) : 1;
}

/** @typedef {{x: number[], y: number[]}} Outline */

/** Return the hulls' vertices, of each class or, through the origin, of the reflected points. @param {Points} points @param {boolean} intercept @returns {Outline[]} */
function vertices(points, intercept) {
  const sign = Float64Array.from(points.label, (label) => (label === 1 ? 1 : -1));
  const x = intercept ? points.x1 : points.x1.map((value, i) => sign[i] * value);
  const y = intercept ? points.x2 : points.x2.map((value, i) => sign[i] * value);
  const all = Array.from(points.x1.keys());
  const groups = intercept ? [all.filter((i) => sign[i] > 0), all.filter((i) => sign[i] < 0)] : [all];
  return groups.map((rows) => {
    const outer = Array.from(hull(x, y, rows));
    return { x: outer.map((row) => x[row]), y: outer.map((row) => y[row]) };
  });
}

/** Return the candidate directions. @param {Outline[]} outlines @param {number[]} sizes @returns {number[][]} */
function directions(outlines, sizes) {
  const [a, b] = sizes.map((size) => 1 / size);
  const found = [[a, b], [a, -b], [-a, b], [-a, -b]];
  for (const { x, y } of outlines) {
    for (let k = 0; k < x.length; k++) {
      const j = (k + 1) % x.length;
      const [u, v] = [y[j] - y[k], x[k] - x[j]];
      if (u || v) found.push([u, v], [-u, -v]);
    }
  }
  return found;
}

/** Return t and the middle between the classes along a direction. @param {Outline[]} outlines @param {number} u @param {number} v @param {boolean} intercept */
function gapAlong(outlines, u, v, intercept) {
  const along = outlines.map(({ x, y }) => x.map((value, k) => u * value + v * y[k]));
  const low = Math.min(...along[0]);
  if (!intercept) return { t: low, middle: 0 };
  const high = Math.max(...along[1]);
  return { t: (low - high) / 2, middle: (low + high) / 2 };
}
