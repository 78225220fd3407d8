/** The learners of the lab, their options with defaults and limits, as the drawer shows and links carry them. */

import { LIFTS } from "./lift.js";

/** @typedef {import("./types.js").Learner} Learner */
/** @typedef {import("./types.js").Kind} Kind */
/** @typedef {import("./types.js").OptionField} OptionField */

/** @type {{kind: Kind, name: string, about: string}[]} */
export const LEARNERS = [
  { kind: "perceptron", name: "Perceptron", about: "changes its line only when it gets a point wrong" },
  { kind: "lms", name: "Least mean squares", about: "descends the squared error to the targets ±1" },
  { kind: "logistic", name: "Logistic regression", about: "maximises the likelihood of the labels" },
  { kind: "softmax", name: "Softmax", about: "logistic regression of three classes" },
  { kind: "halfspace", name: "Linear program", about: "a separating line by linear programming" },
  { kind: "margin", name: "Widest margin", about: "the line farthest from the nearest points" },
  { kind: "svm", name: "Support vector machine", about: "widest margin, with a penalty for points inside it" },
  { kind: "kernel", name: "Kernel perceptron", about: "a perceptron that remembers its mistakes" },
  { kind: "zero-one", name: "Fewest mistakes", about: "the minimum number of wrong points, exactly" },
];

/** @type {Learner} */
const BASE = {
  kind: "perceptron",
  intercept: true,
  lift: "none",
  centre: 0,
  update: "single",
  order: "cyclic",
  rate: 1,
  schedule: "constant",
  start: null,
  tie: "positive",
  keep: "last",
  margin: 0,
  maxUpdates: 2000,
  maxSteps: 200,
  seed: 1,
  draws: null,
  decay: 0,
  strength: 0,
  loss: "hinge",
  C: 1,
  kernel: "rbf",
  gamma: 1,
  degree: 2,
  shift: 1,
};

/** @type {Record<Kind, Partial<Learner>>} */
const DEFAULTS = {
  perceptron: {},
  lms: { update: "batch", rate: 0 },
  logistic: { update: "batch", rate: 0 },
  softmax: { update: "batch", rate: 0 },
  halfspace: {},
  margin: {},
  svm: { update: "batch" },
  kernel: { gamma: 0.25 },
  "zero-one": {},
};

/** Return a learner with its usual options. @param {Kind} kind @param {Partial<Learner>} [options] @returns {Learner} */
export function defaults(kind, options = {}) {
  return { ...BASE, ...DEFAULTS[kind], kind, ...options };
}

/** @param {Kind} kind */
export function learnerName(kind) {
  return (LEARNERS.find((learner) => learner.kind === kind) ?? LEARNERS[0]).name;
}

/** @param {string} name @param {string} label @param {string} about @param {[string, string][]} choices @returns {OptionField} */
function choice(name, label, about, choices) {
  return { name, label, about, type: "choice", choices: choices.map(([value, text]) => ({ value, label: text })) };
}

/** @param {string} name @param {string} label @param {string} about @param {number} least @param {number} most @param {boolean} [whole] @returns {OptionField} */
function numberField(name, label, about, least, most, whole = false) {
  return { name, label, about, type: "number", least, most, whole };
}

const INTERCEPT = { name: "intercept", label: "Intercept", about: "Whether the line may miss the origin.", type: "flag" };
const LIFT = choice("lift", "Features", "The features of a point.", LIFTS.map(({ id, name }) => [id, name]));
const CENTRE = numberField("centre", "Centre μ", "Centre of the feature (x₁ − μ)².", -1e6, 1e6);
const ORDER = choice("order", "Order", "Order in which the points are visited.", [
  ["cyclic", "in turn"],
  ["random", "at random"],
  ["shuffled", "shuffled each pass"],
]);
const SEED = numberField("seed", "Seed", "Seed of random orders.", 0, 4294967295, true);
const START = { name: "start", label: "Start", about: "The first weights, intercept first; empty for 0.", type: "vector" };
const STEPS = numberField("maxSteps", "Steps", "Largest number of steps.", 1, 100000, true);
const STRENGTH = numberField("strength", "Penalty", "Strength of ½ ‖w‖² beside the mean loss; 0 for none.", 0, 1e6);
const AUTOMATIC = numberField("rate", "Rate", "Size of a step; 0 chooses one that converges.", 0, 1e100);
const UPDATES = numberField("maxUpdates", "Limit", "Largest number of updates.", 1, 1000000, true);
const TIE = choice("tie", "A score of 0", "How a score of exactly 0 counts.", [
  ["positive", "blue"],
  ["negative", "orange"],
  ["mistake", "always a mistake"],
  ["correct", "never a mistake"],
]);
const SCHEDULE = choice("schedule", "Schedule", "How the rate changes.", [
  ["constant", "constant"],
  ["inverse", "rate / k"],
]);

