/**
 * The bound: ‖w‖² squeezed between a floor that grows with t² and a ceiling that grows with t,
 * until they meet and no further mistake is possible.
 */

import { ceilingAt, floorAt } from "../core/bound.js";
import { num } from "../words/number.js";
import { Labels } from "./labels.js";
import { mark } from "./marks.js";
import { disc, fill, hatch, stroke, write } from "./pen.js";
import { cameraFor, ticks } from "./sheet.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./pen.js").Pixel} Pixel */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./sheet.js").Camera} Camera */
/** @typedef {import("./sheet.js").Size} Size */
/** @typedef {import("../state/clock.js").Moment} Moment */
/** @typedef {import("../core/types.js").Bound} Bound */
/** @typedef {import("../core/types.js").Derivation} Derivation */

/** @typedef {{t: number, y: number}} BoundFrame largest t and ‖w‖² that the chart shows */

/**
 * @typedef {object} BoundScene
 * @property {Derivation} run
 * @property {Moment} moment
 * @property {number} squared     ‖w‖² as shown now
 * @property {BoundFrame} frame
 * @property {[number, number]|null} guess
 */

const MARGINS = { left: 48, right: 16, top: 26, bottom: 48 };
const MARKED = 80; // mistakes up to which each has its mark
const SAMPLES = 48;

/**
 * Where floor and ceiling meet: at most one mistake after the last whole number allowed.
 * @param {Bound} bound
 * @returns {number}
 */
