/**
 * Separability in any number of columns, exactly: rays z = y·[1, x] as integers, and a proof either way.
 *
 * Floats propose, integers decide. The hull's point nearest to the origin proposes a direction, whose signs are then taken
 * exactly; or else rows that cancel, whose multipliers are then solved for exactly. Rows that cancel lie at 0 of every
 * separating direction, so what they span is divided out and the rest is asked again (facial reduction): if it can be
 * separated the verdict is quasi, if nothing is left it is overlap. Cost: a pass in integers per round, at most one round
 * per column.
 */

import { asIntegers, bigSign } from "./exact.js";
import { nearestPoint } from "./nearest.js";
import { bigDot, combination, nullSpace, primitive } from "./rational.js";

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
    const found = nearestPoint(asFloats(rest.map((i) => images[i])), rest.length, normals.length);
    const direction = exactDirection(found.x, images, rest);
    if (direction) {
      const lifted = normals[0].map((_, j) => normals.reduce((sum, normal, k) => sum + direction[k] * normal[j], 0n));
      return { kind: left.length ? "quasi" : "separable", direction: primitive(lifted), left, cancel, rays };
    }
    const circuit = findCircuit(found, images, rest);
    if (!circuit) break;
    cancel = joined(cancel, circuit, rays);
    normals = nullSpace(cancel.map(({ row }) => rays[row]), width).basis;
  }
  return { kind: "undecided", direction: null, left: [], cancel: [], rays };
}

/** @param {number} width */
function identity(width) {
  return Array.from({ length: width }, (_, i) => Array.from({ length: width }, (__, j) => (i === j ? 1n : 0n)));
}

/** Return vectors of any size as floats with largest entry about 1, row by row. @param {bigint[][]} vectors */
function asFloats(vectors) {
  const d = vectors[0].length;
  const floats = new Float64Array(vectors.length * d);
  vectors.forEach((vector, i) => {
    let bits = 0;
    for (const entry of vector) bits = Math.max(bits, (entry < 0n ? -entry : entry).toString(16).length * 4);
    const shift = BigInt(Math.max(0, bits - 1000));
    const values = vector.map((entry) => Number(entry >> shift));
    const norm = Math.hypot(...values.map((value) => value / 2 ** Math.min(bits, 1000))) || 1;
    values.forEach((value, j) => {
      floats[i * d + j] = value / 2 ** Math.min(bits, 1000) / norm;
    });
  });
  return floats;
}

/** Return a direction as integers if it is above 0 on all rays that are left to separate. @param {Float64Array} x @param {bigint[][]} images @param {number[]} rest */
function exactDirection(x, images, rest) {
  if (!x.some(Boolean)) return null;
  const { integers } = asIntegers(x);
  return rest.every((i) => bigSign(bigDot(integers, images[i])) > 0) ? integers : null;
}

/**
 * Return rows that cancel exactly, with positive multipliers: the support of the nearest point, or rows near its plane.
 * @param {import("./nearest.js").Nearest} found @param {bigint[][]} images @param {number[]} rest
 */
function findCircuit(found, images, rest) {
  const support = found.support.map((k) => rest[k]);
  const direct = positiveCircuit(support, images);
  if (direct) return direct;
  const floats = asFloats(rest.map((i) => images[i]));
  const d = images[0].length;
  const along = (/** @type {number} */ k) => Math.abs(found.x.reduce((sum, value, j) => sum + value * floats[k * d + j], 0));
  const near = rest.map((_, k) => k).sort((a, b) => along(a) - along(b)).slice(0, NEAR).map((k) => rest[k]);
  const some = [...new Set([...support, ...near])].slice(0, NEAR);
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