/** @type {Record<Kind, OptionField[]>} */
export const OPTIONS = {
  perceptron: /** @type {OptionField[]} */ ([
    choice("update", "Update", "Correct each mistake when it is met, or all mistakes of a pass at once.", [
      ["single", "each mistake"],
      ["batch", "all at once"],
    ]),
    INTERCEPT,
    ORDER,
    SEED,
    numberField("rate", "Rate", "Size of an update; from start 0 it only scales the weights.", 1e-100, 1e100),
    SCHEDULE,
    START,
    TIE,
    choice("keep", "Keep", "Which weights to return.", [
      ["last", "the last"],
      ["best", "the best (pocket)"],
      ["average", "the average"],
      ["vote", "the vote of all"],
    ]),
    numberField("margin", "Required margin", "Scores below it count as mistakes.", 0, 1e100),
    UPDATES,
    LIFT,
    CENTRE,
  ]),
  lms: /** @type {OptionField[]} */ ([
    choice("update", "Update", "All rows at once, or one row at a time.", [
      ["batch", "batch"],
      ["stochastic", "row by row"],
    ]),
    INTERCEPT,
    AUTOMATIC,
    SCHEDULE,
    ORDER,
    SEED,
    START,
    choice("keep", "Keep", "Which weights to return.", [
      ["last", "the last"],
      ["average", "the average"],
    ]),
    STEPS,
    LIFT,
    CENTRE,
  ]),
  logistic: /** @type {OptionField[]} */ ([
    choice("update", "Method", "How the likelihood is maximised.", [
      ["batch", "gradient"],
      ["stochastic", "row by row"],
      ["newton", "Newton"],
    ]),
    INTERCEPT,
    AUTOMATIC,
    SCHEDULE,
    ORDER,
    SEED,
    STRENGTH,
    START,
    STEPS,
    LIFT,
    CENTRE,
  ]),
  softmax: /** @type {OptionField[]} */ ([
    choice("update", "Method", "How the likelihood is maximised.", [
      ["batch", "gradient"],
      ["newton", "Newton"],
    ]),
    INTERCEPT,
    AUTOMATIC,
    STRENGTH,
    STEPS,
  ]),
  halfspace: /** @type {OptionField[]} */ ([INTERCEPT]),
  margin: /** @type {OptionField[]} */ ([INTERCEPT, LIFT, CENTRE]),
  svm: /** @type {OptionField[]} */ ([
    choice("loss", "Loss", "The loss of a point inside the margin.", [
      ["hinge", "hinge"],
      ["squared_hinge", "squared hinge"],
    ]),
    numberField("C", "C", "Weight of the losses against the margin.", 1e-6, 1e9),
    INTERCEPT,
    STEPS,
    LIFT,
    CENTRE,
  ]),
  kernel: /** @type {OptionField[]} */ ([
    choice("kernel", "Kernel", "The similarity of two points.", [
      ["rbf", "exp(−γ‖x − z‖²)"],
      ["polynomial", "(γ x·z + shift)^degree"],
      ["linear", "x·z"],
    ]),
    numberField("gamma", "γ", "Width of the kernel: a large γ is local.", 1e-9, 1e9),
    numberField("degree", "Degree", "Degree of the polynomial kernel.", 1, 10, true),
    numberField("shift", "Shift", "Constant of the polynomial kernel.", 0, 1e6),
    INTERCEPT,
    ORDER,
    SEED,
    TIE,
    UPDATES,
  ]),
  "zero-one": /** @type {OptionField[]} */ ([INTERCEPT]),
};

/**
 * Return the fault of a learner's options, or null.
 * @param {Learner} learner
 * @returns {string|null}
 */
export function checkLearner(learner) {
  const fields = OPTIONS[learner.kind];
  if (!fields) return `there is no learner "${String(learner.kind)}"`;
  for (const field of fields) {
    const value = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (learner))[field.name];
    const problem = checkOption(field, value);
    if (problem) return `${field.label}: ${problem}`;
  }
  return null;
}

/** Return the fault of an option's value, or null. @param {OptionField} field @param {unknown} value */
export function checkOption(field, value) {
  if (field.type === "flag") return typeof value === "boolean" ? null : "yes or no is needed";
  if (field.type === "choice") {
    const values = (field.choices ?? []).map((each) => each.value);
    return values.includes(String(value)) ? null : `"${String(value)}" is not one of ${values.join(", ")}`;
  }
  if (field.type === "vector") {
    const fine = value === null || (Array.isArray(value) && value.length <= 6 && value.every((each) => Number.isFinite(each) && Math.abs(each) <= 1e100));
    return fine ? null : "up to six numbers are needed";
  }
  const number = Number(value);
  if (!Number.isFinite(number)) return `"${String(value)}" is not a number`;
  if (number < (field.least ?? -Infinity) || number > (field.most ?? Infinity)) return `${number} is not between ${field.least} and ${field.most}`;
  return field.whole && !Number.isInteger(number) ? `${number} is not a whole number` : null;
}
