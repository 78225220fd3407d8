/**
 * Separability in any number of columns, exactly: rays z = y·[1, x] as integers, and a proof either way.
 *
 * Floats propose, integers decide. The hull's point nearest to the origin proposes a direction, whose signs are then taken
 * exactly; or else rows that cancel, whose multipliers are then solved for exactly. Rows that cancel lie at 0 of every
 * separating direction, so their span is divided out and the rest is decided again (facial reduction): if it is
 * separable the verdict is quasi, if nothing is left it is overlap. Cost: a pass in integers per round, at most one round
 * per column.
 */

import { asIntegers, bigSign } from "./exact.js";
import { nearestPoint } from "./nearest.js";
import { bigDot, combination, echelon, nullSpace, primitive } from "./rational.js";

/** @typedef {import("./types.js").Features} Features */

/**
 * @typedef {object} RayProof
 * @property {"separable"|"quasi"|"overlap"|"undecided"} kind
 * @property {bigint[]|null} direction        z·direction ≥ 0 on all rays, and > 0 on those not left
 * @property {number[]} left                  rays that no direction separates
 * @property {{row: number, multiplier: bigint}[]} cancel   Σ multiplier·z = 0, spanning all that are left
 * @property {bigint[][]} rays
 */

const NEAR = 12;
const ATTEMPTS = 6;

/** Return the rays of rows as integers. @param {Features} features @param {boolean} intercept @returns {bigint[][]} */
export function integerRays(features, intercept) {
  const { n, p, values, signs } = features;
  const { integers } = asIntegers(intercept ? [...values, 1] : values);
  const one = intercept ? integers[integers.length - 1] : 0n;
  return Array.from({ length: n }, (_, i) => {
    const row = integers.slice(i * p, i * p + p);
    if (intercept) row.unshift(one);
    return signs[i] > 0 ? row : row.map((entry) => -entry);
  });
}

/**
 * Decide whether some rays can be separated from 0.
 * @param {bigint[][]} rays
 * @param {number} width
 * @returns {RayProof}
 */
export function decideRays(rays, width) {
  let normals = identity(width);
  /** @type {{row: number, multiplier: bigint}[]} */
  let cancel = [];
  for (let round = 0; round <= width; round++) {
    const images = rays.map((ray) => normals.map((normal) => bigDot(normal, ray)));
    const rest = images.map((_, i) => i).filter((i) => images[i].some((entry) => entry !== 0n));
    const left = images.map((_, i) => i).filter((i) => images[i].every((entry) => entry === 0n));
    if (!rest.length) return { kind: "overlap", direction: null, left, cancel, rays };
    const found = separateOrCancel(rest.map((i) => images[i]));
    if (!found) break;
    if (found.direction) {
      const direction = timesRows(found.direction, normals);
      return { kind: left.length ? "quasi" : "separable", direction: primitive(direction), left, cancel, rays };
    }
    const circuit = found.circuit.map(({ row, multiplier }) => ({ row: rest[row], multiplier }));
    cancel = joined(cancel, circuit, rays);
    normals = nullSpace(cancel.map(({ row }) => rays[row]), width).basis;
  }
  return { kind: "undecided", direction: null, left: [], cancel: [], rays };
}

/** Return Σ factors_k rows_k. @param {bigint[]} factors @param {bigint[][]} rows */
function timesRows(factors, rows) {
  return rows[0].map((_, j) => rows.reduce((sum, row, k) => sum + factors[k] * row[j], 0n));
}

/** @typedef {{row: number, multiplier: bigint}[]} Circuit */

/**
 * Return a direction above 0 on all vectors, or some that cancel; null if floats propose neither. Where vectors lie nearly
 * in a plane, floats are more accurate in coordinates in which some of the vectors are the axes.
 * @param {bigint[][]} vectors none of them 0
 * @returns {{direction: bigint[], circuit: Circuit}|{direction: null, circuit: Circuit}|null}
 */
function separateOrCancel(vectors) {
  const width = vectors[0].length;
  let axes = identity(width);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const seen = vectors.map((vector) => axes.map((axis) => bigDot(axis, vector)));
    const bits = columnBits(seen);
    const floats = asFloats(seen, bits);
    const found = nearestPoint(floats, vectors.length, width);
    const direction = exactDirection(found.x, bits, seen);
    if (direction) return { direction: timesRows(direction, axes), circuit: [] };
    const circuit = findCircuit(found, floats, seen);
    if (circuit) return { direction: null, circuit };
    const first = attempt % 2 ? vectors.map((_, i) => vectors.length - 1 - i) : found.support;
    axes = axesOf([...first.map((i) => vectors[i]), ...vectors], width);
  }
  return null;
}

/** Return rows A such that A v are the coordinates of v, times a positive factor, in a basis of the vectors. @param {bigint[][]} vectors @param {number} width */
function axesOf(vectors, width) {
  const { from } = echelon(vectors);
  const missing = nullSpace(vectors, width).basis;
  const basis = [...from.map((k) => vectors[k]), ...missing];
  const solved = identity(width).map((unit) => /** @type {{coefficients: bigint[], scale: bigint}} */ (combination(basis, unit)));
  const whole = solved.reduce((product, { scale }) => product * scale, 1n);
  return basis.map((_, j) => solved.map(({ coefficients, scale }) => coefficients[j] * (whole / scale)));
}

