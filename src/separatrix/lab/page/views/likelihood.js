/**
 * Does the likelihood have a maximum? The mean log-loss along the present direction of w,
 * with the run on it: a valley that ends, or a slope that never does.
 */

import { num } from "../words/number.js";
import { Labels } from "./labels.js";
import { arrow, disc, fill, stroke, write } from "./pen.js";
import { cameraFor, ticks } from "./sheet.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./pen.js").Pixel} Pixel */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./sheet.js").Size} Size */
/** @typedef {import("../state/clock.js").Moment} Moment */
/** @typedef {import("../core/types.js").Derivation} Derivation */

/**
 * @typedef {object} LikelihoodScene
 * @property {Derivation} run
 * @property {Moment} moment
 * @property {Float64Array} w    weights as shown now
 * @property {number} reach      largest ‖w‖ that the chart shows
 * @property {boolean} secret    the answer is not drawn yet
 */

const MARGINS = { left: 48, right: 22, top: 22, bottom: 44 };

/**
 * Whether no finite maximum exists: the rows are separable or quasi-separable.
 * @param {Derivation} run
 * @returns {boolean}
 */
function runsOff(run) {
  if (run.learner.strength > 0) return false;
  return run.verdict.kind === "separable" || run.verdict.kind === "quasi" || run.verdict.kind === "one class";
}

/**
 * How far the chart should reach.
 * @param {Float64Array} w
 * @returns {number}
 */
export function likelihoodReach(w) {
  return Math.max(3, 1.6 * Math.hypot(...w));
}

/**
 * Draw the chart.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {LikelihoodScene} scene
 */
export function drawLikelihood(pen, palette, size, scene) {
  const { run, w, reach } = scene, length = Math.hypot(...w), direction = directionOf(run, w, length);
  const curve = lossAlong(run, direction, reach);
  const top = Math.max(0.75, Math.min(2.5, 1.15 * Math.max(curve[0], lossAt(run, direction, length))));
  const camera = cameraFor({ x0: 0, x1: reach, y0: 0, y1: top }, size, MARGINS, false);
  const labels = new Labels(pen, palette, { left: MARGINS.left, right: size.width - 4, top: 4, bottom: size.height - MARGINS.bottom - 4 });
  drawFrame(pen, palette, size, camera, reach, top);
  /** @type {Pixel[]} */
  const line = Array.from(curve, (value, k) => [camera.x((reach * k) / (curve.length - 1)), camera.y(value)]);
  const endless = runsOff(run) && !scene.secret;
  if (endless) fill(pen, [...line, [camera.x(reach), camera.y(0)], [camera.x(0), camera.y(0)]], palette["proof-tint"]);
  pen.save();
  pen.beginPath();
  pen.rect(MARGINS.left - 2, 0, size.width, size.height - MARGINS.bottom + 10);
  pen.clip();
  stroke(pen, line, endless ? palette.proof : palette.ink, 2.5 * palette.scale);
  drawSteps(pen, palette, scene, camera, length);
  pen.restore();
  const x = camera.x(length), y = camera.y(lossAt(run, direction, length));
  disc(pen, x, y, 7.5 * palette.scale, palette.ink, palette.paper, 2.5);
  labels.reserve(x, y, 12);
  for (let k = 0; k + 1 < line.length; k += 2) labels.reserveLine(line[k], line[Math.min(line.length - 1, k + 2)], 3);
  const style = { size: 15, serif: true, italic: true, weight: 600, halo: palette.paper };
  if (endless) {
    const end = line[line.length - 1];
    arrow(pen, [end[0] - 34, end[1] - 16], [end[0] + 6, end[1] - 16], palette.proof, 2.5);
    const places = [0.16, 0.25, 0.35, 0.5, 0.65, 0.8].map((share) => /** @type {Pixel} */ ([size.width - 112 * palette.scale, camera.y(top * share)]));
    labels.place("decreasing: no minimum", places, { ...style, colour: palette.proof });
  } else if (!scene.secret) drawLowest(pen, palette, camera, curve, reach, labels, style);
}

/**
 * @param {Derivation} run
 * @param {Float64Array} w
 * @param {number} length
 * @returns {Float64Array}
 */
