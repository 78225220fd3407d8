/** Linear algebra of small integer matrices, exact: reduced echelon form, null space, solutions. */

import { commonDivisor } from "./exact.js";

/** Divide a vector by the common divisor of its entries. @param {bigint[]} vector */
export function primitive(vector) {
  let divisor = 0n;
  for (const entry of vector) divisor = commonDivisor(divisor, entry);
  return divisor > 1n ? vector.map((entry) => entry / divisor) : vector;
}

/** @param {bigint[]} a @param {bigint[]} b */
export function bigDot(a, b) {
  let sum = 0n;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}

/**
 * Return the reduced echelon form of some rows (up to a factor per row), its pivot columns, and the rows that they came from.
 * @param {bigint[][]} rows
 * @returns {{rows: bigint[][], pivots: number[], from: number[]}}
 */
export function echelon(rows) {
  const width = rows.length ? rows[0].length : 0;
  const work = rows.map((row, k) => ({ row: primitive(row.slice()), k }));
  /** @type {number[]} */
  const pivots = [];
  let done = 0;
  for (let c = 0; c < width && done < work.length; c++) {
    const pivot = work.findIndex(({ row }, r) => r >= done && row[c] !== 0n);
    if (pivot < 0) continue;
    [work[done], work[pivot]] = [work[pivot], work[done]];
    const lead = work[done].row;
    work.forEach((each, r) => {
      if (r === done || each.row[c] === 0n) return;
      const factor = each.row[c];
      each.row = primitive(each.row.map((entry, j) => entry * lead[c] - lead[j] * factor));
    });
    pivots.push(c);
    done++;
  }
  return { rows: work.slice(0, done).map(({ row }) => row), pivots, from: work.slice(0, done).map(({ k }) => k) };
}

/**
 * Return a basis of the vectors v with row·v = 0 for all rows: one per free column, 0 in the other free columns.
 * @param {bigint[][]} rows
 * @param {number} width
 * @returns {{basis: bigint[][], pivots: number[], free: number[]}}
 */
export function nullSpace(rows, width) {
  const { rows: reduced, pivots } = echelon(rows);
  const free = Array.from({ length: width }, (_, j) => j).filter((j) => !pivots.includes(j));
  const basis = free.map((column) => {
    let scale = 1n;
    reduced.forEach((row, k) => {
      const divisor = commonDivisor(scale * row[column], row[pivots[k]]);
      const needed = row[pivots[k]] / (divisor || 1n);
      scale *= needed < 0n ? -needed : needed;
    });
    const vector = new Array(width).fill(0n);
    vector[column] = scale;
    reduced.forEach((row, k) => {
      vector[pivots[k]] = (-scale * row[column]) / row[pivots[k]];
    });
    return primitive(vector);
  });
  return { basis, pivots, free };
}

/**
 * Return integers (c, scale) with scale·target = Σ c_k rows_k, scale > 0; null if the target is not in their span.
 * @param {bigint[][]} rows
 * @param {bigint[]} target
 * @returns {{coefficients: bigint[], scale: bigint}|null}
 */
export function combination(rows, target) {
  const columns = target.map((_, j) => [...rows.map((row) => row[j]), -target[j]]);
  const { basis } = nullSpace(columns, rows.length + 1);
  const vector = basis.find((each) => each[rows.length] !== 0n);
  if (!vector) return null;
  const sign = vector[rows.length] > 0n ? 1n : -1n;
  return { coefficients: vector.slice(0, -1).map((entry) => sign * entry), scale: sign * vector[rows.length] };
}
