/**
 * Weight space: each point is a line here, and w must end on its right side. The path of w,
 * leg by leg in the colour of the row that caused it, and the region where all are right.
 *
 * With an intercept the picture is the slice at the present b; for points on one axis it is
 * the plane of (w₁, b).
 */

import { weightsAt } from "../core/derive.js";
import { Labels } from "./labels.js";
import { classToken } from "./palette.js";
import { disc, fill, hatch, stroke } from "./pen.js";
import { isOneDimensional } from "./plane.js";
import { clipHalf } from "./region.js";
import { cameraFor } from "./sheet.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./pen.js").Pixel} Pixel */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./sheet.js").Camera} Camera */
/** @typedef {import("./sheet.js").Size} Size */
/** @typedef {import("../state/clock.js").Moment} Moment */
/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Points} Points */

/**
 * @typedef {object} WeightScene
 * @property {Derivation} run
 * @property {Moment} moment
 * @property {Float64Array} w      weights as shown now
 * @property {number} reach        half the height of the picture
 * @property {number} lit          row whose line is lit, −1 if none
 * @property {boolean} region      whether the region may be shown
 * @property {boolean} startable   whether the start can be dragged
 */

/** @typedef {{across: number, up: number, rest: number}} Axes places of the weights shown, and of the one held still */

const LEGS = 240;
const DOTTED = 60;
const LINES = 60;

/**
 * Which weights the axes show.
 * @param {Derivation} run
 * @returns {Axes|null} null where there is no plane of weights to show
 */
export function weightAxes(run) {
  const { trace, learner, points } = run;
  if (learner.lift !== "none" || trace.p < 2 || trace.p > 3) return null;
  if (!learner.intercept) return { across: 0, up: 1, rest: -1 };
  return isOneDimensional(points) ? { across: 1, up: 0, rest: 2 } : { across: 1, up: 2, rest: 0 };
}

/**
 * How far the camera should reach.
 * @param {Derivation} run
 * @param {Moment} moment
 * @returns {number}
 */
export function weightReach(run, moment) {
  const axes = weightAxes(run);
  if (!axes) return 1;
  const { trace } = run, last = Math.min(trace.updates, Math.ceil(moment.updates));
  let most = 0;
  for (let k = Math.max(0, last - LEGS); k <= last; k++) {
    most = Math.max(most, Math.abs(trace.weights[k * trace.p + axes.across]) * 0.72, Math.abs(trace.weights[k * trace.p + axes.up]));
  }
  most = Math.max(most, Math.abs(trace.weights[axes.across]) * 0.72, Math.abs(trace.weights[axes.up]));
  return Math.max(1.25 * most, trace.byRow ? 1.8 : 0.6);
}

/**
 * @param {Size} size
 * @param {number} reach
 * @returns {Camera}
 */
export function weightCamera(size, reach) {
  return cameraFor({ x0: -reach, x1: reach, y0: -reach, y1: reach }, size, { left: 10, right: 10, top: 14, bottom: 14 }, true);
}

/**
 * Draw weight space.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {WeightScene} scene
 */
export function drawWeightSpace(pen, palette, size, scene) {
  const axes = weightAxes(scene.run);
  if (!axes) return;
  const camera = weightCamera(size, scene.reach);
  const labels = new Labels(pen, palette, { left: 4, right: size.width - 4, top: 4, bottom: size.height - 4 });
  const region = scene.region ? drawRegion(pen, palette, size, scene, camera, axes) : [];
  drawLines(pen, palette, size, scene, camera, axes);
  const ox = camera.x(0), oy = camera.y(0);
  pen.globalAlpha = 0.45;
  stroke(pen, [[0, oy], [size.width, oy]], palette.edge, 1);
  stroke(pen, [[ox, 0], [ox, size.height]], palette.edge, 1);
  pen.globalAlpha = 1;
  drawPath(pen, palette, scene, camera, axes, labels);
  nameAxes(palette, size, scene, camera, labels);
  if (region.length > 2) nameRegion(palette, size, region, labels);
}

/**
 * Coefficients of a row's line in the plane shown: a·across + c·up + d = 0.
 * @param {Derivation} run
 * @param {Axes} axes
 * @param {Float64Array} w
 * @param {number} row
 * @returns {[number, number, number]} signed so that ≥ 0 is right
 */