/** @param {number} width @returns {bigint[][]} */
function identity(width) {
  return Array.from({ length: width }, (_, i) => Array.from({ length: width }, (__, j) => (i === j ? 1n : 0n)));
}

/** Return how many bits a number has, to within four. @param {bigint} value */
function bitsOf(value) {
  return value ? (value < 0n ? -value : value).toString(16).length * 4 : 0;
}

/** Return how many bits each column of some vectors has. @param {bigint[][]} vectors */
function columnBits(vectors) {
  return vectors[0].map((_, j) => vectors.reduce((bits, vector) => Math.max(bits, bitsOf(vector[j])), 0));
}

/** Return vectors as floats of length 1, columns first scaled to like size, row by row. @param {bigint[][]} vectors @param {number[]} bits per column */
function asFloats(vectors, bits) {
  const d = vectors[0].length;
  const floats = new Float64Array(vectors.length * d);
  vectors.forEach((vector, i) => {
    const values = vector.map((entry, j) => {
      const excess = Math.max(0, bitsOf(entry) - 1000);
      return Number(entry >> BigInt(excess)) * 2 ** Math.max(-1070, excess - bits[j] + Math.min(bits[j], 1000)) * 2 ** -Math.min(bits[j], 1000);
    });
    const norm = Math.hypot(...values) || 1;
    values.forEach((value, j) => {
      floats[i * d + j] = value / norm;
    });
  });
  return floats;
}

/** Return a direction as integers if it is above 0 on all rays that are left to separate. @param {Float64Array} x @param {number[]} bits @param {bigint[][]} images */
function exactDirection(x, bits, images) {
  if (!x.some(Boolean)) return null;
  const most = Math.max(...bits);
  const integers = asIntegers(x).integers.map((entry, k) => entry << BigInt(most - bits[k]));
  return images.every((image) => bigSign(bigDot(integers, image)) > 0) ? integers : null;
}

/**
 * Return rows that cancel exactly, with positive multipliers: the support of the nearest point, or rows near its plane.
 * @param {import("./nearest.js").Nearest} found @param {Float64Array} floats @param {bigint[][]} images
 * @returns {Circuit|null}
 */
function findCircuit(found, floats, images) {
  const direct = positiveCircuit(found.support, images);
  if (direct) return direct;
  const d = images[0].length;
  const along = (/** @type {number} */ k) => Math.abs(found.x.reduce((sum, value, j) => sum + value * floats[k * d + j], 0));
  const near = images.map((_, k) => k).sort((a, b) => along(a) - along(b)).slice(0, NEAR);
  const some = [...new Set([...found.support, ...near])].slice(0, NEAR);
  for (let size = 1; size <= d + 1; size++) {
    for (const subset of subsets(some, size)) {
      const circuit = positiveCircuit(subset, images);
      if (circuit) return circuit;
    }
  }
  return null;
}

/** @param {number[]} items @param {number} size @returns {Generator<number[]>} */
function* subsets(items, size) {
  if (size === 0) yield [];
  else for (let k = 0; k + size <= items.length; k++) for (const rest of subsets(items.slice(k + 1), size - 1)) yield [items[k], ...rest];
}

/** Return the multipliers with which some rows cancel, if these are unique and all above 0. @param {number[]} rows @param {bigint[][]} images */
function positiveCircuit(rows, images) {
  const columns = images[0].map((_, j) => rows.map((row) => images[row][j]));
  const { basis } = nullSpace(columns, rows.length);
  if (basis.length !== 1) return null;
  const sign = bigSign(basis[0][0]);
  const fits = sign !== 0 && basis[0].every((entry) => bigSign(entry) === sign);
  return fits ? rows.map((row, k) => ({ row, multiplier: sign > 0 ? basis[0][k] : -basis[0][k] })) : null;
}

/**
 * Join rows that cancel up to the span of earlier ones to these, so that all cancel with positive multipliers.
 * @param {{row: number, multiplier: bigint}[]} earlier @param {{row: number, multiplier: bigint}[]} circuit @param {bigint[][]} rays
 */
function joined(earlier, circuit, rays) {
  if (!earlier.length) return circuit;
  const sum = rays[0].map((_, j) => circuit.reduce((total, { row, multiplier }) => total + multiplier * rays[row][j], 0n));
  const fit = combination(earlier.map(({ row }) => rays[row]), sum);
  if (!fit) return [...earlier, ...circuit];
  let times = 1n;
  earlier.forEach(({ multiplier }, k) => {
    const needed = fit.coefficients[k] / multiplier + 1n;
    if (needed > times) times = needed;
  });
  const before = earlier.map(({ row, multiplier }, k) => ({ row, multiplier: times * multiplier - fit.coefficients[k] }));
  return [...before, ...circuit.map(({ row, multiplier }) => ({ row, multiplier: fit.scale * multiplier }))];
}
