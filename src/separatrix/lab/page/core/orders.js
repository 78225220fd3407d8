/** Every order in which a perceptron can visit a few points: how many mistakes each makes, and at which line it ends. */

import { derive } from "./derive.js";
import { makePoints, pointRows } from "./points.js";

/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("./types.js").Learner} Learner */

const MOST_ROWS = 6;

/**
 * Return all n! orders of the points (n ≤ 6), the mistakes of each, the final weights, and how many lines there are.
 * @param {Points} points
 * @param {Learner} learner
 * @returns {{orders: number[][], mistakes: Uint8Array, ends: string[], lines: number, counts: Map<number, number>}|null}
 */
export function allOrders(points, learner) {
  if (points.n > MOST_ROWS) return null;
  const rows = pointRows(points);
  const orders = permutations(rows.map((_, i) => i));
  const mistakes = new Uint8Array(orders.length);
  /** @type {Map<number, number>} */
  const counts = new Map();
  const ends = orders.map((order, k) => {
    const { trace } = derive(makePoints(order.map((i) => rows[i])), learner);
    mistakes[k] = Math.min(255, trace.updates);
    counts.set(trace.updates, (counts.get(trace.updates) ?? 0) + 1);
    const norm = Math.sqrt(trace.squaredNorm[trace.updates]) || 1;
    return Array.from(trace.kept, (value) => (value / norm).toFixed(9)).join();
  });
  return { orders, mistakes, ends, lines: new Set(ends).size, counts: new Map([...counts].sort((a, b) => a[0] - b[0])) };
}

/** Return all orders of some items, in lexicographic order. @param {number[]} items @returns {number[][]} */
export function permutations(items) {
  if (items.length < 2) return [items];
  return items.flatMap((first, k) => permutations(items.filter((_, j) => j !== k)).map((rest) => [first, ...rest]));
}
