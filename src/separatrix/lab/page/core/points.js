/** Columns of labelled points; every change returns new columns, so that a state once made stays as it is. */

/** @typedef {import("./types.js").Points} Points */

export const MOST_ROWS = 50000;

/**
 * Return columns of rows [x1, x2, label].
 * @param {ArrayLike<ArrayLike<number>>} rows
 * @returns {Points}
 */
export function makePoints(rows) {
  const n = rows.length;
  const x1 = new Float64Array(n);
  const x2 = new Float64Array(n);
  const label = new Int8Array(n);
  for (let i = 0; i < n; i++) {
    x1[i] = rows[i][0];
    x2[i] = rows[i][1];
    label[i] = rows[i][2];
  }
  return fromColumns(x1, x2, label);
}

/**
 * @param {Float64Array} x1
 * @param {Float64Array} x2
 * @param {Int8Array} label
 * @returns {Points}
 */
export function fromColumns(x1, x2, label) {
  let plus = 0;
  let minus = 0;
  let third = 0;
  for (let i = 0; i < label.length; i++) {
    if (label[i] === 1) plus = 1;
    else if (label[i] === -1) minus = 1;
    else third = 1;
  }
  return { n: label.length, x1, x2, label, classes: plus + minus + third };
}

/** @param {Points} points @returns {[number, number, number][]} */
export function pointRows(points) {
  /** @type {[number, number, number][]} */
  const rows = [];
  for (let i = 0; i < points.n; i++) rows.push([points.x1[i], points.x2[i], points.label[i]]);
  return rows;
}

/** @param {Points} points @param {number} i @param {number} x1 @param {number} x2 @returns {Points} */
export function movePoint(points, i, x1, x2) {
  const moved = { ...points, x1: points.x1.slice(), x2: points.x2.slice() };
  moved.x1[i] = x1;
  moved.x2[i] = x2;
  return moved;
}

/** Turn + into − and back (a third class into +). @param {Points} points @param {number} i @returns {Points} */
export function flipPoint(points, i) {
  const label = points.label.slice();
  label[i] = label[i] === 1 ? -1 : 1;
  return fromColumns(points.x1, points.x2, label);
}

/** @param {Points} points @param {number} x1 @param {number} x2 @param {number} label @returns {Points} */
export function addPoint(points, x1, x2, label) {
  return makePoints([...pointRows(points), [x1, x2, label]]);
}

/** @param {Points} points @param {number} i @returns {Points} */
export function removePoint(points, i) {
  return makePoints(pointRows(points).filter((_, k) => k !== i));
}

/** Return the nearest tenth. @param {number} x */
export function snap(x) {
  return Math.round(x * 10) / 10 + 0;
}

/** Tell whether two data sets have the same rows in the same order. @param {Points} a @param {Points} b */
export function samePoints(a, b) {
  if (a.n !== b.n) return false;
  for (let i = 0; i < a.n; i++) {
    if (a.x1[i] !== b.x1[i] || a.x2[i] !== b.x2[i] || a.label[i] !== b.label[i]) return false;
  }
  return true;
}

/** Return how many rows differ, or Infinity if one has more rows. @param {Points} a @param {Points} b */
export function countChanged(a, b) {
  if (a.n !== b.n) return Infinity;
  let changed = 0;
  for (let i = 0; i < a.n; i++) {
    if (a.x1[i] !== b.x1[i] || a.x2[i] !== b.x2[i] || a.label[i] !== b.label[i]) changed++;
  }
  return changed;
}
