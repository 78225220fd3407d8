/**
 * The fewest mistakes that any line can make, exactly, by trying every candidate line.
 *
 * A best line can be moved until it passes through two points (through the origin and one point), so these lines
 * and slight rotations of them are the only candidates: points on the line are split at one place along it, or all go
 * to one side. A score of exactly 0 is a mistake for either label. Signs are exact. Cost: O(n³) with an intercept, O(n²) without; finding it is NP-hard as dimension grows.
 */

import { orient } from "./exact.js";

/** @typedef {import("./types.js").Points} Points */

/** @typedef {{mistakes: number, wrong: number[], w: Float64Array, exact: boolean}} Fewest */

const MOST_ROWS = 160;

/**
 * Return a line with the fewest mistakes, which rows it gets wrong, and whether it was found by trying all.
 * @param {Points} points
 * @param {boolean} intercept
 * @returns {Fewest}
 */
export function fewestMistakes(points, intercept) {
  const search = new FewestSearch(points, intercept);
  search.advance(Infinity);
  return search.result();
}

/** The search in slices: `advance` tries some more lines. */
export class FewestSearch {
  /** @param {Points} points @param {boolean} intercept */
  constructor(points, intercept) {
    this.points = points;
    this.intercept = intercept;
    this.signs = Int8Array.from(points.label, (label) => (label === 1 ? 1 : -1));
    this.best = constantLine(points, this.signs, intercept);
    this.stride = Math.max(1, Math.ceil(points.n / MOST_ROWS));
    this.i = 0;
    this.j = this.stride;
  }

  /** Try lines for about `visits` visits of points; return whether all have been tried. @param {number} visits */
  advance(visits) {
    const { points, signs, best, stride } = this;
    const { n } = points;
    for (let work = 0; this.i < n && best.mistakes > 0; work += 2 * n) {
      if (work >= visits) return false;
      if (!this.intercept) {
        tryRay(points, signs, this.i, best);
        this.i += stride;
      } else if (this.j >= n) {
        this.i += stride;
        this.j = this.i + stride;
      } else {
        tryLine(points, signs, this.i, this.j, best);
        this.j += stride;
      }
    }
    return true;
  }

  /** @returns {Fewest} */
  result() {
    const wrong = rowsWrong(this.points, this.signs, this.best.w, this.intercept);
    return { mistakes: wrong.length, wrong, w: this.best.w, exact: this.stride === 1 };
  }
}

/** @typedef {{mistakes: number, w: Float64Array}} Best */

/** @param {Points} points @param {Int8Array} signs @param {boolean} intercept @returns {Best} */
function constantLine(points, signs, intercept) {
  let plus = 0;
  for (const sign of signs) if (sign > 0) plus++;
  if (!intercept) return { mistakes: points.n, w: new Float64Array(2) };
  const most = plus >= points.n - plus;
  return { mistakes: most ? points.n - plus : plus, w: Float64Array.of(most ? 1 : -1, 0, 0) };
}

/** @param {Points} points @param {Int8Array} signs @param {number} i @param {number} j @param {Best} best */
function tryLine(points, signs, i, j, best) {
  const { x1, x2, n } = points;
  const [ax, ay, bx, by] = [x1[i], x2[i], x1[j], x2[j]];
  if (ax === bx && ay === by) return;
  let [leftPlus, leftMinus, rightPlus, rightMinus] = [0, 0, 0, 0];
  const on = [];
  for (let k = 0; k < n; k++) {
    const side = orient(ax, ay, bx, by, x1[k], x2[k]);
    if (side === 0) on.push(k);
    else if (side > 0) signs[k] > 0 ? leftPlus++ : leftMinus++;
    else signs[k] > 0 ? rightPlus++ : rightMinus++;
  }
  const flat = Math.abs(bx - ax) >= Math.abs(by - ay);
  const along = (/** @type {number} */ k) => (flat ? (x1[k] - ax) / (bx - ax) : (x2[k] - ay) / (by - ay));
  on.sort((k, l) => along(k) - along(l));
  for (const positive of [1, -1]) {
    const off = positive > 0 ? leftMinus + rightPlus : leftPlus + rightMinus;
    for (const firstLeft of [true, false]) trySplits(points, signs, on, along, off, positive, firstLeft, [ax, ay, bx, by], best);
  }
}

