/** The sentences about a run: each is a pure function of it, in marked-up text (see markup.js). */

import { boundTime, ceilingAt, floorAt } from "../core/bound.js";
import { blend, modelAt, versionAt, weightsAt, wrongRows } from "../core/derive.js";
import { distance, score } from "../core/model.js";
import { learnerName } from "../core/learners.js";
import { escape, plain } from "./markup.js";
import { counted, num, percent, subscript, vec } from "./number.js";

/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Points} Points */
/** @typedef {import("../core/types.js").Trace} Trace */

const COLOUR = { "1": "blue", "-1": "orange", "2": "green" };
const MARK = { "1": "[+", "-1": "[-", "2": "[#" };

/** Return the name of a row, "blue 1", in its colour. @param {Points} points @param {number} i */
function rowName(points, i) {
  const label = /** @type {"1"|"-1"|"2"} */ (String(points.label[i]));
  return `${MARK[label]}${COLOUR[label]} ${i + 1}]`;
}

/** Return the names of those of some rows that have a sign. @param {Points} points @param {number[]} rows @param {number} sign */
export function listedRows(points, rows, sign) {
  return listed(rows.filter((row) => (points.label[row] === 1 ? 1 : -1) === sign).map((row) => rowName(points, row)));
}

/** Return names as "a, b and c". @param {string[]} names */
function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

/** Tell whether there is a third class: verdicts are then of blue against the rest. @param {Points} points */
function hasThird(points) {
  return points.label.includes(2);
}

/**
 * Return the name of the class that stands against the rest of three, "" where there are two.
 * @param {Points} points @param {string[]} [labels] of −1, +1 and 2
 */
export function singledOut(points, labels = []) {
  return hasThird(points) ? `[+${escape(labels[1] ?? "blue")}]` : "";
}

/**
 * Return the verdict and the reason for it; of three classes, that of one against the rest, by name.
 * @param {Derivation} derivation
 * @param {string[]} [labels] of −1, +1 and 2
 * @returns {{title: string, why: string}}
 */
export function verdictWords(derivation, labels = []) {
  const { verdict, learner, points } = derivation;
  const one = singledOut(points, labels);
  const lifted = learner.lift !== "none";
  const single = derivation.features.p === 1;
  const line = `${single ? "threshold" : lifted ? "plane of the features" : "line"}${verdict.intercept ? "" : " through the origin"}`;
  switch (verdict.kind) {
    case "separable": {
      const pins = verdict.margin ? `, reached by ${counted(verdict.margin.pins.length, "point")}` : "";
      const known = verdict.margin && verdict.margin.gamma > 0 && Number.isFinite(verdict.margin.gamma);
      const margin = verdict.margin && known ? `margin *γ* = ${num(verdict.margin.gamma)}${pins}` : "every sign checked exactly";
      return { title: `A ${line} separates ${one ? `${one} from the rest` : "them"}`, why: `Proved: ${margin}` };
    }
    case "quasi":
      return { title: `Quasi-separable${one ? `, ${one} from the rest` : ""}: ${counted(verdict.left.length, "point")} on every such ${single ? "threshold" : lifted ? "plane" : "line"}`, why: "Proved: the hulls touch, so the margin is 0" };
    case "overlap":
      return { title: one ? `No ${line} separates ${one} from the rest` : `No ${line} separates them`, why: overlapReason(derivation, one) };
    case "one class":
      if (one) return { title: `No point is ${one}`, why: `The verdict is for ${one} against the rest` };
      return { title: "Only one class", why: points.label[0] === 1 ? "All points are blue: add an orange one" : "All points are orange: add a blue one" };
    case "empty":
      return { title: "No points yet", why: "Add a point of each class" };
    default:
      return { title: "Undecided", why: "Too many points for exact arithmetic in this space" };
  }
}

/** @param {Derivation} derivation @param {string} one the class against the rest of three */
function overlapReason(derivation, one) {
  const { verdict, learner } = derivation;
  if (!verdict.intercept) return "Proved: 0 is a weighted mean of the reflected points *y*·*x*";
  if (learner.lift !== "none") return "Proved: the hulls of the features overlap";
  if (verdict.witness?.shape === "same place") return `Proved: ${one ? `a point of ${one} and one of the rest` : "two points of different classes"} coincide`;
  return `Proved: the hulls of ${one ? `${one} and of the rest` : "the classes"} overlap at the star`;
}

