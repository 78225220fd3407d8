/** Sums in the order in which NumPy takes them, so that results are the same to the last bit. */

const BLOCK = 128;

/**
 * Return the sum of values as `numpy.sum` takes it: eight partial sums per block, blocks by halves.
 * @param {Float64Array} values
 * @param {number} [first]
 * @param {number} [n]
 * @returns {number}
 */
export function pairwiseSum(values, first = 0, n = values.length) {
  if (n < 8) {
    let sum = n ? values[first] : 0;
    for (let i = 1; i < n; i++) sum += values[first + i];
    return sum;
  }
  if (n <= BLOCK) {
    const part = values.slice(first, first + 8);
    let i = 8;
    for (; i < n - (n % 8); i += 8) for (let k = 0; k < 8; k++) part[k] += values[first + i + k];
    let sum = part[0] + part[1] + (part[2] + part[3]) + (part[4] + part[5] + (part[6] + part[7]));
    for (; i < n; i++) sum += values[first + i];
    return sum;
  }
  let half = Math.floor(n / 2);
  half -= half % 8;
  return pairwiseSum(values, first, half) + pairwiseSum(values, first + half, n - half);
}
