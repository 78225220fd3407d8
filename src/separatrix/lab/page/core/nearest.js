/**
 * The point of a convex hull nearest to the origin (Wolfe 1976), which is the widest margin through the origin.
 *
 * With rows z = y·x and x* nearest, the unit vector w* along x* has z·w* ≥ ‖x*‖ = γ on every row, and no unit vector has more. Each
 * round adds the row that is least along x and moves to the nearest point of the rows' affine hull, dropping rows whose
 * share falls to 0. Cost: one pass over the candidates per round, and a solve of at most d + 1 unknowns.
 */

const ROUNDS = 400;
const RELATIVE = 1e-14;

/**
 * @typedef {object} Nearest
 * @property {Float64Array} x           nearest point, (d)
 * @property {number} gamma             least of z·x/‖x‖ over the candidates (≤ 0: none found)
 * @property {number} upper             ‖x‖, which no margin exceeds
 * @property {number[]} support         candidates that x is a mean of
 * @property {number[]} shares
 */

/**
 * @param {Float64Array} z candidates, row by row, k × d
 * @param {number} k
 * @param {number} d
 * @returns {Nearest}
 */
export function nearestPoint(z, k, d) {
  let first = 0;
  let least = Infinity;
  for (let i = 0; i < k; i++) {
    const square = dot(z, i * d, z, i * d, d);
    if (square < least) {
      least = square;
      first = i;
    }
  }
  let support = [first];
  let shares = [1];
  let x = z.slice(first * d, first * d + d);
  let lowest = -Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const square = dot(x, 0, x, 0, d);
    let worst = -1;
    lowest = Infinity;
    for (let i = 0; i < k; i++) {
      const along = dot(z, i * d, x, 0, d);
      if (along < lowest) {
        lowest = along;
        worst = i;
      }
    }
    if (square === 0 || lowest >= square * (1 - RELATIVE) || support.includes(worst)) break;
    const before = { support, shares, x, square };
    support = [...support, worst];
    shares = [...shares, 0];
    for (;;) {
      const affine = affineShares(z, support, d);
      if (!affine) return finish(before.x, before.support, before.shares, z, k, d);
      if (affine.every((share) => share > 0)) {
        shares = affine;
        break;
      }
      let step = 1;
      affine.forEach((share, j) => {
        if (share <= 0) step = Math.min(step, shares[j] / (shares[j] - share));
      });
      const moved = shares.map((share, j) => share + step * (affine[j] - share));
      const kept = moved.map((share, j) => j).filter((j) => moved[j] > 1e-15 && !(affine[j] <= 0 && moved[j] <= 1e-12));
      if (kept.length === support.length) kept.splice(moved.indexOf(Math.min(...moved)), 1);
      support = kept.map((j) => support[j]);
      shares = kept.map((j) => moved[j]);
      const total = shares.reduce((sum, share) => sum + share, 0);
      shares = shares.map((share) => share / total);
      if (support.length === 1) break;
    }
    x = combine(z, support, shares, d);
    if (!(dot(x, 0, x, 0, d) < before.square)) return finish(before.x, before.support, before.shares, z, k, d);
  }
  return finish(x, support, shares, z, k, d);
}

/** @param {Float64Array} x @param {number[]} support @param {number[]} shares @param {Float64Array} z @param {number} k @param {number} d @returns {Nearest} */
function finish(x, support, shares, z, k, d) {
  const upper = Math.sqrt(dot(x, 0, x, 0, d));
  let lowest = Infinity;
  for (let i = 0; i < k; i++) lowest = Math.min(lowest, dot(z, i * d, x, 0, d));
  return { x, gamma: upper > 0 ? lowest / upper : 0, upper, support, shares };
}

/** @param {ArrayLike<number>} a @param {number} i @param {ArrayLike<number>} b @param {number} j @param {number} d */
function dot(a, i, b, j, d) {
  let sum = 0;
  for (let k = 0; k < d; k++) sum += a[i + k] * b[j + k];
  return sum;
}

/** @param {Float64Array} z @param {number[]} support @param {number[]} shares @param {number} d */
function combine(z, support, shares, d) {
  const x = new Float64Array(d);
  support.forEach((i, j) => {
    for (let c = 0; c < d; c++) x[c] += shares[j] * z[i * d + c];
  });
  return x;
}

/**
 * Return the shares, of sum 1, of the point of the rows' affine hull nearest to the origin; null if they depend.
 * @param {Float64Array} z @param {number[]} support @param {number} d
 */
function affineShares(z, support, d) {
  const m = support.length;
  const base = support[0] * d;
  const matrix = [];
  for (let i = 1; i < m; i++) {
    const row = [];
    for (let j = 1; j < m; j++) row.push(difference(z, support[i] * d, base, support[j] * d, base, d));
    row.push(-toBase(z, support[i] * d, base, d));
    matrix.push(row);
  }
  const solved = solve(matrix);
  if (!solved) return null;
  const rest = solved.reduce((sum, share) => sum + share, 0);
  return [1 - rest, ...solved];
}

/** @param {Float64Array} z @param {number} i @param {number} a @param {number} j @param {number} b @param {number} d */
function difference(z, i, a, j, b, d) {
  let sum = 0;
  for (let c = 0; c < d; c++) sum += (z[i + c] - z[a + c]) * (z[j + c] - z[b + c]);
  return sum;
}

/** @param {Float64Array} z @param {number} i @param {number} base @param {number} d */
function toBase(z, i, base, d) {
  let sum = 0;
  for (let c = 0; c < d; c++) sum += (z[i + c] - z[base + c]) * z[base + c];
  return sum;
}

/**
 * Solve a small system, its right side in the last column, by elimination with pivots; null if it is singular.
 * @param {number[][]} rows
 * @returns {number[]|null}
 */
function solve(rows) {
  const m = rows.length;
  for (let c = 0; c < m; c++) {
    let pivot = c;
    for (let r = c + 1; r < m; r++) if (Math.abs(rows[r][c]) > Math.abs(rows[pivot][c])) pivot = r;
    const size = rows.reduce((most, row) => Math.max(most, Math.abs(row[c])), 0);
    if (!(Math.abs(rows[pivot][c]) > 1e-14 * size) || !(Math.abs(rows[pivot][c]) > 0)) return null;
    [rows[c], rows[pivot]] = [rows[pivot], rows[c]];
    for (let r = c + 1; r < m; r++) {
      const factor = rows[r][c] / rows[c][c];
      for (let j = c; j <= m; j++) rows[r][j] -= factor * rows[c][j];
    }
  }
  const x = new Array(m).fill(0);
  for (let c = m - 1; c >= 0; c--) {
    let sum = rows[c][m];
    for (let j = c + 1; j < m; j++) sum -= rows[c][j] * x[j];
    x[c] = sum / rows[c][c];
  }
  return x.every(Number.isFinite) ? x : null;
}
