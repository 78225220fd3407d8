/**
 * Evidence on the stage, in plum: the widest margin, the point that both hulls share, the
 * longest row.
 */

import { clipHulls } from "../core/hull.js";
import { num } from "../words/number.js";
import { mark, star } from "./marks.js";
import { fill, hatch, ring, stroke } from "./pen.js";
import { clipHalf, dataCorners, linePixels } from "./region.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./pen.js").Pixel} Pixel */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./sheet.js").Camera} Camera */
/** @typedef {import("./sheet.js").Size} Size */
/** @typedef {import("./labels.js").Labels} Labels */
/** @typedef {import("../core/types.js").Margin} Margin */
/** @typedef {import("../core/types.js").Points} Points */
/** @typedef {import("../core/types.js").Verdict} Verdict */
/** @typedef {import("../core/types.js").Bound} Bound */

/**
 * @typedef {object} Canvas what every drawing of evidence needs
 * @property {Pen} pen
 * @property {Palette} palette
 * @property {Camera} camera
 * @property {Size} size
 * @property {Points} points
 * @property {number} r radius of a mark
 */

/**
 * Pixel of a row.
 * @param {Canvas} canvas
 * @param {number} row
 * @returns {Pixel}
 */
export function pixelOf(canvas, row) {
  return [canvas.camera.x(canvas.points.x1[row]), canvas.camera.y(canvas.points.x2[row])];
}

/**
 * The slab of the widest margin: hatched, with its centre line.
 * @param {Canvas} canvas
 * @param {Margin} margin
 * @param {number} alpha
 */
export function drawSlab(canvas, margin, alpha) {
  const { pen, palette, camera, size } = canvas, { gamma, b, w1, w2 } = margin;
  const inner = clipHalf(clipHalf(dataCorners(camera, size), w1, w2, b + gamma), -w1, -w2, gamma - b);
  /** @type {Pixel[]} */
  const slab = inner.map((p) => [camera.x(p[0]), camera.y(p[1])]);
  pen.save();
  pen.globalAlpha = alpha;
  fill(pen, slab, palette["proof-tint"], 0.55);
  hatch(pen, slab, palette.proof);
  stroke(pen, linePixels(camera, size, b + gamma, w1, w2), palette.proof, 1.5 * palette.scale);
  stroke(pen, linePixels(camera, size, b - gamma, w1, w2), palette.proof, 1.5 * palette.scale);
  stroke(pen, linePixels(camera, size, b, w1, w2), palette.proof, 2.5 * palette.scale);
  pen.restore();
}

/**
 * Rings on the rows that pin the margin, and the bracket that measures γ.
 * @param {Canvas} canvas
 * @param {Margin} margin
 * @param {number} alpha
 * @param {Labels} labels
 */
export function drawPins(canvas, margin, alpha, labels) {
  const { pen, palette, points, r } = canvas, { w1, w2, b } = margin;
  pen.save();
  pen.globalAlpha = alpha;
  for (const row of margin.pins) {
    const [x, y] = pixelOf(canvas, row);
    ring(pen, x, y, r + 5.5 * palette.scale, palette.proof, 2.5 * palette.scale);
  }
  if (margin.pins.length) {
    const row = nearestPin(canvas, margin);
    const off = w1 * points.x1[row] + w2 * points.x2[row] + b;
    const at = pixelOf(canvas, row);
    /** @type {Pixel} */
    const foot = [canvas.camera.x(points.x1[row] - off * w1), canvas.camera.y(points.x2[row] - off * w2)];
    const length = Math.hypot(at[0] - foot[0], at[1] - foot[1]) || 1;
    const ux = (at[0] - foot[0]) / length, uy = (at[1] - foot[1]) / length, near = Math.max(0, length - r - 4);
    stroke(pen, [foot, [foot[0] + ux * near, foot[1] + uy * near]], palette.proof, 2.5 * palette.scale);
    const out = r + 30 * palette.scale;
    const style = { colour: palette.proof, size: 17, italic: true, serif: true, weight: 600, halo: palette.card };
    labels.place(`γ = ${num(margin.gamma)}`, [[at[0] + ux * (out + 14), at[1] + uy * out], [foot[0] - ux * out, foot[1] - uy * out], [at[0], at[1] + out], [at[0], at[1] - out]], style, true);
  }
  pen.restore();
}

/**
 * The pin nearest to the middle of the sheet.
 * @param {Canvas} canvas
 * @param {Margin} margin
 * @returns {number}
 */
function nearestPin(canvas, margin) {
  const cx = canvas.size.width / 2, cy = canvas.size.height / 2;
  let best = margin.pins[0], least = Infinity;
  for (const row of margin.pins) {
    const [x, y] = pixelOf(canvas, row), far = Math.hypot(x - cx, y - cy);
    if (far < least) { least = far; best = row; }
  }
  return best;
}

/**
 * R: a dashed circle about the origin through the longest row.
 * @param {Canvas} canvas
 * @param {Bound} bound
 * @param {number} alpha
 * @param {Labels} labels
 */
