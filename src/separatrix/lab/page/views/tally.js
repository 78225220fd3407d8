/**
 * Small counts: how many mistakes each order makes, which rows a kernel remembers; and
 * thumbnails of data sets.
 */

import { num } from "../words/number.js";
import { mark } from "./marks.js";
import { disc, fill, stroke, write } from "./pen.js";
import { clipHalf } from "./region.js";
import { cameraFor, ticks } from "./sheet.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./pen.js").Pixel} Pixel */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./sheet.js").Size} Size */
/** @typedef {import("../core/types.js").Points} Points */
/** @typedef {import("../core/types.js").Trace} Trace */

/**
 * Bars: how many orders make how many mistakes; the present order in ink.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {ReadonlyArray<[number, number]>} counts mistakes and how many orders make them
 * @param {number} present mistakes of the present order
 */
export function drawOrders(pen, palette, size, counts, present) {
  const sorted = [...counts].sort((a, b) => a[0] - b[0]), most = Math.max(1, ...sorted.map(([, many]) => many));
  const floor = size.height - 40, high = floor - 34, wide = Math.min(84, (size.width - 20) / Math.max(1, sorted.length));
  const left = (size.width - wide * sorted.length) / 2;
  sorted.forEach(([mistakes, many], k) => {
    const x = left + k * wide, top = floor - (high * many) / most, own = mistakes === present;
    fill(pen, [[x + 8, top], [x + wide - 8, top], [x + wide - 8, floor], [x + 8, floor]], own ? palette.ink : palette.edge, own ? 1 : 0.45);
    write(pen, palette, num(many), x + wide / 2, top - 8, { colour: palette.ink, size: 17, weight: 600, align: "center" });
    write(pen, palette, num(mistakes), x + wide / 2, floor + 17, { colour: own ? palette.ink : palette.soft, size: 14.5, weight: own ? 600 : 400, align: "center" });
  });
  stroke(pen, [[10, floor], [size.width - 10, floor]], palette.edge, 1);
  write(pen, palette, "mistakes until it stops", size.width / 2, size.height - 5, { colour: palette.soft, size: 14.5, serif: true, italic: true, align: "center" });
}

/**
 * Before the answer: one dot per order.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {number} total
 */
export function drawUncounted(pen, palette, size, total) {
  const across = Math.ceil(Math.sqrt((total * size.width) / Math.max(1, size.height - 40))), step = Math.min(24, (size.width - 20) / across);
  const left = (size.width - step * (across - 1)) / 2;
  pen.globalAlpha = 0.55;
  for (let k = 0; k < total; k++) disc(pen, left + (k % across) * step, 24 + Math.floor(k / across) * step, 4 * palette.scale, palette.edge);
  pen.globalAlpha = 1;
  write(pen, palette, "one dot per order", size.width / 2, size.height - 5, { colour: palette.soft, size: 14.5, serif: true, italic: true, align: "center" });
}

/**
 * One bar per row: how often the kernel perceptron added it.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {Points} points
 * @param {Float64Array} alpha
 * @param {number} lit
 */
export function drawMemory(pen, palette, size, points, alpha, lit) {
  const most = Math.max(1, alpha.reduce((high, value) => Math.max(high, value), 0));
  const floor = Math.min(size.height - 34, 40 + 64 * most), high = floor - 26, wide = (size.width - 24) / Math.max(1, points.n), r = Math.min(6, wide * 0.36);
  for (let i = 0; i < points.n; i++) {
    const x = 12 + (i + 0.5) * wide, top = floor - (high * alpha[i]) / most, half = Math.min(9, wide * 0.32);
    const colour = palette[points.label[i] === 1 ? "plus" : "minus"];
    if (alpha[i]) fill(pen, [[x - half, top], [x + half, top], [x + half, floor], [x - half, floor]], colour, i === lit ? 1 : 0.75);
    if (alpha[i] && wide > 14) write(pen, palette, num(alpha[i]), x, top - 6, { colour: palette.ink, size: 12.5, weight: 600, align: "center" });
    if (wide > 6) mark(pen, palette, x, floor + 12, i === lit ? r * 1.3 : r, points.label[i], { hollow: !alpha[i] });
  }
  stroke(pen, [[8, floor], [size.width - 8, floor]], palette.edge, 1);
  write(pen, palette, "times remembered, per row", size.width - 8, floor + 34, { colour: palette.soft, size: 14.5, serif: true, italic: true, align: "right" });
}

