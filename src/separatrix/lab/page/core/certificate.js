/**
 * Certificates as JSON that `separatrix verify` re-checks from the data: the separability verdict with its proof, the
 * mistake bound with the run, and the widest margin from both sides. Their numbers are exact where they need be.
 */

import { asPoints } from "./features.js";
import { lift } from "./lift.js";
import { decideRays, integerRays } from "./rays.js";
import { echelon, nullSpace } from "./rational.js";
import { rational } from "./exact.js";
import { judge } from "./verdict.js";

/** @typedef {import("./types.js").Derivation} Derivation */
/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./rays.js").RayProof} RayProof */
/** @typedef {{name: string, json: object}} Named */

const FORMAT = 1;
const ROUNDING = 1e-12;
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

/** Return labels as the library reads them from a table: numbers and truth values, or words. @param {(string|number)[]} labels @returns {(string|number|boolean)[]} */
function asRead(labels) {
  const words = labels.map((label) => String(label));
  if (words.every((word) => NUMBER.test(word))) return words.map(Number);
  const truths = words.map((word) => word.toLowerCase());
  return truths.every((word) => word === "true" || word === "false") ? truths.map((word) => word === "true") : labels;
}

/** @param {string} kind @param {string} verdict @param {string} claim @param {object} content */
function wrapped(kind, verdict, claim, content) {
  return { name: `${kind}.json`, json: { kind, format: FORMAT, verdict, claim, content } };
}

/** @param {Features} features @param {boolean} intercept */
function columnNames(features, intercept) {
  const names = features.names.map((_, j) => `x${j + 1}`);
  return intercept ? ["intercept", ...names] : names;
}

/** @param {Pick<Derivation, "features"|"learner">} rows @param {(string|number|boolean)[]} classes @returns {Named|null} */
function separability({ features, learner }, classes) {
  const names = columnNames(features, learner.intercept);
  const here = [...new Set(features.signs)].sort((a, b) => a - b);
  const rows = here.length > 1 ? features : { ...features, signs: features.signs.map(() => 1) }; // a class alone counts as +
  const proof = decideRays(integerRays(rows, learner.intercept), names.length);
  if (proof.kind === "undecided") return null;
  const claims = { separable: "the classes are completely separated", quasi: "the classes are quasi-completely separated", overlap: "the classes overlap" };
  return wrapped("separability", proof.kind, claims[proof.kind], {
    classes: here.map((sign) => classes[sign > 0 ? 1 : 0]),
    names,
    fit_intercept: learner.intercept,
    n_rows: features.n,
    n_left: proof.left.length,
    direction: proof.direction ? proof.direction.map((entry) => rational(entry, 1n)) : null,
    proof: proof.kind === "separable" ? null : overlapProof(proof, names.length),
    divergence: null,
    coefficient_status: {},
    divergence_dim: proof.kind === "overlap" ? 0 : null,
    weighted: false,
    reason: null,
  });
}

/** Return the rays that cancel, a basis first, with the columns that they span and the relations of the others. @param {RayProof} proof @param {number} width */
function overlapProof(proof, width) {
  const { basis, pivots, free } = nullSpace(proof.cancel.map(({ row }) => proof.rays[row]), width);
  const first = echelon(proof.cancel.map(({ row }) => proof.rays[row])).from;
  const order = [...first, ...proof.cancel.map((_, k) => k).filter((k) => !first.includes(k))];
  const total = proof.cancel.reduce((sum, { multiplier }) => sum + multiplier, 0n);
  return {
    rays: order.map((k) => proof.cancel[k].row),
    multipliers: order.map((k) => rational(proof.cancel[k].multiplier, total)),
    columns: pivots,
    relations: free.map((column, k) => {
      const entries = basis[k].map((entry, j) => [String(j), rational(entry, basis[k][column])]).filter(([, value]) => value !== "0");
      return Object.fromEntries(entries);
    }),
  };
}

/** @param {Derivation} derivation @param {(string|number|boolean)[]} classes @returns {Named} */
function mistakes({ trace, learner, features, bound }, classes) {
  const p = trace.p;
  const single = learner.update !== "batch";
  const history = single ? Array.from({ length: trace.updates }, (_, k) => trace.row[trace.updateTick[k] - 1]) : null;
  const allows = bound.exists ? `a separator of margin ${bound.gamma} allows ${bound.most} at most` : "no separator is known, so there is no bound";
  return wrapped("mistakes", bound.exists ? "within bound" : "no separator known", `${trace.updates} updates on rows within radius ${bound.R}; ${allows}`, {
    updates: trace.updates,
    earlier: 0,
    radius: bound.R,
    margin: bound.exists ? bound.gamma * (1 - ROUNDING) : null,
    rule: { update: single ? "single" : "batch", tie: learner.tie, margin: learner.margin, rate: learner.rate, inverse: learner.schedule === "inverse" },
    converged: trace.status === "converged",
    fit_intercept: learner.intercept,
    labels: classes,
    n_rows: features.n,
    start: Array.from(trace.weights.slice(0, p)),
    coef: Array.from(trace.weights.slice(trace.updates * p, (trace.updates + 1) * p)),
    separator: bound.separator ? Array.from(bound.separator) : null,
    history,
  });
}

/** The widest margin of the plane, with the pair of hull points that no margin can exceed. @param {Pick<Derivation, "features"|"learner">} rows @param {(string|number|boolean)[]} classes @returns {Named|null} */
function widest({ features, learner }, classes) {
  const points = asPoints(features);
  const { margin } = judge(points, learner.intercept);
  if (!margin || !(margin.gamma > 0)) return null;
  const multipliers = marginShares(points, margin, learner.intercept);
  if (!multipliers) return null;
  const w = [margin.b, margin.w1, margin.w2].map((value) => value / margin.gamma);
  return wrapped("margin", "widest margin", `every row is right, by ${margin.gamma} at least; no line has a wider margin`, {
    coef: learner.intercept ? w : w.slice(1),
    lower: margin.gamma * (1 - ROUNDING),
    upper: margin.gamma * (1 + ROUNDING),
    rows: multipliers.map(([row]) => row),
    multipliers: multipliers.map(([, share]) => share),
    fit_intercept: learner.intercept,
    labels: classes,
    n_rows: features.n,
    tolerance: 1e-10,
  });
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
