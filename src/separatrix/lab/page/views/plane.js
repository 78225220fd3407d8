/**
 * The stage: points, the learner's predictions over the plane, and the proof on request.
 */

import { planeOf } from "../core/model.js";
import { weightsAt } from "../core/derive.js";
import { num, subscript } from "../words/number.js";
import { Labels } from "./labels.js";
import { markRadius } from "./marks.js";
import { classToken } from "./palette.js";
import { arrow, disc, ring, stroke } from "./pen.js";
import { drawHulls, drawMultipliers, drawPins, drawRadius, drawReflection, drawSlab, pixelOf } from "./proof.js";
import { drawDecision, linePixels } from "./region.js";
import { drawHint, drawMarks, drawNumbers, drawScan, reserveMarks } from "./rows.js";
import { cameraFor, roundStep } from "./sheet.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./pen.js").Pixel} Pixel */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./sheet.js").Box} Box */
/** @typedef {import("./sheet.js").Camera} Camera */
/** @typedef {import("./sheet.js").Size} Size */
/** @typedef {import("./proof.js").Canvas} Canvas */
/** @typedef {import("../state/clock.js").Moment} Moment */
/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Model} Model */
/** @typedef {import("../core/types.js").Points} Points */

/** @typedef {import("./rows.js").PlaneScene} PlaneScene */

const PULLS = [0.8, 0.5, 0.2];

/**
 * The camera of the stage.
 * @param {Size} size
 * @param {Box} box
 * @param {boolean} compact
 * @param {boolean} room
 * @returns {Camera}
 */
export function planeCamera(size, box, compact, room) {
  const side = compact ? 18 : 26;
  return cameraFor(box, size, { left: side, right: room ? 66 : side, top: compact ? 56 : 22, bottom: 22 }, true);
}

/**
 * Draw the stage.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {PlaneScene} scene
 */
export function drawPlane(pen, palette, size, scene) {
  const { run, model, moment } = scene, { points } = run;
  const camera = planeCamera(size, scene.box, scene.compact, scene.room);
  const r = markRadius(points.n, palette.scale) * (scene.compact ? 0.8 : 1);
  /** @type {Canvas} */
  const canvas = { pen, palette, camera, size, points, r };
  const labels = new Labels(pen, palette, { left: 6, right: size.width - (scene.room ? 62 : 6), top: scene.compact ? 52 : 6, bottom: size.height - 6 });
  const parted = showsLine(run), quiet = parted ? 1 : 0.45;
  if (!isBlank(model)) drawDecision(pen, palette, camera, size, model, { tint: parted ? 1 : 0.4, line: quiet });
  drawAxes(canvas, scene, labels);
  drawEvidenceBelow(canvas, scene);
  if (isOneDimensional(points) && run.learner.kind === "logistic") drawSigmoid(canvas, scene, labels);
  else drawWeights(canvas, scene, labels, quiet);
  drawPull(canvas, scene);
  drawMarks(canvas, scene, labels);
  if (scene.bitmap) drawLineAgain(canvas, model, quiet);
  if (scene.scanning && moment.row >= 0 && moment.row < points.n) drawScan(canvas, moment);
  drawEvidenceAbove(canvas, scene, labels);
  drawNumbers(canvas, labels);
  if (scene.hint && points.n) drawHint(canvas, scene.hint, labels);
}

/**
 * Whether the verdict keeps the learner's line.
 * @param {Derivation} run
 * @returns {boolean}
 */
function showsLine(run) {
  return run.verdict.kind !== "overlap" || run.learner.kind === "zero-one" || run.learner.kind === "svm" || run.learner.kind === "lms" || run.learner.kind === "logistic" || run.learner.kind === "softmax" || run.learner.kind === "kernel";
}

/**
 * Whether the model predicts nothing yet.
 * @param {Model} model
 * @returns {boolean}
 */
function isBlank(model) {
  const values = model.shape === "kernel" ? model.alpha : model.w;
  return !values || values.every((value) => value === 0);
}

/**
 * Whether all points lie on the first axis.
 * @param {Points} points
 * @returns {boolean}
 */
export function isOneDimensional(points) {
  for (let i = 0; i < points.n; i++) if (points.x2[i] !== 0) return false;
  return points.n > 1;
}

/**
 * @param {Canvas} canvas
 * @param {PlaneScene} scene
 * @param {Labels} labels
 */