/**
 * The mean loss of every step, up to the present.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {Trace} trace
 * @param {number} tick
 */
export function drawObjective(pen, palette, size, trace, tick) {
  const losses = trace.objective;
  if (!losses || trace.length < 1) return;
  let most = 0;
  for (let k = 0; k <= trace.updates; k++) if (Number.isFinite(losses[k])) most = Math.max(most, losses[k]);
  const camera = cameraFor({ x0: 0, x1: trace.length, y0: 0, y1: most * 1.05 || 1 }, size, { left: 48, right: 14, top: 22, bottom: 42 }, false);
  const floor = camera.y(0), style = { colour: palette.soft, size: 12.5 };
  for (const y of ticks(0, most, 4)) {
    if (y) stroke(pen, [[48, camera.y(y)], [size.width - 8, camera.y(y)]], palette.hair, 1);
    write(pen, palette, num(y), 40, camera.y(y), { ...style, align: "right", base: "middle" });
  }
  for (const k of ticks(0, trace.length, 5)) if (k % 1 === 0) write(pen, palette, num(k), camera.x(k), floor + 17 * palette.scale, { ...style, align: "center" });
  stroke(pen, [[48, 12], [48, floor], [size.width - 8, floor]], palette.edge, 1);
  /** @type {Pixel[]} */
  const curve = [];
  for (let k = 0; k <= Math.min(trace.length, Math.floor(tick + 1e-9)); k++) curve.push([camera.x(k), camera.y(losses[k ? trace.version[k - 1] : 0])]);
  stroke(pen, curve, palette.ink, 2.5 * palette.scale);
  if (curve.length) disc(pen, ...curve[curve.length - 1], 7 * palette.scale, palette.ink, palette.paper, 2.5);
  const italic = { colour: palette.soft, size: 14.5, serif: true, italic: true };
  write(pen, palette, "mean loss", 54, 14, italic);
  write(pen, palette, trace.byRow ? "visits →" : "steps →", size.width - 8, floor + 36 * palette.scale, { ...italic, align: "right" });
}

/**
 * A thumbnail of points, with an optional line.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {Points} points
 * @param {readonly [number, number, number]|null} [line] b, w1, w2
 */
export function drawThumb(pen, palette, size, points, line = null) {
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  const step = Math.max(1, Math.floor(points.n / 300));
  for (let i = 0; i < points.n; i += step) {
    x0 = Math.min(x0, points.x1[i]); x1 = Math.max(x1, points.x1[i]); y0 = Math.min(y0, points.x2[i]); y1 = Math.max(y1, points.x2[i]);
  }
  const pad = Math.min(10, size.height * 0.2), unit = Math.min((size.width - 2 * pad) / (x1 - x0 || 1), (size.height - 2 * pad) / (y1 - y0 || 1));
  const cx = size.width / 2, cy = size.height / 2, mx = (x0 + x1) / 2, my = (y0 + y1) / 2;
  if (line) {
    const w1 = line[1] / unit, w2 = -line[2] / unit, b = line[0] + line[1] * mx + line[2] * my - w1 * cx - w2 * cy;
    /** @type {Pixel[]} */
    const whole = [[0, 0], [size.width, 0], [size.width, size.height], [0, size.height]];
    fill(pen, clipHalf(whole, w1, w2, b), palette["plus-tint"]);
    fill(pen, clipHalf(whole, -w1, -w2, -b), palette["minus-tint"]);
  }
  const r = points.n > 60 ? 1.4 : points.n > 16 ? 2.1 : Math.min(3.4, size.height * 0.09);
  for (let i = 0; i < points.n; i += step) mark(pen, palette, cx + (points.x1[i] - mx) * unit, cy - (points.x2[i] - my) * unit, r, points.label[i]);
}
