/**
 * Whether a line separates two classes in the plane, decided exactly for any doubles.
 *
 *     separable   every row can be strictly on its own side: the hulls of the classes are apart
 *     quasi       a line has no row on the wrong side, but every such line has some on it: the hulls touch
 *     overlap     any line with no row on the wrong side has all rows on it: the relative interiors of the hulls meet
 *
 * Through the origin the rows y·x play the part of one class and the origin that of the other. Cost: two hulls, and
 * one orientation per edge and vertex of the other hull; the widest margin and the witness are rounded, the verdict
 * never is.
 */

import { orient } from "./exact.js";
import { clipHulls, hull } from "./hull.js";
import { relate } from "./polygons.js";
import { findOriginWitness, findWitness } from "./witness.js";

/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("./types.js").Verdict} Verdict */
/** @typedef {import("./types.js").Margin} Margin */
/** @typedef {import("./polygons.js").Relation} Relation */
/** @typedef {import("./polygons.js").Polygon} Polygon */

const PINNED = 1e-9;
const NONE = new Int32Array(0);

/**
 * Return the verdict of labelled points; a third class counts as −.
 * @param {Points} points
 * @param {boolean} intercept false: only lines through the origin
 * @returns {Verdict}
 */
export function judge(points, intercept) {
  const { x1, x2 } = points;
  const plus = rowsOf(points, true);
  const minus = rowsOf(points, false);
  const hullPlus = hull(x1, x2, plus);
  const hullMinus = hull(x1, x2, minus);
  /** @type {Verdict} */
  const base = { kind: "empty", intercept, direction: null, exactDirection: null, left: [], margin: null, witness: null, hullPlus, hullMinus };
  if (!points.n) return base;
  if (!intercept) return judgeThroughOrigin(points, base);
  if (!plus.length || !minus.length) {
    return { ...base, kind: "one class", direction: Float64Array.of(plus.length ? 1 : -1, 0, 0) };
  }
  const a = polygon(x1, x2, hullPlus);
  const b = polygon(x1, x2, hullMinus);
  const relation = relate(a, b);
  if (relation.how === "apart") {
    const margin = widest(points, a, b, relation);
    return { ...base, kind: "separable", margin, direction: Float64Array.of(margin.b, margin.w1, margin.w2) };
  }
  const [cx, cy] = meetingPlace(points, base, relation, a, b);
  const sides = [plus, minus].map((rows) => ({ x: x1, y: x2, rows }));
  if (relation.how === "cross") {
    const witness = findWitness(sides[0], sides[1], cx, cy, hullPlus, hullMinus);
    return { ...base, kind: "overlap", left: Array.from(points.x1.keys()), witness };
  }
  const left = leftRows(x1, x2, points.n, relation);
  const [own, other] = [plus, minus].map((rows) => ({ x: x1, y: x2, rows: rows.filter((row) => left.includes(row)) }));
  const witness = findWitness(own, other, cx, cy, own.rows, other.rows);
  return { ...base, kind: "quasi", left, witness, direction: touchingDirection(relation, cx, cy) };
}

/** @param {Points} points @param {boolean} positive */
function rowsOf(points, positive) {
  const rows = new Int32Array(points.n);
  let k = 0;
  for (let i = 0; i < points.n; i++) if ((points.label[i] === 1) === positive) rows[k++] = i;
  return rows.slice(0, k);
}

/** @param {ArrayLike<number>} x @param {ArrayLike<number>} y @param {Int32Array} rows @returns {Polygon} */
function polygon(x, y, rows) {
  return { x: Float64Array.from(rows, (row) => x[row]), y: Float64Array.from(rows, (row) => y[row]) };
}