function drawAxes(canvas, scene, labels) {
  const { pen, palette, camera, size } = canvas;
  const x0 = camera.dataX(0), x1 = camera.dataX(size.width), y0 = camera.dataY(size.height), y1 = camera.dataY(0);
  const step = roundStep(80 / camera.unitX), fine = step / 2;
  if (fine * camera.unitX > 14) {
    pen.globalAlpha = 0.28;
    pen.fillStyle = palette.edge;
    for (let i = Math.ceil(x0 / fine); i * fine <= x1; i++) {
      for (let j = Math.ceil(y0 / fine); j * fine <= y1; j++) pen.fillRect(camera.x(i * fine) - 0.9, camera.y(j * fine) - 0.9, 1.8, 1.8);
    }
  }
  pen.globalAlpha = 0.45;
  const ox = camera.x(0), oy = camera.y(0);
  stroke(pen, [[0, oy], [size.width, oy]], palette.edge, 1);
  stroke(pen, [[ox, 0], [ox, size.height]], palette.edge, 1);
  pen.globalAlpha = 1;
  reserveMarks(canvas, labels);
  const style = { colour: palette.soft, size: 12.5 };
  for (let i = Math.ceil(x0 / step); i * step <= x1; i++) if (i) labels.place(num(i * step), [[camera.x(i * step), oy + 13 * palette.scale]], style);
  for (let j = Math.ceil(y0 / step); j * step <= y1; j++) if (j) labels.place(num(j * step), [[ox - 14 * palette.scale, camera.y(j * step)]], style);
  const [across, up] = scene.names;
  const italic = { colour: palette.soft, size: 14.5, serif: true, italic: true, halo: palette.card };
  const room = labels.frame.right - labels.frame.left - 16, top = labels.frame.top + 12;
  if (across) {
    const text = `${labels.cut(across, 0.6 * room, italic)} →`, x = labels.frame.right - labels.width(text, italic) / 2 - 8;
    labels.place(text, [[x, oy - 14], [x, oy + 32], [x, size.height - 20], [x, top + 24]], italic, true);
  }
  if (up) {
    const text = `${labels.cut(up, 0.4 * room, italic)} ↑`, half = labels.width(text, italic) / 2;
    labels.place(text, [[ox + half + 12, top], [ox - half - 12, top], [labels.frame.left + half + 8, top]], italic, true);
  }
}

/**
 * @param {Canvas} canvas
 * @param {PlaneScene} scene
 */
function drawEvidenceBelow(canvas, scene) {
  const { verdict, planeVerdict, learner } = scene.run;
  if (learner.lift !== "none" || learner.kind === "kernel") {
    if (planeVerdict.kind === "overlap" && scene.proof > 0.01) drawHulls(canvas, planeVerdict, scene.proof);
    return;
  }
  if (verdict.margin && scene.proof > 0.01) drawSlab(canvas, verdict.margin, scene.proof);
  if (!verdict.witness || scene.proof < 0.01) return;
  if (verdict.intercept) drawHulls(canvas, verdict, scene.proof);
  else drawReflection(canvas, verdict, scene.proof);
}

/**
 * @param {Canvas} canvas
 * @param {PlaneScene} scene
 * @param {Labels} labels
 */
function drawEvidenceAbove(canvas, scene, labels) {
  const { run, proof, radius } = scene, plain = run.learner.lift === "none" && run.learner.kind !== "kernel";
  const verdict = plain ? run.verdict : run.planeVerdict;
  if (radius > 0.01 && plain) drawRadius(canvas, run.bound, radius, labels);
  if (verdict.margin && proof > 0.01 && plain) drawPins(canvas, verdict.margin, proof, labels);
  if (verdict.witness && proof > 0.01) drawMultipliers(canvas, verdict, proof, labels);
}

/**
 * The probability of the + class over the first axis: ½ at the axis.
 * @param {Canvas} canvas
 * @param {PlaneScene} scene
 * @param {Labels} labels
 */
