/**
 * Certificates as JSON that `separatrix verify` re-checks from the data: the separability verdict with its proof, the
 * mistake bound with the run, and the widest margin from both sides. Bounds are rounded outward from exact integers.
 */

import { marginClaim, marginVerdict, mistakesClaim, mistakesVerdict, separabilityClaim } from "../words/claims.js";
import { updatesAtMost } from "./bound.js";
import { asIntegers, dotSign, rational, rootAbove, rootBelow } from "./exact.js";
import { asPoints } from "./features.js";
import { lift } from "./lift.js";
import { isMistake, tieCode } from "./perceptron.js";
import { bigDot, echelon, nullSpace } from "./rational.js";
import { decideRays, integerRays } from "./rays.js";
import { judge } from "./verdict.js";

/** @typedef {import("./types.js").Derivation} Derivation */
/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./rays.js").RayProof} RayProof */
/** @typedef {import("../words/claims.js").Label} Label */
/** @typedef {import("../words/claims.js").RunStatement} RunStatement */
/** @typedef {Pick<Derivation, "features"|"learner">} Rows */
/** @typedef {{name: string, json: object}} Named */

const FORMAT = 2;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Return the certificates of a run of two classes, each with the name of its file: those of the run and, of learners that
 * see other features than the table's columns, those of the points alone.
 * @param {Derivation} derivation
 * @param {(string|number)[]} [labels] of −1 and +1, as they stand in the table
 * @returns {Named[]}
 */
export function certificates(derivation, labels = [-1, 1]) {
  const { points, learner, trace, bound } = derivation;
  if (!points.n || points.label.includes(2)) return [];
  const classes = asRead(labels.slice(0, 2));
  const plain = learner.kind !== "kernel" && learner.lift === "none";
  const rows = plain ? derivation : { features: lift(points, { lift: "none", centre: 0 }), learner };
  const run = plain && learner.kind === "perceptron" && trace.done && bound.R > 0;
  const found = [separability(rows, classes), run ? mistakes(derivation, classes) : null, widest(rows, classes)];
  return found.filter((each) => each !== null);
}

/** Return labels as the library reads them from a table: numbers and booleans, or words. @param {(string|number)[]} labels @returns {(string|number|boolean)[]} */
function asRead(labels) {
  const words = labels.map((label) => String(label));
  if (words.every((word) => NUMBER.test(word))) return words.map(Number);
  const truths = words.map((word) => word.toLowerCase());
  return truths.every((word) => word === "true" || word === "false") ? truths.map((word) => word === "true") : labels;
}

/**
 * @param {string} kind @param {object} data @param {object} statement @param {object} witness
 * @param {{verdict: string, claim: string}} words @returns {Named}
 */
function written(kind, data, statement, witness, words) {
  return { name: `${kind}.json`, json: { format: FORMAT, kind, data, statement, witness, parts: [], ...words } };
}

/** Return a certificate's record of its rows: by position, two labels or, if there is one class, one. @param {Rows} rows @param {Label[]} labels */
function dataOf({ features, learner }, labels) {
  const positive = features.signs.filter((sign) => sign > 0).length;
  const counts = labels.length > 1 ? [features.n - positive, positive] : [features.n];
  const absent = { columns: null, weights: false, class_weights: null, offset: false, trials: false, penalty_factor: null, bounds: null, map: null, kernel: null, scheme: null };
  return { ...absent, rows: features.n, width: features.p, intercept: learner.intercept, task: labels.length > 1 ? "two" : "several", labels, counts };
}

/** @param {Rows} rows @param {Label[]} classes @returns {Named|null} */
function separability({ features, learner }, classes) {
  const width = features.p + (learner.intercept ? 1 : 0);
  const here = [...new Set(features.signs)].sort((a, b) => a - b);
  const rows = here.length > 1 ? features : { ...features, signs: features.signs.map(() => 1) }; // a class alone counts as +
  const proof = decideRays(integerRays(rows, learner.intercept), width);
  if (proof.kind === "undecided") return null;
  const data = dataOf({ features, learner }, here.map((sign) => classes[sign > 0 ? 1 : 0]));
  const statement = { n_left: proof.left.length, undecided: false };
  const witness = {
    weights: proof.direction ? proof.direction.map((entry) => rational(entry, 1n)) : null,
    proof: proof.kind === "separable" ? null : overlapProof(proof, width),
    divergence: null,
    clashes: [],
    widest: null,
  };
  const claim = separabilityClaim(data, proof.kind, proof.left.length, proof.cancel.length);
  return written("separability", data, statement, witness, { verdict: proof.kind, claim });
}