/** @param {Points} points @param {Verdict} base @returns {Verdict} */
function judgeThroughOrigin(points, base) {
  const { n } = points;
  const rows = Int32Array.from({ length: n }, (_, i) => i);
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const sign = points.label[i] === 1 ? 1 : -1;
    x[i] = sign * points.x1[i] + 0;
    y[i] = sign * points.x2[i] + 0;
  }
  const outer = hull(x, y, rows);
  const a = polygon(x, y, outer);
  const relation = relate(a, { x: Float64Array.of(0), y: Float64Array.of(0) });
  if (relation.how === "apart") {
    const margin = widestThroughOrigin(points, a, relation);
    return { ...base, kind: "separable", margin, direction: Float64Array.of(margin.w1, margin.w2) };
  }
  const witness = findOriginWitness({ x, y, rows });
  if (relation.how === "cross") return { ...base, kind: "overlap", left: Array.from(rows), witness };
  const left = leftRows(x, y, n, relation);
  const direction = touchingDirection(relation, 0, 0).slice(1);
  return { ...base, kind: "quasi", left, direction, witness: findOriginWitness({ x, y, rows: left }) ?? witness };
}

/**
 * Return the rows that lie on every separating line.
 * @param {ArrayLike<number>} x @param {ArrayLike<number>} y @param {number} n @param {Relation} relation
 */
function leftRows(x, y, n, relation) {
  const left = [];
  const [line] = relation.lines;
  for (let i = 0; i < n; i++) {
    const on = relation.place ? x[i] === relation.place[0] && y[i] === relation.place[1] : !orient(line[0], line[1], line[2], line[3], x[i], y[i]);
    if (on) left.push(i);
  }
  return left;
}

/**
 * Return about where two hulls meet.
 * @param {Points} points @param {Verdict} verdict @param {Relation} relation @param {Polygon} a @param {Polygon} b
 * @returns {[number, number]}
 */
function meetingPlace(points, verdict, relation, a, b) {
  if (relation.place) return relation.place;
  const shared = clipHulls(points, verdict);
  if (shared.length) return mean(shared.filter((_, k) => k % 2 === 0), shared.filter((_, k) => k % 2 === 1));
  const [p, q] = [mean(a.x, a.y), mean(b.x, b.y)];
  return [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2];
}

/** @param {ArrayLike<number>} x @param {ArrayLike<number>} y @returns {[number, number]} */
function mean(x, y) {
  let [sx, sy] = [0, 0];
  for (let k = 0; k < x.length; k++) {
    sx += x[k] / x.length;
    sy += y[k] / x.length;
  }
  return [sx, sy];
}

/**
 * Return (b, w1, w2), ‖w‖ = 1, of a line with no row on the wrong side, rounded.
 * @param {Relation} relation @param {number} cx @param {number} cy
 */
function touchingDirection(relation, cx, cy) {
  let [w1, w2] = relation.axis ?? [0, 0];
  let [px, py] = [cx, cy];
  for (const [x, y, u, v] of relation.lines) {
    const length = Math.hypot(u - x, v - y) || 1;
    w1 -= (v - y) / length;
    w2 += (u - x) / length;
    if (!relation.place) [px, py] = [x, y];
  }
  const norm = Math.hypot(w1, w2) || 1;
  [w1, w2] = [w1 / norm, w2 / norm];
  return Float64Array.of(-(w1 * px + w2 * py) + 0, w1, w2);
}

/**
 * Return the widest margin between hulls that are apart, by the nearest of all vertex–edge pairs.
 * @param {Points} points @param {Polygon} a @param {Polygon} b @param {Relation} relation
 * @returns {Margin}
 */
function widest(points, a, b, relation) {
  const best = nearestPair(a, b);
  const [p, q] = [best.p, best.q];
  let [w1, w2] = [p[0] - q[0], p[1] - q[1]];
  const distance = Math.hypot(w1, w2);
  if (distance > 0 && Number.isFinite(distance)) [w1, w2] = [w1 / distance, w2 / distance];
  else [, w1, w2] = touchingDirection(relation, p[0], p[1]);
  const b0 = -(w1 * (p[0] / 2 + q[0] / 2) + w2 * (p[1] / 2 + q[1] / 2)) + 0;
  return pinned(points, { gamma: distance / 2, b: b0, w1, w2, near1: [p[0], p[1]], near2: [q[0], q[1]] });
}

/**
 * Return the nearest points of two polygons; beyond 10^±100 by way of a unit, a power of two, in which squares neither overflow nor vanish.
 * @param {Polygon} a @param {Polygon} b
 */
