/**
 * The smallest proof that two classes overlap: rows of each, weighted, that have one point in common (Radon).
 *
 * Two rows at one place, a row on a segment, two segments that cross, or a row in a triangle. Of those among some rows
 * of each class, the one is taken whose least multiplier is largest. Signs are exact; multipliers are rounded here, and
 * exact in certificates. Through the origin the rows y·x take the part of one class and 0 that of the other.
 */

import { orient } from "./exact.js";

/** @typedef {import("./types.js").Witness} Witness */
/** @typedef {{x: ArrayLike<number>, y: ArrayLike<number>, rows: ArrayLike<number>}} Side  places of rows, by row */

const SECTORS = 8;

/** The determinant in floats. @param {number} ax @param {number} ay @param {number} bx @param {number} by @param {number} cx @param {number} cy */
function area(ax, ay, bx, by, cx, cy) {
  return Math.abs((ax - cx) * (by - cy) - (ay - cy) * (bx - cx));
}

/**
 * Return up to nine rows around a centre: the farthest in each of eight sectors, and the nearest.
 * @param {Side} side @param {number} cx @param {number} cy
 */
function around(side, cx, cy) {
  const { x, y, rows } = side;
  if (rows.length <= SECTORS + 1) return Array.from(rows);
  const farthest = new Array(SECTORS).fill(-1);
  const reach = new Array(SECTORS).fill(-1);
  let nearest = -1;
  let least = Infinity;
  for (let k = 0; k < rows.length; k++) {
    const dx = x[rows[k]] - cx;
    const dy = y[rows[k]] - cy;
    const square = dx * dx + dy * dy;
    const sector = (dx < 0 ? 4 : 0) + (dy < 0 ? 2 : 0) + (Math.abs(dy) > Math.abs(dx) ? 1 : 0);
    if (square > reach[sector]) {
      reach[sector] = square;
      farthest[sector] = rows[k];
    }
    if (square < least) {
      least = square;
      nearest = rows[k];
    }
  }
  return [...new Set([...farthest.filter((row) => row >= 0), nearest])];
}

/** @typedef {{least: number, own: number[], ownShare: number[], other: number[], otherShare: number[], shape: Witness["shape"]}} Meeting */

/**
 * Return the best meeting of some rows of each side; null if none was found among them.
 * @param {Side} a @param {Side} b @param {number[]} some rows of a @param {number[]} others rows of b
 * @returns {Meeting|null}
 */
function bestMeeting(a, b, some, others) {
  /** @type {Meeting|null} */
  let best = null;
  const take = (/** @type {Meeting|null} */ found) => {
    if (found && found.least > (best ? best.least + 1e-12 : 0)) best = found;
  };
  for (const i of some) for (const j of others) if (a.x[i] === b.x[j] && a.y[i] === b.y[j]) take({ least: 1, own: [i], ownShare: [1], other: [j], otherShare: [1], shape: "same place" });
  if (best) return best;
  for (const [own, mine, other, theirs, swap] of /** @type {[Side, number[], Side, number[], boolean][]} */ ([[a, some, b, others, false], [b, others, a, some, true]])) {
    for (const j of theirs) {
      for (let s = 0; s < mine.length; s++) {
        for (let t = s + 1; t < mine.length; t++) {
          take(swapped(onSegment(own, mine[s], mine[t], other, j), swap));
          for (let u = t + 1; u < mine.length; u++) {
            take(swapped(inTriangle(own, mine[s], mine[t], mine[u], other, j, best ? /** @type {Meeting} */ (best).least : 0), swap));
          }
        }
      }
    }
  }
  for (let s = 0; s < some.length; s++) {
    for (let t = s + 1; t < some.length; t++) {
      for (let u = 0; u < others.length; u++) {
        for (let v = u + 1; v < others.length; v++) {
          take(crossing(a, some[s], some[t], b, others[u], others[v], best ? /** @type {Meeting} */ (best).least : 0));
        }
      }
    }
  }
  return best;
}

/** @param {Meeting|null} found @param {boolean} swap @returns {Meeting|null} */
function swapped(found, swap) {
  if (!found || !swap) return found;
  return { ...found, own: found.other, ownShare: found.otherShare, other: found.own, otherShare: found.ownShare };
}