/** Return the rays that cancel, a basis first, with the columns that they span and the relations of the others. @param {RayProof} proof @param {number} width */
function overlapProof(proof, width) {
  const { basis, pivots, free } = nullSpace(proof.cancel.map(({ row }) => proof.rays[row]), width);
  const first = echelon(proof.cancel.map(({ row }) => proof.rays[row])).from;
  const order = [...first, ...proof.cancel.map((_, k) => k).filter((k) => !first.includes(k))];
  const total = proof.cancel.reduce((sum, { multiplier }) => sum + multiplier, 0n);
  return {
    places: order.map((k) => proof.cancel[k].row),
    multipliers: order.map((k) => rational(proof.cancel[k].multiplier, total)),
    columns: pivots,
    relations: free.map((column, k) => {
      const entries = basis[k].map((entry, j) => [String(j), rational(entry, basis[k][column])]).filter(([, value]) => value !== "0");
      return Object.fromEntries(entries);
    }),
  };
}

/** @param {Derivation} derivation @param {Label[]} classes @returns {Named} */
function mistakes(derivation, classes) {
  const { trace, learner, bound } = derivation;
  const single = learner.update !== "batch";
  const data = dataOf(derivation, classes);
  const [start, coef] = [0, trace.updates].map((version) => Array.from(trace.weights.slice(version * trace.p, (version + 1) * trace.p)));
  const separator = bound.separator ? Array.from(bound.separator) : null;
  const margin = separator ? marginBelow(derivation, separator, separator) : 0;
  const radius = radiusAbove(derivation);
  const rule = /** @type {RunStatement["rule"]} */ ({ update: single ? "single" : "batch", tie: learner.tie, margin: learner.margin, rate: learner.rate, inverse: learner.schedule === "inverse" });
  /** @type {RunStatement} */
  const statement = {
    rule,
    radius,
    margin: margin > 0 ? margin : null,
    bound: margin > 0 ? updatesAtMost(bound, radius, margin, coef.length) : null,
    updates: trace.updates,
    earlier: 0,
    converged: trace.status === "converged" && !hasMistake(derivation, coef),
  };
  const history = single ? Array.from({ length: trace.updates }, (_, k) => trace.row[trace.updateTick[k] - 1]) : null;
  const witness = { coef, separator: margin > 0 ? separator : null, history, start };
  return written("mistakes", data, statement, witness, { verdict: mistakesVerdict(statement), claim: mistakesClaim(data, statement, start) });
}

/** Return a row as the learner sees it, with its 1 if there is an intercept. @param {Rows} rows @param {number} i @returns {number[]} */
function rowOf({ features: { p, values }, learner }, i) {
  const row = Array.from(values.slice(i * p, (i + 1) * p));
  return learner.intercept ? [1, ...row] : row;
}

/** Return the length of the longest row, rounded up. @param {Rows} rows */
function radiusAbove(rows) {
  const { integers, exponent } = asIntegers(Array.from({ length: rows.features.n }, (_, i) => rowOf(rows, i)).flat());
  const p = integers.length / rows.features.n;
  let most = 0n;
  for (let i = 0; i < integers.length; i += p) {
    const row = integers.slice(i, i + p);
    const square = bigDot(row, row);
    if (square > most) most = square;
  }
  return rootAbove(most, 1n, exponent);
}

/**
 * Return the least of y·(w·x) over the rows, divided by the length of some weights, rounded down; 0 where a row is not right.
 * @param {Rows} rows @param {number[]} w @param {number[]} weights
 */
function marginBelow(rows, w, weights) {
  const ours = asIntegers(w);
  const rays = integerRays(rows.features, rows.learner.intercept);
  const products = rays.map((ray) => bigDot(ray, ours.integers));
  const least = products.reduce((a, b) => (a < b ? a : b));
  if (least <= 0n) return 0;
  const length = asIntegers(weights);
  const { exponent } = asIntegers(rows.learner.intercept ? [...rows.features.values, 1] : rows.features.values);
  return rootBelow(least * least, bigDot(length.integers, length.integers), exponent + ours.exponent - length.exponent);
}

/** Tell whether a row is a mistake at some weights, exactly. @param {Derivation} derivation @param {number[]} coef */
function hasMistake(derivation, coef) {
  const { features, learner } = derivation;
  return Array.from(features.signs).some((y, i) => {
    const row = rowOf(derivation, i);
    if (learner.margin > 0) return dotSign([...row, -learner.margin], [...coef.map((weight) => y * weight), 1]) < 0;
    return isMistake(dotSign(row, coef), y, tieCode(learner), 0);
  });
}