function directionOf(run, w, length) {
  if (length > 0) return w.map((value) => value / length);
  const out = new Float64Array(w.length), first = run.learner.intercept ? 1 : 0;
  if (first < out.length) out[first] = 1;
  return out;
}

/**
 * Mean log-loss at a length along a direction.
 * @param {Derivation} run
 * @param {Float64Array} direction
 * @param {number} length
 * @returns {number}
 */
function lossAt(run, direction, length) {
  const { features, learner } = run, skip = learner.intercept ? 1 : 0;
  let total = 0;
  for (let i = 0; i < features.n; i++) {
    let eta = skip ? direction[0] : 0;
    for (let j = 0; j < features.p; j++) eta += direction[skip + j] * features.values[i * features.p + j];
    const margin = features.signs[i] * eta * length;
    total += margin > 0 ? Math.log1p(Math.exp(-margin)) : -margin + Math.log1p(Math.exp(margin));
  }
  return (features.n ? total / features.n : 0) + (learner.strength * length * length) / 2;
}

/**
 * @param {Derivation} run
 * @param {Float64Array} direction
 * @param {number} reach
 * @returns {Float64Array}
 */
function lossAlong(run, direction, reach) {
  const count = run.points.n > 2000 ? 24 : 60, curve = new Float64Array(count + 1);
  for (let k = 0; k <= count; k++) curve[k] = lossAt(run, direction, (reach * k) / count);
  return curve;
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {import("./sheet.js").Camera} camera
 * @param {number} reach
 * @param {number} top
 */
function drawFrame(pen, palette, size, camera, reach, top) {
  const floor = camera.y(0), style = { colour: palette.soft, size: 12.5 };
  for (const y of ticks(0, top, 3)) {
    if (y) stroke(pen, [[MARGINS.left, camera.y(y)], [size.width - 8, camera.y(y)]], palette.hair, 1);
    write(pen, palette, num(y), MARGINS.left - 8, camera.y(y), { ...style, align: "right", base: "middle" });
  }
  for (const x of ticks(0, reach, 5)) write(pen, palette, num(x), camera.x(x), floor + 17 * palette.scale, { ...style, align: "center" });
  pen.globalAlpha = 0.6;
  stroke(pen, [[MARGINS.left, MARGINS.top - 8], [MARGINS.left, floor], [size.width - 8, floor]], palette.edge, 1);
  pen.globalAlpha = 1;
  const italic = { colour: palette.soft, size: 14.5, serif: true, italic: true };
  write(pen, palette, "mean log-loss", 4, 14, italic);
  write(pen, palette, "‖w‖ →", size.width - 8, floor + 36 * palette.scale, { ...italic, align: "right" });
}

/**
 * The steps taken so far, as ticks on the axis.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {LikelihoodScene} scene
 * @param {import("./sheet.js").Camera} camera
 * @param {number} length
 */
function drawSteps(pen, palette, scene, camera, length) {
  const { trace } = scene.run, last = Math.floor(scene.moment.updates), every = Math.max(1, Math.ceil(last / 80));
  pen.globalAlpha = 0.55;
  for (let k = 0; k <= last; k += every) {
    const x = camera.x(Math.sqrt(trace.squaredNorm[k]));
    stroke(pen, [[x, camera.y(0)], [x, camera.y(0) - 7]], palette.ink, 1.5);
  }
  pen.globalAlpha = 1;
  stroke(pen, [[camera.x(length), camera.y(0)], [camera.x(length), camera.y(0) - 12]], palette.ink, 2.5);
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {import("./sheet.js").Camera} camera
 * @param {Float64Array} curve
 * @param {number} reach
 * @param {Labels} labels
 * @param {Omit<import("./pen.js").TextStyle, "colour">} style
 */
function drawLowest(pen, palette, camera, curve, reach, labels, style) {
  let best = 0;
  for (let k = 1; k < curve.length; k++) if (curve[k] < curve[best]) best = k;
  if (best === 0 || best === curve.length - 1) return;
  const at = (reach * best) / (curve.length - 1), x = camera.x(at), y = camera.y(curve[best]);
  stroke(pen, [[x, y], [x, camera.y(0)]], palette.ink, 1.5, [2, 4]);
  labels.place(`minimum near ${num(at, 2)}`, [[x, y + 20], [x + 50, y - 22], [x - 40, y - 22]], { ...style, colour: palette.ink });
}