function drawSigmoid(canvas, scene, labels) {
  const { pen, palette, camera, size } = canvas, plane = planeOf(scene.model);
  if (!plane) return;
  const middle = camera.y(0), reach = Math.min(middle - 24, size.height - middle - 24);
  /** @type {Pixel[]} */
  const curve = [];
  for (let px = 0; px <= size.width; px += 3) {
    const eta = plane[0] + plane[1] * camera.dataX(px);
    curve.push([px, middle - reach * Math.tanh(eta / 2)]);
  }
  pen.globalAlpha = 0.5;
  stroke(pen, [[0, middle - reach], [size.width, middle - reach]], palette.edge, 1, [3, 4]);
  stroke(pen, [[0, middle + reach], [size.width, middle + reach]], palette.edge, 1, [3, 4]);
  pen.globalAlpha = 1;
  stroke(pen, curve, palette.ink, 3 * palette.scale);
  const style = { colour: palette.soft, size: 14.5, serif: true, italic: true, halo: palette.card };
  labels.place("P(blue) = 1", [[54, middle - reach + 14]], style);
  labels.place("P(blue) = 0", [[54, middle + reach - 14]], style);
}

/**
 * A cloud of points hides the line: draw it again, above.
 * @param {Canvas} canvas
 * @param {Model} model
 * @param {number} alpha
 */
function drawLineAgain(canvas, model, alpha) {
  const { pen, palette, camera, size } = canvas, plane = planeOf(model);
  if (!plane) return;
  const ends = linePixels(camera, size, ...plane);
  stroke(pen, ends, palette.card, 6 * palette.scale);
  pen.globalAlpha = alpha;
  stroke(pen, ends, palette.ink, 3 * palette.scale);
  pen.globalAlpha = 1;
}

/**
 * How far a remembered row reaches: rings where its kernel has fallen to 80, 50 and 20 %.
 * @param {Canvas} canvas
 * @param {PlaneScene} scene
 */
function drawPull(canvas, scene) {
  const { pen, palette, camera, points } = canvas, { model, hover } = scene, { kernel, gamma } = model.learner;
  if (hover < 0 || hover >= points.n || !model.alpha?.[hover] || kernel !== "rbf" || !(gamma > 0)) return;
  const [x, y] = pixelOf(canvas, hover), colour = palette[classToken(points.label[hover])];
  for (const share of PULLS) {
    pen.globalAlpha = share;
    ring(pen, x, y, Math.sqrt(-Math.log(share) / gamma) * camera.unitX, colour, 2 * palette.scale);
  }
  pen.globalAlpha = 1;
}

/**
 * The weight vector, and while a mistake is made the row that is added to it.
 * @param {Canvas} canvas
 * @param {PlaneScene} scene
 * @param {Labels} labels
 * @param {number} alpha
 */
function drawWeights(canvas, scene, labels, alpha) {
  const { pen, palette, camera, size } = canvas, { run, model, moment } = scene, plane = planeOf(model);
  if (!plane) return;
  const [b, w1, w2] = plane, squared = w1 * w1 + w2 * w2;
  if (squared > 0) {
    const foot = run.learner.intercept ? [(-b * w1) / squared, (-b * w2) / squared] : [0, 0];
    const from = /** @type {Pixel} */ ([camera.x(foot[0]), camera.y(foot[1])]);
    const before = moment.wrong && scene.scanning ? lastWeights(run, moment) : null;
    const shrink = fitting(canvas, from, [[w1, w2], ...(before ? [before.old, before.next] : [])], scene.compact);
    /** @param {number} x @param {number} y @returns {Pixel} */
    const tip = (x, y) => [from[0] + x * shrink * camera.unitX, from[1] - y * shrink * camera.unitY];
    pen.globalAlpha = alpha;
    if (before) drawUpdate(canvas, scene, labels, from, tip(before.old[0], before.old[1]), tip(before.next[0], before.next[1]));
    const end = tip(w1, w2);
    arrow(pen, from, end, palette.ink, 3 * palette.scale);
    pen.globalAlpha = 1;
    labels.reserveLine(from, end, 4);
    labelVector(labels, from, end, shrink < 0.999 ? `w ÷ ${num(1 / shrink, 2)}` : "w", palette);
  }
  if (!run.learner.intercept && size.width > 0) disc(pen, camera.x(0), camera.y(0), 4.5 * palette.scale, palette.card, palette.ink, 2);
}

/**
 * Name a vector beside its middle.
 * @param {Labels} labels
 * @param {Pixel} from
 * @param {Pixel} to
 * @param {string} text
 * @param {Palette} palette
 */
function labelVector(labels, from, to, text, palette) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (length < 14) return;
  const nx = -(to[1] - from[1]) / length, ny = (to[0] - from[0]) / length;
  /** @type {Pixel[]} */
  const places = [];
  for (const s of [0.58, 0.8, 0.35, 1.08]) for (const side of [ny > 0 ? -1 : 1, ny > 0 ? 1 : -1]) {
    const off = (16 + (Math.abs(nx) > 0.7 ? 6 + 4 * text.length : 0)) * palette.scale * side;
    places.push([from[0] + (to[0] - from[0]) * s + nx * off, from[1] + (to[1] - from[1]) * s + ny * off]);
  }
  labels.place(text, places, { colour: palette.ink, size: 18, serif: true, italic: true, weight: 600, halo: palette.card });
}