function meetingPoint(bound) {
  if (!bound.exists || !Number.isFinite(bound.most)) return Infinity;
  if (bound.textbook) return bound.ratio;
  let low = bound.most, high = bound.most + 1;
  for (let k = 0; k < 40; k++) {
    const middle = (low + high) / 2;
    if (floorAt(bound, middle) <= ceilingAt(bound, middle)) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The t of each version: mistakes so far, of which the batch rule corrects several at once.
 * @param {Derivation} run
 * @param {number} count
 * @returns {Float64Array}
 */
function boundTimes(run, count) {
  const { trace, bound } = run, several = bound.rows !== 1 && !bound.inverse && !trace.byRow;
  const last = Math.min(count, trace.updates), times = new Float64Array(last + 1);
  for (let k = 1; k <= last; k++) times[k] = times[k - 1] + (several ? trace.score[trace.updateTick[k - 1] - 1] : 1);
  return times;
}

/**
 * The t of the present, fractional while an update happens.
 * @param {Derivation} run
 * @param {Moment} moment
 * @returns {number}
 */
function presentTime(run, moment) {
  const whole = Math.floor(moment.updates + 1e-9), times = boundTimes(run, whole + 1);
  const from = times[Math.min(whole, times.length - 1)], to = times[Math.min(whole + 1, times.length - 1)];
  return from + (moment.updates - whole) * (to - from);
}

/**
 * The visible part: the whole corridor at rest, the neighbourhood of w while it runs.
 * @param {Derivation} run
 * @param {Moment} moment
 * @param {boolean} resting
 * @returns {BoundFrame}
 */
export function boundFrame(run, moment, resting) {
  const { bound, trace } = run, meet = meetingPoint(bound), times = boundTimes(run, trace.updates), made = times[trace.updates];
  const wide = meet <= Math.max(60, 6 * made) ? Math.max(3, meet) : Number.isFinite(meet) ? Math.max(12, 2.2 * made) : Math.max(10, made);
  const t = resting ? wide : Math.min(wide, Math.max(5, 1.5 * presentTime(run, moment) + 2.5));
  const top = ceilingAt(bound, t) || 1;
  if (meet <= t * 1.001) return { t: t * 1.1, y: top * 1.08 };
  let most = bound.R2 || 1;
  for (let k = 0; k <= trace.updates && times[k] <= t; k++) most = Math.max(most, trace.squaredNorm[k]);
  const low = bound.exists ? floorAt(bound, t) : 0;
  return { t: t * 1.1, y: Math.min(top * 1.08, Math.max(2.4 * most, 1.4 * low)) };
}

/**
 * The camera of the chart.
 * @param {Size} size
 * @param {BoundFrame} frame
 * @returns {Camera}
 */
export function boundCamera(size, frame) {
  return cameraFor({ x0: 0, x1: frame.t, y0: 0, y1: frame.y }, size, MARGINS, false);
}

/**
 * Draw the chart.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {BoundScene} scene
 */
export function drawBound(pen, palette, size, scene) {
  const camera = boundCamera(size, scene.frame), { bound } = scene.run;
  const labels = new Labels(pen, palette, { left: MARGINS.left + 4, right: size.width - 2, top: 2, bottom: size.height - MARGINS.bottom - 2 });
  const meet = meetingPoint(bound), open = !(meet <= scene.frame.t * 0.985);
  drawGrid(pen, palette, size, scene, camera, open ? Infinity : meet);
  pen.save();
  pen.beginPath();
  pen.rect(MARGINS.left - 8, MARGINS.top - 12, size.width - MARGINS.left + 8, size.height - MARGINS.top - MARGINS.bottom + 22);
  pen.clip();
  const corridor = drawCorridor(pen, palette, scene, camera, Math.min(meet, scene.frame.t * 1.02));
  drawRun(pen, palette, scene, camera, labels);
  if (!open) drawMeeting(pen, palette, camera, bound, meet, labels);
  pen.restore();
  nameCurves(palette, size, scene, camera, corridor, labels);
  if (open && bound.exists) labels.place(`they meet at ${num(bound.most)} →`, [[size.width - 90, 12]], { colour: palette.proof, size: 15, serif: true, italic: true, weight: 600, halo: palette.paper }, true);
  if (scene.guess) drawGuess(pen, palette, size, camera, scene.guess);
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {BoundScene} scene
 * @param {Camera} camera
 * @param {number} meet
 */
function drawGrid(pen, palette, size, scene, camera, meet) {
  const { frame } = scene, floor = camera.y(0), style = { colour: palette.soft, size: 12.5 };
  for (const y of ticks(0, frame.y, 4)) {
    if (!y) continue;
    stroke(pen, [[MARGINS.left, camera.y(y)], [size.width - 8, camera.y(y)]], palette.hair, 1);
    write(pen, palette, num(y), MARGINS.left - 8, camera.y(y), { ...style, align: "right", base: "middle" });
  }
  pen.globalAlpha = 0.6;
  stroke(pen, [[MARGINS.left, MARGINS.top - 10], [MARGINS.left, floor], [size.width - 8, floor]], palette.edge, 1);
  pen.globalAlpha = 1;
  for (const t of ticks(0, frame.t, size.width < 360 ? 4 : 6)) {
    if (Math.abs(camera.x(t) - camera.x(meet)) < 34 * palette.scale || t % 1) continue;
    write(pen, palette, num(t), camera.x(t), floor + 17 * palette.scale, { ...style, align: "center" });
  }
  if (Number.isFinite(meet)) write(pen, palette, num(scene.run.bound.most), camera.x(meet), floor + 19 * palette.scale, { colour: palette.proof, size: 17, weight: 700, align: "center" });
  const italic = { colour: palette.soft, size: 14.5, serif: true, italic: true };
  write(pen, palette, "‖w‖²", MARGINS.left - 40, 15, italic);
  const guessed = scene.guess !== null && camera.x(scene.guess[0]) > size.width / 2;
  write(pen, palette, "mistakes t →", guessed ? MARGINS.left : size.width - 8, floor + 38 * palette.scale, { ...italic, align: guessed ? "left" : "right" });
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {BoundScene} scene
 * @param {Camera} camera
 * @param {number} end
 * @returns {{upper: Pixel[], lower: Pixel[]}}
 */
function drawCorridor(pen, palette, scene, camera, end) {
  const { bound } = scene.run, now = presentTime(scene.run, scene.moment);
  /** @type {Pixel[]} */
  const upper = [];
  /** @type {Pixel[]} */
  const lower = [];
  for (let k = 0; k <= SAMPLES; k++) {
    const t = (end * k) / SAMPLES, x = camera.x(t);
    upper.push([x, camera.y(ceilingAt(bound, t))]);
    lower.push([x, camera.y(bound.exists ? Math.max(0, floorAt(bound, t)) : 0)]);
  }
  const corridor = [...upper, ...lower.slice().reverse()];
  fill(pen, corridor, palette["proof-tint"]);
  const past = corridor.map(([x, y]) => /** @type {Pixel} */ ([Math.min(x, camera.x(now)), clampY(y)]));
  hatch(pen, past, palette.proof, 0.4);
  stroke(pen, upper, palette.proof, 2.5 * palette.scale);
  if (bound.exists) stroke(pen, lower, palette.proof, 2.5 * palette.scale);
  return { upper, lower };
}

/**
 * Keep hatching finite where the ceiling leaves the chart.
 * @param {number} y
 * @returns {number}
 */
function clampY(y) {
  return Math.max(-400, y);
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {BoundScene} scene
 * @param {Camera} camera
 * @param {Labels} labels
 */
function drawRun(pen, palette, scene, camera, labels) {
  const { run, moment } = scene, { trace, bound } = run, whole = Math.floor(moment.updates + 1e-9);
  const times = boundTimes(run, whole + 1), present = presentTime(run, moment);
  /** @type {Pixel[]} */
  const path = [];
  for (let k = 0; k <= whole; k++) path.push([camera.x(times[k]), camera.y(trace.squaredNorm[k])]);
  /** @type {Pixel} */
  const now = [camera.x(present), camera.y(scene.squared)];
  if (moment.updates > whole) path.push(now);
  const x = now[0], up = camera.y(ceilingAt(bound, present)), down = camera.y(bound.exists ? Math.max(0, floorAt(bound, present)) : 0);
  if (moment.updates > 0) {
    stroke(pen, [[x - 6, up], [x + 6, up]], palette.proof, 2);
    stroke(pen, [[x, up], [x, down]], palette.proof, 2);
    stroke(pen, [[x - 6, down], [x + 6, down]], palette.proof, 2);
  }
  const dense = path.length > 400;
  pen.globalAlpha = dense ? 0.5 : 1;
  stroke(pen, path, palette.ink, (dense ? 1 : 2) * palette.scale);
  pen.globalAlpha = 1;
  if (trace.byRow && trace.updates <= MARKED) {
    for (let k = 1; k <= whole; k++) {
      const row = trace.row[trace.updateTick[k - 1] - 1];
      if (row >= 0 && row < run.points.n) mark(pen, palette, path[k][0], path[k][1], 5 * palette.scale, run.points.label[row]);
    }
  }
  disc(pen, now[0], now[1], 7 * palette.scale, palette.ink, palette.paper, 2.5);
  for (let k = 0; k < path.length; k += Math.ceil(path.length / 60)) labels.reserve(path[k][0], path[k][1], 7);
  labels.reserve(now[0], now[1], 9);
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Camera} camera
 * @param {Bound} bound
 * @param {number} meet
 * @param {Labels} labels
 */
function drawMeeting(pen, palette, camera, bound, meet, labels) {
  const x = camera.x(meet), y = camera.y(ceilingAt(bound, meet));
  stroke(pen, [[x, y], [x, camera.y(0)]], palette.proof, 2, [2, 4]);
  disc(pen, x, y, 6 * palette.scale, palette.proof);
  labels.reserve(x, y, 8);
  labels.reserveLine([x, y], [x, camera.y(0)], 4);
}

/**
 * @param {Palette} palette
 * @param {Size} size
 * @param {BoundScene} scene
 * @param {Camera} camera
 * @param {{upper: Pixel[], lower: Pixel[]}} corridor
 * @param {Labels} labels
 */
function nameCurves(palette, size, scene, camera, corridor, labels) {
  const style = { colour: palette.proof, size: 15, serif: true, italic: true, weight: 600, halo: palette.paper };
  for (let k = 0; k + 1 < corridor.upper.length; k++) {
    if (corridor.upper[k][1] > 0) labels.reserveLine(corridor.upper[k], corridor.upper[k + 1], 3);
    if (scene.run.bound.exists) labels.reserveLine(corridor.lower[k], corridor.lower[k + 1], 3);
  }
  const names = corridorNames(scene.run.bound);
  labels.place(names[0], along(corridor.upper, [0.5, 0.4, 0.62, 0.3, 0.75, 0.15, 0.08], -62, -14), style) || labels.place(names[0], along(corridor.upper, [0.1, 0.06, 0.2], 66, 10), style);
  if (scene.run.bound.exists) labels.place(names[1], along(corridor.lower, [0.74, 0.8, 0.66, 0.9, 0.55, 0.45], 62, 16), style);
}

/**
 * @param {Bound} bound
 * @returns {[string, string]}
 */
function corridorNames(bound) {
  return bound.textbook ? ["at most tR²", "at least t²γ²"] : ["at most", "at least"];
}

/**
 * Places beside a curve.
 * @param {Pixel[]} curve
 * @param {number[]} shares
 * @param {number} dx
 * @param {number} dy
 * @returns {Pixel[]}
 */
function along(curve, shares, dx, dy) {
  return shares.map((share) => {
    const [x, y] = curve[Math.round(share * (curve.length - 1))];
    return [x + dx, y + dy];
  });
}

/**
 * The guess, as a bracket under the axis.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {Camera} camera
 * @param {[number, number]} guess
 */
function drawGuess(pen, palette, size, camera, guess) {
  const right = size.width - 6, x0 = Math.max(MARGINS.left, camera.x(guess[0] - 0.4)), x1 = Math.min(right, camera.x(guess[1] + 0.4));
  const y = size.height - MARGINS.bottom + 28 * palette.scale;
  const style = { colour: palette.ink, size: 14.5, serif: true, italic: true, halo: palette.paper };
  if (x0 > right - 30) {
    write(pen, palette, "your guess →", right, y + 14, { ...style, align: "right" });
    return;
  }
  stroke(pen, [[x0, y - 5], [x0, y], [x1, y], [x1, y - 5]], palette.ink, 2);
  const middle = Math.max(MARGINS.left + 34, Math.min(right - 36, (x0 + x1) / 2));
  write(pen, palette, "your guess", middle, y + 15, { ...style, align: "center" });
}