/** Tell whether a learner counts mistakes. @param {Derivation} derivation */
function countsMistakes(derivation) {
  return derivation.learner.kind === "perceptron" || derivation.learner.kind === "kernel";
}

/** Return the mistakes made up to a version. @param {Derivation} derivation @param {number} version */
function mistakesMade(derivation, version) {
  return boundTime(derivation.bound, derivation.trace, version);
}

/**
 * Return the sentence above the evidence.
 * @param {Derivation} derivation @param {number} tick
 * @returns {string}
 */
export function heroWords(derivation, tick) {
  const { trace, bound, verdict, learner } = derivation;
  const version = versionAt(trace, tick);
  if (countsMistakes(derivation)) {
    const made = mistakesMade(derivation, version);
    const noun = made === 1 ? "mistake" : "mistakes";
    if (learner.kind === "kernel") return `[#${num(made)}] ${noun}, each one remembered.`;
    if (verdict.kind === "one class") return "Nothing to learn: there is only one class.";
    if (bound.exists) return `[#${num(made)}] ${noun}; the theorem allows at most [=${num(bound.most)}].`;
    const limit = trace.status === "max updates" && tick >= trace.length ? `Stopped after [#${num(made)}] ${noun}` : `[#${num(made)}] ${noun} so far`;
    return `${limit}: ${noBoundReason(derivation)}.`;
  }
  if (learner.kind === "halfspace") return trace.status === "optimal" ? "Every score is at least [=1] in size, with the right sign." : verdict.kind === "overlap" || verdict.kind === "quasi" ? "The linear program has no solution." : "There is nothing to separate.";
  if (learner.kind === "margin") return verdict.margin ? `The widest margin is [=${num(verdict.margin.gamma)}].` : "There is no margin to widen.";
  if (learner.kind === "zero-one" && !trace.done) return "Trying every candidate line …";
  if (learner.kind === "zero-one") return `At least [=${counted(wrongRows(derivation, modelAt(derivation, trace.length)), "point")}] must be wrong.`;
  if (trace.status === "runs off") return `The likelihood has no maximum: *w* has grown to length [#${num(Math.sqrt(trace.squaredNorm[version]))}].`;
  const value = trace.objective ? trace.objective[version] : NaN;
  return `After ${counted(tickCount(trace, tick), trace.byRow ? "visit" : "step")} the ${objectiveName(derivation)} is [#${num(value)}].`;
}

/** Return why there is no bound. @param {Derivation} derivation */
function noBoundReason({ verdict, learner }) {
  if (verdict.kind === "quasi") return "the margin is 0, so no bound exists";
  if (verdict.kind === "overlap") return `no ${learner.lift === "none" ? "line" : "plane of the features"} exists, so no bound exists`;
  return "no margin is known, so there is no bound";
}

/** Return the name of the function that a learner minimises. @param {Derivation} derivation */
function objectiveName({ learner }) {
  return learner.kind === "svm" || learner.strength > 0 ? "objective" : "mean loss";
}

/** @param {Trace} trace @param {number} tick */
function tickCount(trace, tick) {
  return Math.min(trace.length, Math.max(0, Math.floor(tick + 1e-9)));
}

/**
 * Return the derivation of the bound, in numbers.
 * @param {Derivation} derivation
 * @returns {string}
 */