/**
 * Weights before and after the mistake under way.
 * @param {Derivation} run
 * @param {Moment} moment
 * @returns {{old: Pixel, next: Pixel}|null}
 */
function lastWeights(run, moment) {
  const { trace } = run, tick = moment.share > 0 ? moment.done : moment.done - 1;
  if (tick < 0 || !trace.wrong[tick]) return null;
  const version = trace.version[tick];
  if (version < 1) return null;
  const skip = run.learner.intercept ? 1 : 0;
  const a = weightsAt(trace, version - 1), c = weightsAt(trace, version);
  return { old: [a[skip], a[skip + 1] ?? 0], next: [c[skip], c[skip + 1] ?? 0] };
}

/**
 * How much vectors must shrink to stay on the stage.
 * @param {Canvas} canvas
 * @param {Pixel} from
 * @param {ReadonlyArray<readonly number[]>} vectors
 * @param {boolean} compact
 * @returns {number}
 */
function fitting(canvas, from, vectors, compact) {
  const { camera, size } = canvas;
  let shrink = 1;
  for (const [x, y] of vectors) {
    const dx = x * camera.unitX, dy = -y * camera.unitY;
    if (dx > 0) shrink = Math.min(shrink, Math.max(20, size.width - 84 - from[0]) / dx);
    if (dx < 0) shrink = Math.min(shrink, Math.max(20, from[0] - 24) / -dx);
    if (dy > 0) shrink = Math.min(shrink, Math.max(20, size.height - 48 - from[1]) / dy);
    if (dy < 0) shrink = Math.min(shrink, Math.max(20, from[1] - (compact ? 60 : 24)) / -dy);
  }
  return shrink;
}

/**
 * @param {Canvas} canvas
 * @param {PlaneScene} scene
 * @param {Labels} labels
 * @param {Pixel} from
 * @param {Pixel} old
 * @param {Pixel} next
 */
function drawUpdate(canvas, scene, labels, from, old, next) {
  const { pen, palette, points } = canvas, { moment } = scene, label = points.label[moment.row];
  const grown = moment.share > 0 ? Math.min(1, moment.share / 0.35) : 1;
  const alpha = pen.globalAlpha;
  pen.globalAlpha = alpha * 0.32;
  arrow(pen, from, old, palette.ink, 2.5 * palette.scale);
  pen.globalAlpha = alpha;
  /** @type {Pixel} */
  const end = [old[0] + (next[0] - old[0]) * grown, old[1] + (next[1] - old[1]) * grown];
  arrow(pen, old, end, palette[classToken(label)], 3 * palette.scale);
  if (grown < 0.9) return;
  const mx = (old[0] + next[0]) / 2, my = (old[1] + next[1]) / 2;
  const style = { colour: palette[label > 0 ? "plus-text" : "minus-text"], size: 16, serif: true, italic: true, weight: 600, halo: palette.card };
  labels.place(`${label > 0 ? "+" : "−"} x${subscript(moment.row + 1)}`, [[mx + 28, my], [mx - 28, my], [mx, my - 18], [mx, my + 18]], style);
}

/**
 * A box around points, with room, never empty.
 * @param {Points} points
 * @returns {Box}
 */
export function boxAround(points) {
  let x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  const wide = Math.max(0, ...[points.x1, points.x2].map((column) => column.reduce((most, value) => Math.max(most, Math.abs(value)), 0)));
  for (let i = 0; i < points.n; i++) {
    x0 = Math.min(x0, points.x1[i]); x1 = Math.max(x1, points.x1[i]);
    y0 = Math.min(y0, points.x2[i]); y1 = Math.max(y1, points.x2[i]);
  }
  const pad = Math.max(0.12 * (x1 - x0), 0.12 * (y1 - y0), 0.1 * wide, wide ? 0 : 3) || 1;
  const tall = Math.max(y1 - y0, 0.35 * (x1 - x0)) - (y1 - y0);
  return { x0: x0 - pad, x1: x1 + pad, y0: y0 - pad - tall / 2, y1: y1 + pad + tall / 2 };
}