export function drawRadius(canvas, bound, alpha, labels) {
  const { pen, palette, camera, points } = canvas;
  if (bound.farthest < 0 || bound.farthest >= points.n) return;
  const row = bound.farthest;
  /** @type {Pixel} */
  const origin = [camera.x(0), camera.y(0)];
  const tip = pixelOf(canvas, row);
  pen.save();
  pen.globalAlpha = alpha;
  ring(pen, origin[0], origin[1], Math.hypot(points.x1[row], points.x2[row]) * camera.unitX, palette.proof, 2 * palette.scale, [7, 5]);
  stroke(pen, [origin, tip], palette.proof, 2 * palette.scale);
  const mx = (origin[0] + tip[0]) / 2, my = (origin[1] + tip[1]) / 2;
  const style = { colour: palette.proof, size: 16, italic: true, serif: true, weight: 600, halo: palette.card };
  labels.place(`R = ${num(bound.R)}`, [[mx + 44, my], [mx - 44, my], [mx, my + 26], [mx, my - 26]], style, true);
  pen.restore();
}

/**
 * Both hulls, their intersection, and the smallest witness in it.
 * @param {Canvas} canvas
 * @param {Verdict} verdict
 * @param {number} alpha
 */
export function drawHulls(canvas, verdict, alpha) {
  const { pen, palette, camera, points } = canvas;
  pen.save();
  pen.globalAlpha = alpha;
  for (const [rows, token] of /** @type {[Int32Array, "plus"|"minus"][]} */ ([[verdict.hullPlus, "plus"], [verdict.hullMinus, "minus"]])) {
    const outline = Array.from(rows, (row) => pixelOf(canvas, row));
    fill(pen, outline, palette[token], 0.16);
    if (outline.length) stroke(pen, [...outline, outline[0]], palette[token], 1.75 * palette.scale);
  }
  const flat = verdict.kind === "overlap" ? clipHulls(points, verdict) : [];
  /** @type {Pixel[]} */
  const both = [];
  for (let k = 0; k + 1 < flat.length; k += 2) both.push([camera.x(flat[k]), camera.y(flat[k + 1])]);
  hatch(pen, both, palette.proof);
  drawWitnessLines(canvas, verdict);
  pen.restore();
}

/**
 * Plum segments from the common point to the rows that prove it.
 * @param {Canvas} canvas
 * @param {Verdict} verdict
 */
function drawWitnessLines(canvas, verdict) {
  const { pen, palette, camera } = canvas, witness = verdict.witness;
  if (!witness) return;
  /** @type {Pixel} */
  const at = [camera.x(witness.point[0]), camera.y(witness.point[1])];
  for (const row of witness.rows) stroke(pen, [at, pixelOf(canvas, row)], palette.proof, 3 * palette.scale);
}

/**
 * Through the origin: rows of the − class reflected as dashed ghosts, and the triangle about 0.
 * @param {Canvas} canvas
 * @param {Verdict} verdict
 * @param {number} alpha
 */
export function drawReflection(canvas, verdict, alpha) {
  const { pen, palette, camera, points, r } = canvas, witness = verdict.witness;
  if (!witness) return;
  /** @type {Pixel} */
  const origin = [camera.x(0), camera.y(0)];
  /** @param {number} row @returns {Pixel} */
  const reflected = (row) => {
    const sign = points.label[row] === 1 ? 1 : -1;
    return [camera.x(sign * points.x1[row]), camera.y(sign * points.x2[row])];
  };
  pen.save();
  pen.globalAlpha = alpha;
  const corners = witness.rows.map(reflected);
  hatch(pen, corners, palette.proof);
  if (corners.length > 2) stroke(pen, [...corners, corners[0]], palette.proof, 1.75 * palette.scale);
  for (const row of witness.rows) {
    const tip = reflected(row);
    stroke(pen, [origin, tip], palette.proof, 3 * palette.scale);
    if (points.label[row] === 1) continue;
    stroke(pen, [pixelOf(canvas, row), origin], palette.minus, 2 * palette.scale, [2, 5]);
    mark(pen, palette, tip[0], tip[1], r, -1, { hollow: true, dashed: true });
  }
  pen.restore();
}

/**
 * The star at the common point, and each row's multiplier under it.
 * @param {Canvas} canvas
 * @param {Verdict} verdict
 * @param {number} alpha
 * @param {Labels} labels
 */
export function drawMultipliers(canvas, verdict, alpha, labels) {
  const { pen, palette, camera, r } = canvas, witness = verdict.witness;
  if (!witness) return;
  pen.save();
  pen.globalAlpha = alpha;
  const x = camera.x(witness.point[0]), y = camera.y(witness.point[1]);
  star(pen, palette, x, y, 14 * palette.scale);
  labels.reserve(x, y, 12 * palette.scale);
  const style = { colour: palette.proof, size: 14.5, weight: 600, halo: palette.card };
  witness.rows.forEach((row, k) => {
    const share = witness.multipliers[k];
    if (!(share > 0)) return;
    const [px, py] = pixelOf(canvas, row), out = r + 13 * palette.scale;
    labels.place(num(share, 2), [[px, py + out], [px, py - out], [px, py + out + 9], [px - out - 16, py], [px + out + 16, py]], style, true);
  });
  pen.restore();
}