export function boundWords(derivation) {
  const { bound, learner, verdict } = derivation;
  const own = learner.intercept ? " (with its 1)" : "";
  if (!bound.exists) {
    if (verdict.kind === "empty") return "Without points there is nothing to bound.";
    const rate = learner.rate === 1 ? "" : " (times the squared rate)";
    return `The upper limit *tR*²${rate} still holds, but ${verdict.kind === "undecided" ? "no lower limit is known" : "there is no lower limit"}: without a separating line nothing forces ‖*w*‖² to grow.`;
  }
  const start = `No point has length above [=R = ${num(bound.R)}]${own}, and some ${derivation.features.p === 1 ? "threshold" : learner.lift === "none" ? "line" : "plane"} has margin [=γ = ${num(bound.gamma)}]`;
  if (bound.textbook) return `${start}. So there are at most (*R*/*γ*)² = [=${num(bound.ratio)}] mistakes.`;
  const reasons = [];
  if (bound.startNorm2 > 0) reasons.push("this start");
  if (bound.inverse) reasons.push("decreasing rates");
  if (bound.asked > 0) reasons.push(`a required margin of ${num(bound.asked)}`);
  if (bound.rows > 1) reasons.push("all mistakes corrected at once");
  return `${start}. From start 0 that is (*R*/*γ*)² = ${num(bound.ratio)} mistakes; with ${listed(reasons)} it is [=${num(bound.most)}].`;
}

/** Return floor ≤ ‖w‖² ≤ ceiling at a tick, as three numbers. @param {Derivation} derivation @param {number} tick */
export function corridorAt(derivation, tick) {
  const { bound, trace } = derivation;
  const version = versionAt(trace, tick);
  const t = mistakesMade(derivation, version);
  return { t, floor: floorAt(bound, t), square: trace.squaredNorm[version], ceiling: ceilingAt(bound, t) };
}

/**
 * Return the event of the last tick that changed something.
 * @param {Derivation} derivation @param {number} tick
 * @returns {{title: string, text: string}}
 */
export function stepWords(derivation, tick) {
  const { trace, points, learner } = derivation;
  const at = tickCount(trace, tick);
  if (!points.n) return { title: "Add two points of different classes.", text: "Choose a class in the tool bar, then click on the stage." };
  if (at === 0) return startWords(derivation);
  if (trace.done && at >= trace.length) return statusWords(derivation);
  if (learner.kind === "perceptron" && trace.byRow) return visitWords(derivation, at);
  if (learner.kind === "perceptron") {
    const before = weightsAt(trace, at - 1);
    const after = weightsAt(trace, at);
    return { title: `Pass ${num(at)}: ${counted(trace.score[at - 1], "mistake")} corrected at once.`, text: `*w* goes from ${vec(before)} to ${vec(after)}.` };
  }
  if (learner.kind === "kernel") {
    const row = trace.row[at - 1];
    const title = trace.wrong[at - 1] ? `Mistake ${num(trace.version[at - 1])}: ${rowName(points, row)} is remembered.` : `${rowName(points, row)} is right: nothing changes.`;
    return { title, text: `Its score was ${num(trace.score[at - 1])}: the sum of the kernel values of the remembered points, each with its label.` };
  }
  const version = trace.version[at - 1];
  const value = trace.objective ? `The ${objectiveName(derivation)} is ${num(trace.objective[version])}` : "";
  const slope = trace.gradientNorm ? `, the length of its gradient ${num(trace.gradientNorm[version])}.` : ".";
  const what = trace.byRow ? `Visit ${num(at)}: ${rowName(points, trace.row[at - 1])}` : `Step ${num(at)}`;
  return { title: `${what} moves *w* to ${vec(weightsAt(trace, version), 3)}.`, text: value + slope };
}

/** @param {Derivation} derivation */
function startWords(derivation) {
  const { trace, learner, verdict, bound } = derivation;
  const w = weightsAt(trace, 0);
  const zero = w.every((value) => value === 0);
  const promise = learner.kind === "perceptron" && bound.exists ? ` The theorem allows at most [=${counted(bound.most, "mistake")}].` : "";
  if (learner.kind === "halfspace") return { title: "Ready: press play to solve the linear program.", text: "It requires *y*(*w*·*x* + *b*) ≥ 1 at every point, and maximises *t* in columns of equal size." };
  if (learner.kind === "margin") return { title: "Ready: press play to see the widest margin.", text: "Of all separating lines it is the one farthest from its nearest points." };
  if (learner.kind === "kernel") return { title: "Ready: press play, and it remembers each mistake.", text: "Later points are classified by their similarity to the remembered ones." };
  if (learner.kind !== "perceptron") return { title: `Ready: press play, and ${learnerName(learner.kind).toLowerCase()} descends its loss.`, text: zero ? "It starts at *w* = 0, where every score is 0." : `It starts at *w* = ${vec(w)}.` };
  const title = verdict.kind === "separable" ? "Ready: press play, and it visits one point after another." : "Ready: press play.";
  return { title, text: `It changes *w* only at a mistake: then it adds a blue point, or subtracts ${hasThird(derivation.points) ? "any other" : "an orange one"}.${promise}` };
}

