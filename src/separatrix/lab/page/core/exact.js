/**
 * Exact signs of small determinants of doubles: a float filter, and integers of any size where it is inconclusive.
 *
 *     orient(a, b, c) = sign of (b − a) × (c − a)        > 0: c is left of the line from a to b
 *
 * A double is m·2^e, so all doubles are integers times one power of two, and integer arithmetic is exact. The filter
 * (Shewchuk 1997) bounds the rounding of the float determinant, and is trusted only far from underflow and overflow.
 */

const FILTER = (3 + 16 * 2 ** -53) * 2 ** -53;
const SMALLEST = 1e-280;
const LARGEST = 1e280;
const bits = new DataView(new ArrayBuffer(8));

/**
 * Return [m, e] with x = m·2^e exactly.
 * @param {number} x
 * @returns {[bigint, number]}
 */
function dyadic(x) {
  bits.setFloat64(0, x);
  const high = bits.getUint32(0);
  const exponent = (high >>> 20) & 0x7ff;
  const fraction = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4));
  const size = exponent ? fraction | (1n << 52n) : fraction;
  return [high >>> 31 ? -size : size, (exponent || 1) - 1075];
}

/**
 * Return doubles as integers times 2^exponent, the same for all.
 * @param {ArrayLike<number>} values
 * @returns {{integers: bigint[], exponent: number}}
 */
export function asIntegers(values) {
  const parts = Array.from(values, dyadic);
  let exponent = Infinity;
  for (const [m, e] of parts) if (m && e < exponent) exponent = e;
  if (exponent === Infinity) exponent = 0;
  return { integers: parts.map(([m, e]) => (m ? m << BigInt(e - exponent) : 0n)), exponent };
}

/** @param {bigint} value */
export function bigSign(value) {
  return value > 0n ? 1 : value < 0n ? -1 : 0;
}

/**
 * Return the sign of (b − a) × (c − a), exactly.
 * @param {number} ax @param {number} ay @param {number} bx @param {number} by @param {number} cx @param {number} cy
 * @returns {number} −1, 0 or 1
 */
export function orient(ax, ay, bx, by, cx, cy) {
  const left = (ax - cx) * (by - cy);
  const right = (ay - cy) * (bx - cx);
  const determinant = left - right;
  const size = Math.abs(left) + Math.abs(right);
  if (Math.abs(determinant) > FILTER * size && size > SMALLEST && size < LARGEST) return determinant > 0 ? 1 : -1;
  return exactOrient(ax, ay, bx, by, cx, cy);
}

/**
 * @param {number} ax @param {number} ay @param {number} bx @param {number} by @param {number} cx @param {number} cy
 */
function exactOrient(ax, ay, bx, by, cx, cy) {
  if ((ax === cx && ay === cy) || (bx === cx && by === cy) || (ax === bx && ay === by)) return 0;
  if ((ax === bx && bx === cx) || (ay === by && by === cy)) return 0;
  if (small(ax) && small(ay) && small(bx) && small(by) && small(cx) && small(cy)) {
    return Math.sign((ax - cx) * (by - cy) - (ay - cy) * (bx - cx));
  }
  const [px, py, qx, qy, rx, ry] = asIntegers([ax, ay, bx, by, cx, cy]).integers;
  return bigSign((px - rx) * (qy - ry) - (py - ry) * (qx - rx));
}

/** Tell whether a number is whole and so small that products of differences are exact. @param {number} x */
function small(x) {
  return Math.abs(x) <= 2 ** 24 && Math.floor(x) === x;
}

/**
 * Return the sign of Σ aᵢ bᵢ, exactly.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export function dotSign(a, b) {
  let sum = 0;
  let size = 0;
  for (let k = 0; k < a.length; k++) {
    const product = a[k] * b[k];
    sum += product;
    size += Math.abs(product);
  }
  if (Math.abs(sum) > (a.length + 2) * 2 ** -52 * size && size > SMALLEST && size < LARGEST) return sum > 0 ? 1 : -1;
  const left = asIntegers(a).integers;
  const right = asIntegers(b).integers;
  let exact = 0n;
  for (let k = 0; k < left.length; k++) exact += left[k] * right[k];
  return bigSign(exact);
}

/** @param {bigint} a @param {bigint} b @returns {bigint} */
export function commonDivisor(a, b) {
  let x = a < 0n ? -a : a;
  let y = b < 0n ? -b : b;
  while (y) [x, y] = [y, x % y];
  return x;
}

/**
 * Return a/b in lowest terms as the library writes rationals: "3", "−1/7" (with a hyphen).
 * @param {bigint} a
 * @param {bigint} b
 */
export function rational(a, b) {
  const divisor = commonDivisor(a, b) || 1n;
  const sign = b < 0n ? -1n : 1n;
  const top = (sign * a) / divisor;
  const bottom = (sign * b) / divisor;
  return bottom === 1n ? String(top) : `${top}/${bottom}`;
}

/**
 * Return the double nearest a/b, to within a unit in the last place or so.
 * @param {bigint} a
 * @param {bigint} b
 */
export function quotient(a, b) {
  if (!a) return 0;
  const negative = a < 0n !== b < 0n;
  const top = a < 0n ? -a : a;
  const bottom = b < 0n ? -b : b;
  const shift = BigInt(64 + bottom.toString(2).length - top.toString(2).length);
  const scaled = shift > 0n ? (top << shift) / bottom : top / (bottom << -shift);
  const value = Number(scaled) * 2 ** -Number(shift);
  return negative ? -value : value;
}

/**
 * Return the root of a/b · 4^exponent, rounded down.
 * @param {bigint} a @param {bigint} b @param {number} exponent
 */
export function rootBelow(a, b, exponent) {
  let root = nearRoot(a, b);
  while (compareSquare(root, a, b) > 0) root = besideFloat(root, -1n);
  return root * 2 ** exponent;
}

/**
 * Return the root of a/b · 4^exponent, rounded up.
 * @param {bigint} a @param {bigint} b @param {number} exponent
 */
export function rootAbove(a, b, exponent) {
  let root = nearRoot(a, b);
  while (compareSquare(root, a, b) < 0) root = besideFloat(root, 1n);
  return root * 2 ** exponent;
}

/** Return about the root of a/b ≥ 0, even where the quotient overflows. @param {bigint} a @param {bigint} b */
function nearRoot(a, b) {
  const shift = (a.toString(2).length - b.toString(2).length) >> 1;
  const wide = BigInt(2 * Math.abs(shift));
  return Math.sqrt(shift > 0 ? quotient(a, b << wide) : quotient(a << wide, b)) * 2 ** shift;
}

/** Return the sign of root² − a/b. @param {number} root @param {bigint} a @param {bigint} b */
function compareSquare(root, a, b) {
  const [m, e] = dyadic(root);
  const square = m * m * b;
  return bigSign(e < 0 ? square - (a << BigInt(-2 * e)) : (square << BigInt(2 * e)) - a);
}

/** Return the next float above (1) or below (−1) a positive one. @param {number} x @param {bigint} step */
function besideFloat(x, step) {
  bits.setFloat64(0, x);
  bits.setBigUint64(0, bits.getBigUint64(0) + step);
  return bits.getFloat64(0);
}