/**
 * Try every split of the points on a line: those before it to one side, the others to the other.
 * @param {Points} points @param {Int8Array} signs @param {number[]} on @param {(k: number) => number} along @param {number} off
 * @param {number} positive 1 if + is on the left @param {boolean} firstLeft @param {number[]} line @param {Best} best
 */
function trySplits(points, signs, on, along, off, positive, firstLeft, line, best) {
  let errors = off;
  for (const k of on) if ((firstLeft ? -positive : positive) !== signs[k]) errors++;
  for (let cut = 0; cut <= on.length; cut++) {
    if (cut > 0) errors += (firstLeft ? positive : -positive) === signs[on[cut - 1]] ? -1 : 1;
    const between = cut > 0 && cut < on.length && along(on[cut - 1]) === along(on[cut]);
    if (errors < best.mistakes && !between) realise(points, signs, on, along, cut, positive, firstLeft, line, errors, best);
  }
}

/**
 * Rotate a line slightly about a place between two points on it, such that it makes the counted number of mistakes.
 * @param {Points} points @param {Int8Array} signs @param {number[]} on @param {(k: number) => number} along @param {number} cut
 * @param {number} positive @param {boolean} firstLeft @param {number[]} line @param {number} errors @param {Best} best
 */
function realise(points, signs, on, along, cut, positive, firstLeft, line, errors, best) {
  const [ax, ay, bx, by] = line;
  const [dx, dy] = [bx - ax, by - ay];
  const first = along(on[0]);
  const last = along(on[on.length - 1]);
  const span = Math.max(last - first, 1);
  const pivot = cut === 0 ? first - span : cut === on.length ? last + span : (along(on[cut - 1]) + along(on[cut])) / 2;
  const [px, py] = [ax + pivot * dx, ay + pivot * dy];
  for (let hair = 0.25; hair > 1e-13; hair /= 4) {
    const turn = firstLeft ? -hair : hair;
    const [ux, uy] = [dx + turn * dy, dy - turn * dx];
    const w = Float64Array.of(0, -positive * uy, positive * ux);
    w[0] = -(w[1] * px + w[2] * py);
    const wrong = rowsWrong(points, signs, w, true).length;
    if (wrong < best.mistakes) [best.mistakes, best.w] = [wrong, w];
    if (wrong <= errors) return;
  }
}

/** @param {Points} points @param {Int8Array} signs @param {number} i @param {Best} best */
function tryRay(points, signs, i, best) {
  const [x, y] = [points.x1[i], points.x2[i]];
  if (x === 0 && y === 0) return;
  for (const turn of [0, 1, -1]) {
    for (const positive of [1, -1]) {
      for (let hair = 0.25; hair > 1e-13; hair /= 16) {
        const w = Float64Array.of(positive * (-y + turn * hair * x), positive * (x + turn * hair * y));
        const wrong = rowsWrong(points, signs, w, false).length;
        if (wrong < best.mistakes) [best.mistakes, best.w] = [wrong, w];
        if (!turn) break;
      }
    }
  }
}

/** @param {Points} points @param {Int8Array} signs @param {Float64Array} w @param {boolean} intercept */
function rowsWrong(points, signs, w, intercept) {
  const wrong = [];
  const at = intercept ? 1 : 0;
  for (let i = 0; i < points.n; i++) {
    const score = points.x1[i] * w[at] + points.x2[i] * w[at + 1] + (intercept ? w[0] : 0);
    if (!(signs[i] * score > 0)) wrong.push(i);
  }
  return wrong;
}