/** @param {Derivation} derivation @param {number} at */
function visitWords(derivation, at) {
  const { trace, points, learner } = derivation;
  const row = trace.row[at - 1];
  const label = points.label[row] === 1 ? 1 : -1;
  if (!trace.wrong[at - 1]) {
    const zero = trace.score[at - 1] === 0;
    const where = zero ? `has score 0, which ${learner.tie === "correct" ? "is never a mistake" : tieWords(learner.tie)}` : "is on its own side";
    return { title: `Visit ${num(at)}: ${rowName(points, row)} ${where}.`, text: zero ? "So it is right, and *w* does not change." : `Its score is ${num(trace.score[at - 1])}, so *w* does not change.` };
  }
  const k = trace.version[at - 1];
  const value = trace.score[at - 1];
  const other = label > 0 ? "orange" : "blue";
  const reached = label * value > 0 ? "too close to the line" : value === 0 ? `has score 0, which ${tieWords(learner.tie)}` : `has the score of ${other === "blue" ? "a blue point" : hasThird(points) ? "the rest" : "an orange point"}`;
  const [before, after] = [weightsAt(trace, k - 1), weightsAt(trace, k)];
  const x = Array.from({ length: derivation.features.p }, (_, j) => derivation.features.values[row * derivation.features.p + j]);
  const seen = learner.intercept ? [1, ...x] : x;
  const rate = learner.schedule === "inverse" ? learner.rate / k : learner.rate;
  const step = `${label > 0 ? "+" : "−"} ${rate === 1 ? "" : `${num(rate)}·`}*x*${subscript(row + 1)}`;
  return {
    title: `Mistake ${num(k)}: ${rowName(points, row)} ${label * value > 0 ? `is ${reached}` : reached}.`,
    text: `*w* ← *w* ${step} = ${vec(before)} ${label > 0 ? "+" : "−"} ${rate === 1 ? "" : `${num(rate)}·`}${vec(seen)} = ${vec(after)}, which ${label > 0 ? "raises" : "lowers"} its score.`,
  };
}

/** @param {string} tie */
function tieWords(tie) {
  return tie === "positive" ? "counts as blue" : tie === "negative" ? "counts as orange" : "counts as a mistake";
}

/**
 * Return how a run ended.
 * @param {Derivation} derivation
 * @returns {{title: string, text: string}}
 */
