/** Small symmetric matrices: eigenvalues by Jacobi's rotations, and systems that may be singular. */

const SWEEPS = 60;
const RANK = 1e-13;

/**
 * Return eigenvalues, ascending, and eigenvectors (rows) of a symmetric matrix.
 * @param {number[][]} matrix
 * @returns {{values: number[], vectors: number[][]}}
 */
export function eigen(matrix) {
  const m = matrix.length;
  const a = matrix.map((row) => row.slice());
  const v = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let off = 0;
    let size = 0;
    for (let i = 0; i < m; i++) for (let j = 0; j < m; j++) (i === j ? (size += a[i][j] ** 2) : (off += a[i][j] ** 2));
    if (off <= 1e-34 * size || off === 0) break;
    for (let p = 0; p < m; p++) for (let q = p + 1; q < m; q++) rotate(a, v, p, q);
  }
  const order = a.map((_, i) => i).sort((i, j) => a[i][i] - a[j][j]);
  return { values: order.map((i) => a[i][i]), vectors: order.map((i) => v.map((row) => row[i])) };
}

/** @param {number[][]} a @param {number[][]} v @param {number} p @param {number} q */
function rotate(a, v, p, q) {
  if (a[p][q] === 0) return;
  const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let k = 0; k < a.length; k++) {
    const [x, y] = [a[k][p], a[k][q]];
    a[k][p] = c * x - s * y;
    a[k][q] = s * x + c * y;
  }
  for (let k = 0; k < a.length; k++) {
    const [x, y] = [a[p][k], a[q][k]];
    a[p][k] = c * x - s * y;
    a[q][k] = s * x + c * y;
    const [u, w] = [v[k][p], v[k][q]];
    v[k][p] = c * u - s * w;
    v[k][q] = s * u + c * w;
  }
}

/**
 * Solve a positive semidefinite system; where it is singular, for the least solution in columns of equal scale.
 * @param {number[][]} matrix
 * @param {number[]} right
 */
export function solveSemidefinite(matrix, right) {
  const scale = matrix.map((row, i) => Math.sqrt(Math.max(row[i], 1e-300)));
  const scaled = matrix.map((row, i) => row.map((value, j) => value / (scale[i] * scale[j])));
  const { values, vectors } = eigen(scaled);
  const most = values[values.length - 1];
  const solution = new Array(right.length).fill(0);
  vectors.forEach((vector, k) => {
    if (!(values[k] > RANK * most)) return;
    let along = 0;
    for (let j = 0; j < right.length; j++) along += (vector[j] * right[j]) / scale[j];
    for (let j = 0; j < right.length; j++) solution[j] += (vector[j] * along) / values[k];
  });
  return solution.map((value, j) => value / scale[j]);
}

/**
 * Return Xᵗ diag(weights) X / total of rows with their 1 (if any) first.
 * @param {import("./types.js").Features} features @param {number} virtual @param {(i: number) => number} weight @param {number} total
 */
export function gram(features, virtual, weight, total) {
  const { n, p, values } = features;
  const d = p + virtual;
  const sums = Array.from({ length: d }, () => new Array(d).fill(0));
  const row = new Float64Array(d);
  for (let i = 0; i < n; i++) {
    if (virtual) row[0] = 1;
    for (let j = 0; j < p; j++) row[virtual + j] = values[i * p + j];
    const share = weight(i);
    for (let j = 0; j < d; j++) for (let k = 0; k <= j; k++) sums[j][k] += share * row[j] * row[k];
  }
  for (let j = 0; j < d; j++) for (let k = 0; k <= j; k++) sums[k][j] = sums[j][k] /= total;
  return sums;
}