function nearestPair(a, b) {
  const best = { square: Infinity, p: [0, 0], q: [0, 0] };
  const most = [a.x, a.y, b.x, b.y].reduce((size, column) => column.reduce((each, value) => Math.max(each, Math.abs(value)), size), 0);
  const unit = most > 0 && (most > 1e100 || most < 1e-100) ? 2 ** Math.floor(Math.log2(most)) : 1;
  const [c, d] = unit === 1 ? [a, b] : [a, b].map(({ x, y }) => ({ x: x.map((value) => value / unit), y: y.map((value) => value / unit) }));
  pairUp(c, d, best, false);
  pairUp(d, c, best, true);
  return { p: best.p.map((value) => value * unit), q: best.q.map((value) => value * unit) };
}

/**
 * Keep the nearest pair of a vertex of one polygon and a point of the other; p belongs to the + class.
 * @param {Polygon} vertices @param {Polygon} edges @param {{square: number, p: number[], q: number[]}} best @param {boolean} swap
 */
function pairUp(vertices, edges, best, swap) {
  const m = edges.x.length;
  for (let i = 0; i < vertices.x.length; i++) {
    for (let k = 0; k < (m === 2 ? 1 : m); k++) {
      const j = (k + 1) % m;
      const [x, y] = [vertices.x[i], vertices.y[i]];
      const [u, v] = nearestOn(edges.x[k], edges.y[k], edges.x[j], edges.y[j], x, y);
      const square = (x - u) * (x - u) + (y - v) * (y - v);
      if (square >= best.square) continue;
      best.square = square;
      best.p = swap ? [u, v] : [x, y];
      best.q = swap ? [x, y] : [u, v];
    }
  }
}

/** Return the point of a segment nearest to (x, y). @param {number} ax @param {number} ay @param {number} bx @param {number} by @param {number} x @param {number} y */
function nearestOn(ax, ay, bx, by, x, y) {
  const [dx, dy] = [bx - ax, by - ay];
  const square = dx * dx + dy * dy;
  const share = square > 0 ? ((x - ax) * dx + (y - ay) * dy) / square : 0;
  if (!(share > 0)) return [ax, ay];
  if (share >= 1) return [bx, by];
  return [ax + share * dx, ay + share * dy];
}

/**
 * @param {Points} points @param {Polygon} a @param {Relation} relation
 * @returns {Margin}
 */
function widestThroughOrigin(points, a, relation) {
  const best = nearestPair(a, { x: Float64Array.of(0), y: Float64Array.of(0) });
  const distance = Math.hypot(best.p[0], best.p[1]);
  let [w1, w2] = [best.p[0] / distance, best.p[1] / distance];
  if (!(distance > 0) || !Number.isFinite(distance)) [, w1, w2] = touchingDirection(relation, 0, 0);
  const margin = pinned(points, { gamma: distance, b: 0, w1, w2, near1: [0, 0], near2: [0, 0] });
  const pin = margin.pins[0] ?? 0;
  const height = w1 * points.x1[pin] + w2 * points.x2[pin];
  margin.near1 = [points.x1[pin], points.x2[pin]];
  margin.near2 = [points.x1[pin] - height * w1, points.x2[pin] - height * w2];
  return margin;
}

/**
 * Add the rows at the margin.
 * @param {Points} points @param {Omit<Margin, "pins">} margin @returns {Margin}
 */
function pinned(points, margin) {
  const pins = [];
  const slack = PINNED * margin.gamma + 1e-13 * (Math.abs(margin.b) + margin.gamma);
  for (let i = 0; i < points.n; i++) {
    const score = margin.w1 * points.x1[i] + margin.w2 * points.x2[i] + margin.b;
    if (Math.abs(Math.abs(score) - margin.gamma) <= slack) pins.push(i);
  }
  return { ...margin, pins };
}

/** The empty verdict, for rows without one. @param {boolean} intercept @returns {Verdict} */
export function noVerdict(intercept) {
  return { kind: "undecided", intercept, direction: null, exactDirection: null, left: [], margin: null, witness: null, hullPlus: NONE, hullMinus: NONE };
}