export function statusWords(derivation) {
  const { trace, points, learner, verdict } = derivation;
  const made = mistakesMade(derivation, trace.updates);
  const wrong = wrongRows(derivation, modelAt(derivation, trace.length));
  const wrongText = wrong ? `${counted(wrong, "point")} of ${num(points.n)} wrong` : "every point is right";
  switch (trace.status) {
    case "empty":
      return { title: "Nothing to learn yet.", text: "Add a point of each class." };
    case "converged":
      if (countsMistakes(derivation)) {
        const clean = trace.byRow ? `it stopped after a full round without one` : "it stopped after a pass without one";
        return { title: learner.kind === "kernel" ? "Done: every point is right." : "Done: every point is on its own side.", text: `${counted(made, "mistake")} in ${counted(trace.length, trace.byRow ? "visit" : "pass", trace.byRow ? "visits" : "passes")}; ${clean}.` };
      }
      return { title: `Done after ${counted(trace.length, trace.byRow ? "visit" : "step")}: ${wrongText}.`, text: trace.objective ? `The ${objectiveName(derivation)} is ${num(trace.objective[trace.updates])}, and its gradient is 0 to rounding.` : "" };
    case "cycle":
      return { title: "It will never stop: the weights repeat.", text: `At visit ${num(trace.cycle?.to ?? 0)} it has the same *w* as at visit ${num(trace.cycle?.from ?? 0)}, with the same point next. From here on the run is a loop.` };
    case "max updates":
      return { title: `Stopped after ${counted(made, "mistake")}.`, text: limitWords(derivation, wrongText) };
    case "max steps":
      return { title: `Stopped after ${counted(trace.length, trace.byRow ? "visit" : "step")}: ${wrongText}.`, text: trace.objective ? `The ${objectiveName(derivation)} is ${num(trace.objective[trace.updates])}.` : "Raise the limit in the drawer to continue." };
    case "runs off":
      return { title: "The likelihood has no maximum.", text: `${verdict.kind === "one class" ? "There is nothing on the other side" : verdict.kind === "quasi" ? "The classes only just touch" : hasThird(points) ? "Blue is separable from the rest" : "The classes are separable"}, so a longer *w* is always better: after ${counted(trace.length, "step")} its length is ${num(Math.sqrt(trace.squaredNorm[trace.updates]))}, and still growing.` };
    case "diverged":
      return { title: "The rate is too large: the steps grow without limit.", text: "Choose a smaller rate in the drawer, or 0 for an automatic one." };
    case "optimal":
      return optimalWords(derivation, wrongText);
    case "infeasible":
      return infeasibleWords(derivation);
    default:
      return { title: "Still running …", text: `${counted(trace.length, trace.byRow ? "visit" : "step")} so far.` };
  }
}

/**
 * Return the conclusion at the limit of mistakes. A kernel perceptron works in a feature space without a verdict.
 * @param {Derivation} derivation @param {string} wrongText
 */
function limitWords({ learner, verdict, bound }, wrongText) {
  const line = learner.lift === "none" ? "line" : "plane of the features";
  if (learner.kind === "perceptron" && bound.exists && Number.isFinite(bound.most)) return `A ${line} exists, so it would converge: raise the limit in the drawer.`;
  if (learner.kind === "perceptron" && verdict.kind === "overlap" && learner.tie !== "correct") return `No ${line} exists, so more updates would not help: ${wrongText}.`;
  return `The limit is reached, with ${wrongText}: raise it in the drawer to continue.`;
}

/** @param {Derivation} derivation @returns {{title: string, text: string}} */
function infeasibleWords({ learner, verdict, points }) {
  if (verdict.kind === "one class") return { title: "There is nothing to separate.", text: hasThird(points) ? "All points are on one side: add a blue one." : "There is only one class: add a point of the other." };
  if (verdict.kind !== "overlap" && verdict.kind !== "quasi") return { title: "Not solved.", text: "Whether there is such a line is undecided." };
  const classes = hasThird(points) ? "Blue is not separable from the rest" : "The classes are not separable";
  return { title: `There is no such ${learner.lift === "none" ? "line" : "plane"}.`, text: `${classes}, so ${learner.kind === "margin" ? "there is no margin to widen" : "the linear program has no solution"}.` };
}

/** @param {Derivation} derivation @param {string} wrongText */
function optimalWords(derivation, wrongText) {
  const { trace, verdict, learner } = derivation;
  if (learner.kind === "halfspace") return { title: "Solved: every point is on its own side.", text: "Many lines separate the classes; the linear program returns a corner of its feasible region." };
  if (learner.kind === "margin" && verdict.margin) {
    return { title: `No line has a wider margin than [=${num(verdict.margin.gamma)}].`, text: `${counted(verdict.margin.pins.length, "support vector determines", "support vectors determine")} it; the other points could move a little without changing it.` };
  }
  if (learner.kind === "zero-one") return { title: `The fewest mistakes: ${wrongText}.`, text: "Found by trying every candidate line; none makes fewer." };
  const far = trace.gap && trace.gap.gap > 1e-12 * Math.abs(trace.gap.upper);
  const gap = trace.gap ? (far ? ` The optimality gap is at most [=${num(trace.gap.gap)}].` : " It is [=optimal] to floating-point precision.") : "";
  return { title: `Done after ${counted(trace.length, "step")}: ${wrongText}.`, text: `Objective ${num(trace.objective ? trace.objective[trace.updates] : NaN)}.${gap}` };
}

