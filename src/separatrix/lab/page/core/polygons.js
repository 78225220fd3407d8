/**
 * The relative position of two convex polygons, points and segments included, decided exactly.
 *
 * The polygons A and B are apart if and only if a line along an edge of one has the other strictly beyond it, since the
 * edges of A − B are edges of A and of B; they touch if such a line exists that is not strict and that does not hold
 * both; otherwise their relative interiors meet. If all of A and B is on one line, comparing coordinates decides.
 * Cost: one orientation per edge and vertex of the other polygon.
 */

import { orient } from "./exact.js";

/**
 * @typedef {object} Relation
 * @property {"apart"|"touch"|"cross"} how
 * @property {[number, number, number, number][]} lines   p and q of lines that part them; A is on the left or on it
 * @property {[number, number]|null} place                where single vertices touch, or two collinear sets
 * @property {[number, number]|null} axis                 if all is on one line: the direction from B to A along x or y
 */

/** @typedef {{x: Float64Array, y: Float64Array}} Polygon */

/**
 * @param {Polygon} a counter-clockwise
 * @param {Polygon} b counter-clockwise
 * @returns {Relation}
 */
export function relate(a, b) {
  if (a.x.length <= 2 && b.x.length <= 2 && collinear(a, b)) return relateOnLine(a, b);
  /** @type {[number, number, number, number][]} */
  const weak = [];
  for (const own of [a, b]) {
    const other = own === a ? b : a;
    const m = own.x.length;
    for (let k = 0; k < m && m > 1; k++) {
      const j = k + 1 === m ? 0 : k + 1;
      const side = farthestSide(own.x[k], own.y[k], own.x[j], own.y[j], other);
      if (side > 0) continue;
      /** @type {[number, number, number, number]} */
      const line = own === a ? [own.x[k], own.y[k], own.x[j], own.y[j]] : [own.x[j], own.y[j], own.x[k], own.y[k]];
      if (side < 0) return { how: "apart", lines: [line], place: null, axis: null };
      weak.push(line);
    }
  }
  if (!weak.length) return { how: "cross", lines: [], place: null, axis: null };
  const lines = distinctLines(weak);
  return { how: "touch", lines, place: lines.length > 1 ? commonVertex(a, b) : null, axis: null };
}

/** Return the largest sign that the other polygon's vertices have to the left of a line. @param {number} px @param {number} py @param {number} qx @param {number} qy @param {Polygon} other */
function farthestSide(px, py, qx, qy, other) {
  let largest = -1;
  for (let i = 0; i < other.x.length && largest < 1; i++) {
    const side = orient(px, py, qx, qy, other.x[i], other.y[i]);
    if (side > largest) largest = side;
  }
  return largest;
}

/** @param {Polygon} a @param {Polygon} b */
function collinear(a, b) {
  const x = [...a.x, ...b.x];
  const y = [...a.y, ...b.y];
  let k = 1;
  while (k < x.length && x[k] === x[0] && y[k] === y[0]) k++;
  for (let i = k + 1; i < x.length; i++) if (orient(x[0], y[0], x[k], y[k], x[i], y[i])) return false;
  return true;
}

/** @param {Polygon} a @param {Polygon} b @returns {Relation} */
function relateOnLine(a, b) {
  const [a0, a1] = ends(a);
  const [b0, b1] = ends(b);
  const all = [a0, a1, b0, b1];
  const flat = all.every(([x]) => x === a0[0]);
  /** @type {(sign: number) => [number, number]} */
  const axis = (sign) => (flat ? [0, sign] : [sign, 0]);
  const after = order(a0, b1);
  const before = order(b0, a1);
  if (after > 0) return { how: "apart", lines: [], place: null, axis: axis(1) };
  if (before > 0) return { how: "apart", lines: [], place: null, axis: axis(-1) };
  const points = order(a0, a1) === 0 && order(b0, b1) === 0;
  if (points || (after && before)) return { how: "cross", lines: [], place: points ? a0 : null, axis: null };
  return { how: "touch", lines: [], place: after ? b0 : a0, axis: axis(after ? -1 : 1) };
}

/** Return both ends in the order of x, then y. @param {Polygon} polygon @returns {[[number, number], [number, number]]} */
function ends({ x, y }) {
  /** @type {[number, number]} */
  const first = [x[0], y[0]];
  /** @type {[number, number]} */
  const last = [x[x.length - 1], y[y.length - 1]];
  return order(first, last) <= 0 ? [first, last] : [last, first];
}

/** Compare places by x, then y. @param {[number, number]} p @param {[number, number]} q */
function order(p, q) {
  return p[0] < q[0] ? -1 : p[0] > q[0] ? 1 : p[1] < q[1] ? -1 : p[1] > q[1] ? 1 : 0;
}

/** @param {[number, number, number, number][]} lines */
function distinctLines(lines) {
  /** @type {[number, number, number, number][]} */
  const kept = [];
  for (const line of lines) {
    const [px, py, qx, qy] = line;
    const known = kept.some(
      (k) => !orient(k[0], k[1], k[2], k[3], px, py) && !orient(k[0], k[1], k[2], k[3], qx, qy),
    );
    if (!known) kept.push(line);
  }
  return kept;
}

/** @param {Polygon} a @param {Polygon} b @returns {[number, number]|null} */
function commonVertex(a, b) {
  for (let i = 0; i < a.x.length; i++) {
    for (let j = 0; j < b.x.length; j++) if (a.x[i] === b.x[j] && a.y[i] === b.y[j]) return [a.x[i], a.y[i]];
  }
  return null;
}
