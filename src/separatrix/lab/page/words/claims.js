/**
 * Verdicts and claims of certificates, word for word those of the library, which refuses a file with other words.
 *
 * They are functions of a certificate's statement and data (`separatrix/certificates`). Numbers and labels are written as
 * Python writes them.
 */

/** @typedef {string|number|boolean} Label */
/** @typedef {{rows: number, labels: Label[], counts: number[]}} CertifiedData */

const SEPARABILITY = { separable: "the classes are completely separated", quasi: "the classes are quasi-completely separated", overlap: "the classes overlap" };
const OPTIMAL_GAP = 1e-6;
const SHOWN_DIGITS = 1e-5;
const MOST_DIGITS = 100;

/**
 * Return the claim about separability.
 * @param {CertifiedData} data @param {"separable"|"quasi"|"overlap"} verdict @param {number} left rows that are not separated
 * @param {number} cancelling rows of the proof of overlap
 */
export function separabilityClaim(data, verdict, left, cancelling) {
  const words = SEPARABILITY[verdict];
  if (data.labels.length === 1) return `there is only one class, ${quoted(data.labels[0])}: ${words}`;
  if (verdict === "overlap") return `${words}: not linearly separable, even in part (a positive combination of ${counted(cancelling, "signed row")} is 0); the likelihood has a maximum`;
  if (verdict === "separable") return `${words}: every row is on the side of its class; the likelihood has no maximum`;
  return `${words}: all but ${counted(left, "row")} are perfectly separated, and the rest overlap; the likelihood has no maximum`;
}

/** Return the verdict on a margin. @param {{lower: number, upper: number}} statement */
export function marginVerdict({ lower, upper }) {
  return (upper - lower) / upper <= OPTIMAL_GAP ? "widest margin" : "separable";
}

/** Return the claim about a margin. @param {{lower: number, upper: number}} statement */
export function marginClaim({ lower, upper }) {
  const gap = bound((upper - lower) / upper, 2, true);
  return `every row is classified correctly, with a margin of at least ${bound(lower, 10, false)}; no halfspace has a margin above ${bound(upper, 10, true)} (relative gap ${gap})`;
}

/**
 * @typedef {object} RunStatement       as in the library's certificates of mistakes
 * @property {{update: "single"|"batch", tie: string, margin: number, rate: number, inverse: boolean}} rule
 * @property {number} radius
 * @property {number|null} margin
 * @property {number|null} bound
 * @property {number} updates
 * @property {number} earlier
 * @property {boolean} converged
 */

/** Return the verdict on a run. @param {RunStatement} statement */
export function mistakesVerdict({ margin, bound, updates }) {
  if (bound === null) return margin === null ? "no separator known" : "no bound known";
  return updates <= bound ? "within bound" : "bound broken";
}

/** Return the claim about a run. @param {CertifiedData} data @param {RunStatement} statement @param {ArrayLike<number>} start */
export function mistakesClaim(data, statement, start) {
  const { radius, margin, bound, updates, converged } = statement;
  const end = converged ? "; no row is a mistake at its last weights" : "";
  const run = `${counted(updates, "update")} on rows within radius ${general(radius, 6)}${end}${absent(data)}`;
  if (margin === null) return `${run}; no separator is known, so there is no bound`;
  const separator = `${run}; a separator of margin γ = ${general(margin, 6)}`;
  if (bound === null) return `${separator} is known, and no bound is claimed`;
  const formula = isTextbook(statement, start) ? "(R/γ)² = " : "";
  return `${separator} allows at most ${formula}${general(bound, 6)} updates`;
}

/** Tell whether the bound is (R/γ)². @param {RunStatement} statement @param {ArrayLike<number>} start */
function isTextbook({ rule, radius, margin, bound }, start) {
  if (margin === null || bound === null || rule.inverse || rule.margin || rule.update !== "single") return false;
  const square = (radius / margin) ** 2;
  return square < Infinity && Math.abs(bound - square) <= SHOWN_DIGITS * square && Array.from(start).every((weight) => !weight);
}

/** Return a clause that names labels without rows. @param {CertifiedData} data */
function absent({ labels, counts }) {
  const names = labels.filter((_, k) => !counts[k]).map(quoted);
  return names.length ? `; no row has the label ${names.join(" or ")}` : "";
}

/** Return "1 row", "2,000 rows". @param {number} n @param {string} noun */
function counted(n, noun) {
  return `${String(n).replace(/\B(?=(\d{3})+$)/g, ",")} ${noun}${n === 1 ? "" : "s"}`;
}

/**
 * Return a number ≥ 0 with so many significant digits, as Python's format "g": ties go to the even digit.
 * @param {number} x @param {number} digits
 */
export function general(x, digits) {
  if (x === 0) return "0";
  const [mantissa, power] = rounded(x, digits).split("e");
  const exponent = Number(power);
  const trim = (/** @type {string} */ text) => (text.includes(".") ? text.replace(/\.?0*$/, "") : text);
  if (exponent < -4 || exponent >= digits) return `${trim(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  const figures = mantissa.replace(".", "");
  if (exponent < 0) return trim(`0.${"0".repeat(-exponent - 1)}${figures}`);
  return trim(`${figures.slice(0, exponent + 1)}.${figures.slice(exponent + 1)}`);
}

/** Return a bound ≥ 0 with so many significant digits, rounded up or down. @param {number} x @param {number} digits @param {boolean} up */
function bound(x, digits, up) {
  const text = x.toExponential(digits - 1);
  if (up ? Number(text) >= x : Number(text) <= x) return general(Number(text), digits);
  const [mantissa, exponent] = text.split("e");
  const step = up ? 10 ** (1 - digits) : -(10 ** (1 - digits));
  return general(Number(`${(Number(mantissa) + step).toFixed(digits - 1)}e${exponent}`), digits);
}

/** Return a number in exponential notation, ties rounded to the even digit. @param {number} x @param {number} digits */
function rounded(x, digits) {
  const [mantissa, exponent] = x.toExponential(MOST_DIGITS).split("e");
  const length = digits > 1 ? digits + 1 : 1; // the point counts
  const tie = /^\.?50*$/.test(mantissa.slice(length));
  const even = "02468".includes(mantissa[length - 1]);
  return tie && even ? `${mantissa.slice(0, length)}e${exponent}` : x.toExponential(digits - 1);
}

/** Return a label as Python's repr writes it, after it was read from JSON. @param {Label} label */
export function quoted(label) {
  if (typeof label === "boolean") return label ? "True" : "False";
  if (typeof label === "number") return asFloat(label);
  const quote = label.includes("'") && !label.includes('"') ? '"' : "'";
  return `${quote}${Array.from(label, (letter) => (letter === quote ? `\\${letter}` : escaped(letter))).join("")}${quote}`;
}

/** Whole numbers are whole numbers in JSON; other ones have an exponent below 1e-4. @param {number} x */
function asFloat(x) {
  const text = JSON.stringify(x);
  if (!/[.e]/.test(text)) return text;
  if (Math.abs(x) >= 1e-4 && Math.abs(x) < 1e16) return text;
  const [mantissa, exponent] = x.toExponential().split("e");
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

const NAMED = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** @param {string} letter */
function escaped(letter) {
  if (letter in NAMED) return NAMED[/** @type {keyof typeof NAMED} */ (letter)];
  if (letter === " " || !/[\p{C}\p{Z}]/u.test(letter)) return letter;
  const code = /** @type {number} */ (letter.codePointAt(0));
  const hex = code.toString(16);
  return code < 256 ? `\\x${hex.padStart(2, "0")}` : code < 65536 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