/**
 * Return the title of weight space.
 * @param {Derivation} derivation @param {number} tick
 * @returns {string}
 */
export function weightWords(derivation, tick) {
  const { trace, verdict, learner, points } = derivation;
  if (learner.kind === "kernel") return `No weight vector, but ${counted(versionAt(trace, tick), "remembered mistake")}.`;
  const w = weightsAt(trace, versionAt(trace, tick));
  const end = trace.done && tick >= trace.length - 1e-9;
  if (trace.cycle && end) return `A loop: *w* at visit ${num(trace.cycle.to)} equals *w* at visit ${num(trace.cycle.from)}.`;
  if (trace.status === "runs off" && end) return `*w* = ${vec(w, 3)} keeps growing: no point of weight space is optimal.`;
  if (w.every((value) => value === 0)) return "In weight space the roles swap: each point draws a line, and *w* is a point that must get to its right side.";
  const wrong = wrongRows(derivation, modelAt({ ...derivation, learner }, Math.min(tick, trace.length)));
  if (verdict.kind === "overlap") return "In weight space the half-planes of the points have no point in common: no *w* is right for all.";
  if (!wrong) return `*w* = ${vec(w)} is on the right side of every line: no point is wrong.`;
  return `*w* = ${vec(w)} has ${counted(points.n - wrong, "point")} right and ${num(wrong)} wrong.`;
}

/**
 * Return the description of one point.
 * @param {Derivation} derivation @param {number} tick @param {number} i
 * @returns {string}
 */
export function pointWords(derivation, tick, i) {
  const { points, trace, bound, verdict } = derivation;
  const model = modelAt(derivation, tick);
  const [x1, x2] = [points.x1[i], points.x2[i]];
  const far = distance(model, x1, x2);
  const parts = [`${rowName(points, i)} at ${vec([x1, x2])}`, `score ${num(score(model, x1, x2))}`];
  if (far !== null) parts.push(`${num(Math.abs(far))} from the line`);
  const mistakes = countRow(trace, tick, i);
  if (trace.byRow && countsMistakes(derivation)) parts.push(counted(mistakes, "mistake"));
  if (verdict.margin?.pins.includes(i)) parts.push("[=at the widest margin]");
  if (bound.exists && bound.farthest === i) parts.push("[=sets R]");
  const place = verdict.witness ? verdict.witness.rows.indexOf(i) : -1;
  if (verdict.witness && place >= 0) parts.push(`[=weight ${num(verdict.witness.multipliers[place], 3)} in the proof]`);
  return parts.join(" · ");
}

/** @param {Trace} trace @param {number} tick @param {number} i */
function countRow(trace, tick, i) {
  let count = 0;
  const version = versionAt(trace, tick);
  for (let k = 0; k < version && trace.byRow; k++) if (trace.row[trace.updateTick[k] - 1] === i) count++;
  return count;
}

/**
 * Return the title of the losses' figure.
 * @param {Derivation} derivation @param {number} tick
 * @returns {string}
 */
export function lossWords(derivation, tick) {
  const { trace, points } = derivation;
  const version = versionAt(trace, tick);
  const wrong = wrongRows(derivation, modelAt(derivation, tick));
  const value = trace.objective ? `${objectiveName(derivation)} [#${num(trace.objective[version])}], ` : "";
  return wrong ? `${value}${counted(wrong, "point")} wrong (${percent(wrong / points.n)}).` : `${value}no point wrong.`;
}

/**
 * Return the figure in words, for screen readers.
 * @param {Derivation} derivation @param {number} tick @param {string[]} [labels]
 * @returns {string}
 */
export function figureLabel(derivation, tick, labels = []) {
  const { points, trace, learner } = derivation;
  const w = learner.kind === "kernel" ? "" : ` w = ${vec(blend(trace, tick))}.`;
  return `${learnerName(learner.kind)} on ${counted(points.n, "point")}. ${plain(verdictWords(derivation, labels).title)}.${w}`;
}