function rowLine(run, axes, w, row) {
  const { points, learner } = run, sign = points.label[row] === 1 ? 1 : -1;
  const values = learner.intercept ? [1, points.x1[row], points.x2[row]] : [points.x1[row], points.x2[row]];
  const rest = axes.rest >= 0 ? values[axes.rest] * w[axes.rest] : 0;
  return [sign * values[axes.across], sign * values[axes.up], sign * rest];
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {WeightScene} scene
 * @param {Camera} camera
 * @param {Axes} axes
 * @returns {Pixel[]}
 */
function drawRegion(pen, palette, size, scene, camera, axes) {
  const { run, w } = scene;
  /** @type {Pixel[]} */
  let region = [[camera.dataX(-9), camera.dataY(size.height + 9)], [camera.dataX(size.width + 9), camera.dataY(size.height + 9)], [camera.dataX(size.width + 9), camera.dataY(-9)], [camera.dataX(-9), camera.dataY(-9)]];
  for (const i of cornerRows(run)) if (region.length > 2) region = clipHalf(region, ...rowLine(run, axes, w, i));
  /** @type {Pixel[]} */
  const pixels = region.map((p) => [camera.x(p[0]), camera.y(p[1])]);
  if (area(pixels) < 40) return [];
  fill(pen, pixels, palette["proof-tint"]);
  hatch(pen, pixels, palette.proof);
  return pixels;
}

/**
 * Rows that bound the region: those on the hulls, which imply all others.
 * @param {Derivation} run
 * @returns {Iterable<number>}
 */
function cornerRows(run) {
  const { hullPlus, hullMinus } = run.verdict;
  return hullPlus.length + hullMinus.length ? [...hullPlus, ...hullMinus] : run.points.label.keys();
}

/**
 * @param {Pixel[]} polygon
 * @returns {number}
 */
function area(polygon) {
  let twice = 0;
  for (let k = 0; k < polygon.length; k++) {
    const p = polygon[k], q = polygon[(k + 1) % polygon.length];
    twice += p[0] * q[1] - p[1] * q[0];
  }
  return Math.abs(twice) / 2;
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {WeightScene} scene
 * @param {Camera} camera
 * @param {Axes} axes
 */
function drawLines(pen, palette, size, scene, camera, axes) {
  const { run, w, lit } = scene, reach = 3 * scene.reach * Math.max(1, size.width / Math.max(1, size.height));
  for (let i = 0; i < run.points.n; i++) {
    if (run.points.n > LINES && i !== lit) continue;
    const [a, c, d] = rowLine(run, axes, w, i), squared = a * a + c * c;
    if (squared === 0) continue;
    const length = Math.sqrt(squared), fx = (-d * a) / squared, fy = (-d * c) / squared, dx = (-c / length) * reach, dy = (a / length) * reach;
    pen.globalAlpha = i === lit ? 1 : 0.5;
    stroke(pen, [[camera.x(fx - dx), camera.y(fy - dy)], [camera.x(fx + dx), camera.y(fy + dy)]], palette[classToken(run.points.label[i])], i === lit ? 3 : 1.4);
  }
  pen.globalAlpha = 1;
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {WeightScene} scene
 * @param {Camera} camera
 * @param {Axes} axes
 * @param {Labels} labels
 */
function drawPath(pen, palette, scene, camera, axes, labels) {
  const { run, moment, w } = scene, { trace, points } = run, whole = Math.floor(moment.updates + 1e-9);
  /** @param {number} k @returns {Pixel} */
  const at = (k) => [camera.x(trace.weights[k * trace.p + axes.across]), camera.y(trace.weights[k * trace.p + axes.up])];
  /** @param {number} k version that the leg leads to */
  const colour = (k) => {
    const row = trace.byRow ? trace.row[trace.updateTick[k - 1] - 1] : -1;
    return row >= 0 && row < points.n ? palette[classToken(points.label[row])] : palette.ink;
  };
  pen.lineCap = "round";
  const first = Math.max(1, whole - LEGS);
  for (let k = first; k <= whole; k++) stroke(pen, [at(k - 1), at(k)], colour(k), 2.5 * palette.scale);
  /** @type {Pixel} */
  const now = [camera.x(w[axes.across]), camera.y(w[axes.up])];
  if (moment.updates > whole && whole < trace.updates) stroke(pen, [at(whole), now], colour(whole + 1), 2.5 * palette.scale);
  pen.lineCap = "butt";
  if (trace.updates <= DOTTED) for (let k = 0; k <= whole; k++) disc(pen, ...at(k), 3 * palette.scale, palette.ink);
  const start = at(0);
  if (trace.p) disc(pen, start[0], start[1], 7 * palette.scale, palette.card, palette.ink, 2);
  disc(pen, now[0], now[1], 7.5 * palette.scale, palette.ink, palette.card, 2.5);
  for (let k = first - 1; k <= whole; k += Math.ceil((whole + 1) / 80)) labels.reserve(...at(k), 5);
  for (let k = first; k <= whole && whole < DOTTED; k++) labels.reserveLine(at(k - 1), at(k), 4);
  labels.reserve(now[0], now[1], 10);
  labels.reserve(start[0], start[1], 9);
  const serif = { size: 17, serif: true, italic: true, weight: 600, halo: palette.card };
  labels.place("w", [[now[0] + 17, now[1] - 10], [now[0] + 17, now[1] + 12], [now[0] - 17, now[1] - 10], [now[0] - 17, now[1] + 12]], { ...serif, colour: palette.ink }, true);
  if (scene.startable) labels.place("start: drag me", [[start[0] - 60, start[1] + 17], [start[0] + 60, start[1] + 17], [start[0] - 60, start[1] - 17], [start[0], start[1] + 26]], { ...serif, size: 14, weight: 400, colour: palette.soft });
}

/**
 * @param {Palette} palette
 * @param {Size} size
 * @param {WeightScene} scene
 * @param {Camera} camera
 * @param {Labels} labels
 */
function nameAxes(palette, size, scene, camera, labels) {
  const style = { colour: palette.soft, size: 14, serif: true, italic: true };
  const flat = isOneDimensional(scene.run.points) && scene.run.learner.intercept;
  labels.place("w₁", [[18, camera.y(0) - 11], [size.width - 18, camera.y(0) - 11], [18, camera.y(0) + 13]], style);
  labels.place(flat ? "b" : "w₂", [[camera.x(0) + 15, 14], [camera.x(0) - 15, 14], [camera.x(0) + 15, size.height - 14]], style);
}

/**
 * @param {Palette} palette
 * @param {Size} size
 * @param {Pixel[]} region
 * @param {Labels} labels
 */
function nameRegion(palette, size, region, labels) {
  const cx = region.reduce((sum, p) => sum + Math.max(0, Math.min(size.width, p[0])), 0) / region.length;
  const cy = region.reduce((sum, p) => sum + Math.max(0, Math.min(size.height, p[1])), 0) / region.length;
  /** @type {Pixel[]} */
  const places = [];
  for (const ring of [0, 1, 2, 3]) for (let k = 0; k < 8; k++) {
    const angle = (k * Math.PI) / 4;
    const place = /** @type {Pixel} */ ([cx + ring * 26 * Math.cos(angle), cy + ring * 20 * Math.sin(angle)]);
    if (inside(region, place[0] - 26, place[1]) && inside(region, place[0] + 26, place[1])) places.push(place);
  }
  labels.place("all correct", places, { colour: palette.proof, size: 15, serif: true, italic: true, weight: 600, halo: palette.card });
}

/**
 * @param {Pixel[]} polygon convex
 * @param {number} x
 * @param {number} y
 * @returns {boolean}
 */
function inside(polygon, x, y) {
  let sign = 0;
  for (let k = 0; k < polygon.length; k++) {
    const p = polygon[k], q = polygon[(k + 1) % polygon.length];
    const turn = (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]);
    if (turn * sign < 0) return false;
    if (turn !== 0) sign = Math.sign(turn);
  }
  return true;
}

/**
 * Pixel of the start vector, to be grasped.
 * @param {Size} size
 * @param {WeightScene} scene
 * @returns {Pixel|null}
 */
export function startPixel(size, scene) {
  const axes = weightAxes(scene.run);
  if (!axes || !scene.startable) return null;
  const camera = weightCamera(size, scene.reach), w = weightsAt(scene.run.trace, 0);
  return [camera.x(w[axes.across]), camera.y(w[axes.up])];
}