/** The widest margin of the plane, with the pair of hull points that no margin can exceed. @param {Rows} rows @param {Label[]} classes @returns {Named|null} */
function widest(rows, classes) {
  const { features, learner } = rows;
  const points = asPoints(features);
  const { margin } = judge(points, learner.intercept);
  if (!margin || !(margin.gamma > 0) || new Set(features.signs).size < 2) return null;
  const multipliers = marginShares(points, margin, learner.intercept);
  if (!multipliers) return null;
  const weights = [margin.w1, margin.w2].map((value) => value / margin.gamma);
  const coef = learner.intercept ? [margin.b / margin.gamma, ...weights] : weights;
  const statement = { lower: marginBelow(rows, coef, weights), upper: distanceAbove(rows, multipliers) };
  if (!(statement.lower > 0)) return null;
  const witness = { coef, rows: multipliers.map(([row]) => row), multipliers: multipliers.map(([, share]) => share) };
  return written("margin", dataOf(rows, classes), statement, witness, { verdict: marginVerdict(statement), claim: marginClaim(statement) });
}

/**
 * Return ‖Σ λ y x‖ / Σ λ rounded up; with an intercept, multipliers are scaled to ½ in each class.
 * @param {Rows} rows @param {[number, number][]} multipliers
 */
function distanceAbove({ features, learner }, multipliers) {
  const { p, values, signs } = features;
  const { integers, exponent } = asIntegers(values);
  const shares = asIntegers(multipliers.map(([, share]) => share)).integers;
  const groups = learner.intercept ? [1, -1].map((sign) => multipliers.map((_, k) => k).filter((k) => signs[multipliers[k][0]] === sign)) : [multipliers.map((_, k) => k)];
  const totals = groups.map((group) => group.reduce((sum, k) => sum + shares[k], 0n));
  const divisor = totals.reduce((product, total) => product * total, BigInt(groups.length));
  const mean = Array.from({ length: p }, (_, j) => {
    const sums = groups.map((group) => group.reduce((sum, k) => sum + shares[k] * BigInt(signs[multipliers[k][0]]) * integers[multipliers[k][0] * p + j], 0n));
    return groups.length > 1 ? sums[0] * totals[1] + sums[1] * totals[0] : sums[0];
  });
  return rootAbove(bigDot(mean, mean), divisor * divisor, exponent);
}

/**
 * Return the rows whose means are the hulls' nearest points, with their shares.
 * @param {import("./types.js").Points} points @param {import("./types.js").Margin} margin @param {boolean} intercept
 * @returns {[number, number][]|null}
 */
function marginShares(points, margin, intercept) {
  const sign = (/** @type {number} */ row) => (points.label[row] === 1 ? 1 : -1);
  if (!intercept) {
    const target = [margin.gamma * margin.w1, margin.gamma * margin.w2];
    return shares(margin.pins.map((row) => [row, sign(row) * points.x1[row], sign(row) * points.x2[row]]), target);
  }
  const sides = [1, -1].map((side) => {
    const pins = margin.pins.filter((row) => sign(row) === side);
    return shares(pins.map((row) => [row, points.x1[row], points.x2[row]]), side > 0 ? margin.near1 : margin.near2);
  });
  return sides[0] && sides[1] ? [...sides[0], ...sides[1]] : null;
}

/** Return one or two places, and their shares, whose mean is a target on their line. @param {number[][]} places [row, x, y] @param {number[]} target @returns {[number, number][]|null} */
function shares(places, target) {
  const gap = (/** @type {number[]} */ [, x, y]) => Math.hypot(x - target[0], y - target[1]);
  let best = null;
  let least = Infinity;
  for (const a of places) {
    if (gap(a) < least) [best, least] = [/** @type {[number, number][]} */ ([[a[0], 1]]), gap(a)];
    for (const b of places) {
      const square = (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2;
      if (!square) continue;
      const share = ((target[0] - a[1]) * (b[1] - a[1]) + (target[1] - a[2]) * (b[2] - a[2])) / square;
      if (!(share > 0 && share < 1)) continue;
      const distance = Math.hypot(a[1] + share * (b[1] - a[1]) - target[0], a[2] + share * (b[2] - a[2]) - target[1]);
      if (distance < 0.5 * least) [best, least] = [/** @type {[number, number][]} */ ([[a[0], 1 - share], [b[0], share]]), distance];
    }
  }
  return best;
}
