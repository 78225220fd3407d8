/** All ways to label some points, and which of them a line can separate. */

import { fromColumns } from "./points.js";
import { judge } from "./verdict.js";

const MOST_ROWS = 10;

/**
 * Return every labelling of n points (n ≤ 10) with ±1, and whether a line separates it; one class alone counts as done.
 * @param {ArrayLike<number>} x1
 * @param {ArrayLike<number>} x2
 * @returns {{labels: Int8Array, separable: boolean}[]}
 */
export function labellings(x1, x2) {
  const n = Math.min(MOST_ROWS, x1.length);
  const [a, b] = [Float64Array.from(x1).slice(0, n), Float64Array.from(x2).slice(0, n)];
  return Array.from({ length: 2 ** n }, (_, code) => {
    const labels = Int8Array.from({ length: n }, (__, i) => ((code >> i) & 1 ? 1 : -1));
    const { kind } = judge(fromColumns(a, b, labels), true);
    return { labels, separable: kind === "separable" || kind === "one class" };
  });
}
