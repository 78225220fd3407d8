/** Numbers as the page writes them: four significant digits, a real minus, thin spaces between thousands. */

const THIN = "\u202f";
const MINUS = "\u2212";
const ZERO = 1e-15;
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * Return a number as text.
 * @param {number} x
 * @param {number} [digits] significant ones
 */
export function num(x, digits = 4) {
  if (Number.isNaN(x)) return "—";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : `${MINUS}∞`;
  const size = Math.abs(x);
  if (size < ZERO) return "0";
  const sign = x < 0 ? MINUS : "";
  if (size >= 1e15 || size < 1e-4) return sign + power(size, Math.min(digits, 3));
  const whole = Number.isInteger(size) ? String(size) : trimmed(size, digits);
  return sign + grouped(whole);
}

/** Return a positive number to some significant digits, without trailing zeros; digits before the point stay. @param {number} size @param {number} digits */
function trimmed(size, digits) {
  const before = Math.floor(Math.log10(size)) + 1;
  const text = size.toFixed(Math.max(0, Math.min(20, digits - before)));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Put thin spaces between thousands, from 10 000 on. @param {string} text */
function grouped(text) {
  const [whole, part] = text.split(".");
  const spaced = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN) : whole;
  return part === undefined ? spaced : `${spaced}.${part}`;
}

/** Return a positive number as 1.2·10⁻⁷. @param {number} size @param {number} [digits] */
export function power(size, digits = 3) {
  const [mantissa, exponent] = size.toExponential(digits - 1).split("e");
  const places = [...String(Math.abs(Number(exponent)))].map((digit) => SUPERSCRIPTS[Number(digit)]).join("");
  return `${mantissa.replace(/\.?0+$/, "")}·10${Number(exponent) < 0 ? "⁻" : ""}${places}`;
}

/** Return a vector as (5, 1); entries that are 0 but for rounding are 0. @param {ArrayLike<number>} values @param {number} [digits] */
export function vec(values, digits = 4) {
  const entries = Array.from(values);
  const most = entries.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
  return `(${entries.map((value) => num(Math.abs(value) < 1e-13 * most ? 0 : value, digits)).join(", ")})`;
}

/** Return "1 mistake", "5 mistakes". @param {number} n @param {string} noun @param {string} [plural] */
export function counted(n, noun, plural = `${noun}s`) {
  return `${num(n)} ${n === 1 ? noun : plural}`;
}

/** Return a share as "12.5 %". @param {number} share */
export function percent(share) {
  return `${num(100 * share, 3)}${THIN}%`;
}

/** Return a whole number as subscript digits. @param {number} n */
export function subscript(n) {
  return [...String(n)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]).join("");
}