/** @param {Side} a @param {number} i @param {number} j @param {Side} b @param {number} k @returns {Meeting|null} */
function onSegment(a, i, j, b, k) {
  const [px, py, qx, qy, rx, ry] = [a.x[i], a.y[i], a.x[j], a.y[j], b.x[k], b.y[k]];
  const flat = Math.abs(qx - px) >= Math.abs(qy - py);
  const [p, q, r] = flat ? [px, qx, rx] : [py, qy, ry];
  if (!((p < r && r < q) || (q < r && r < p)) || orient(px, py, qx, qy, rx, ry)) return null;
  const share = (q - r) / (q - p);
  return { least: Math.min(share, 1 - share), own: [i, j], ownShare: [share, 1 - share], other: [k], otherShare: [1], shape: "on segment" };
}

/** @param {Side} a @param {number} i @param {number} j @param {number} k @param {Side} b @param {number} r @param {number} least @returns {Meeting|null} */
function inTriangle(a, i, j, k, b, r, least) {
  const [ix, iy, jx, jy, kx, ky, rx, ry] = [a.x[i], a.y[i], a.x[j], a.y[j], a.x[k], a.y[k], b.x[r], b.y[r]];
  const whole = area(ix, iy, jx, jy, kx, ky);
  const u = area(rx, ry, jx, jy, kx, ky) / whole;
  const v = area(ix, iy, rx, ry, kx, ky) / whole;
  const w = area(ix, iy, jx, jy, rx, ry) / whole;
  const worst = Math.min(u, v, w);
  if (!(worst > least) || u + v + w > 1 + 1e-6) return null;
  const turn = orient(ix, iy, jx, jy, kx, ky);
  const inside = turn && orient(rx, ry, jx, jy, kx, ky) === turn && orient(ix, iy, rx, ry, kx, ky) === turn && orient(ix, iy, jx, jy, rx, ry) === turn;
  const sum = u + v + w;
  return inside ? { least: worst, own: [i, j, k], ownShare: [u / sum, v / sum, w / sum], other: [r], otherShare: [1], shape: "triangle" } : null;
}

/** @param {Side} a @param {number} i @param {number} j @param {Side} b @param {number} k @param {number} l @param {number} least @returns {Meeting|null} */
function crossing(a, i, j, b, k, l, least) {
  const [ix, iy, jx, jy, kx, ky, lx, ly] = [a.x[i], a.y[i], a.x[j], a.y[j], b.x[k], b.y[k], b.x[l], b.y[l]];
  const di = area(kx, ky, lx, ly, ix, iy);
  const dj = area(kx, ky, lx, ly, jx, jy);
  const dk = area(ix, iy, jx, jy, kx, ky);
  const dl = area(ix, iy, jx, jy, lx, ly);
  const [si, sk] = [dj / (di + dj), dl / (dk + dl)];
  const worst = Math.min(si, 1 - si, sk, 1 - sk);
  if (!(worst > least)) return null;
  if (orient(kx, ky, lx, ly, ix, iy) * orient(kx, ky, lx, ly, jx, jy) >= 0) return null;
  if (orient(ix, iy, jx, jy, kx, ky) * orient(ix, iy, jx, jy, lx, ly) >= 0) return null;
  return { least: worst, own: [i, j], ownShare: [si, 1 - si], other: [k, l], otherShare: [sk, 1 - sk], shape: "segments" };
}

/**
 * Return the witness that the hulls of two sides meet, or null.
 * @param {Side} a the + rows
 * @param {Side} b the − rows
 * @param {number} cx about where they meet
 * @param {number} cy
 * @param {ArrayLike<number>} hullA
 * @param {ArrayLike<number>} hullB
 * @returns {Witness|null}
 */
export function findWitness(a, b, cx, cy, hullA, hullB) {
  const found = bestMeeting(a, b, around(a, cx, cy), around(b, cx, cy)) ?? bestMeeting(a, b, Array.from(hullA), Array.from(hullB)) ?? bestMeeting(a, b, Array.from(a.rows).slice(0, 40), Array.from(b.rows).slice(0, 40));
  if (!found) return null;
  let x = 0;
  let y = 0;
  found.own.forEach((row, k) => {
    x += found.ownShare[k] * a.x[row];
    y += found.ownShare[k] * a.y[row];
  });
  const shares = [...found.ownShare, ...found.otherShare];
  return { rows: [...found.own, ...found.other], multipliers: shares, exact: [], point: [x, y], shape: found.shape };
}

/**
 * Return the witness that rays surround the origin, or null.
 * @param {Side} rays
 * @returns {Witness|null}
 */
export function findOriginWitness(rays) {
  const zero = { x: [0], y: [0], rows: [0] };
  const everyone = Array.from(rays.rows);
  const found = bestMeeting(rays, zero, around(rays, 0, 0), [0]) ?? bestMeeting(rays, zero, everyone.slice(0, 60), [0]);
  return found && { rows: found.own, multipliers: found.ownShare, exact: [], point: [0, 0], shape: "origin" };
}
