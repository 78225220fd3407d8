/**
 * The time strip: one place per tick, mistakes standing out with their number, the position
 * as a thumb on the track.
 */

import { counted, num } from "../words/number.js";
import { mark } from "./marks.js";
import { classToken } from "./palette.js";
import { disc, stroke, write } from "./pen.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./sheet.js").Size} Size */
/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Trace} Trace */

/**
 * @typedef {object} StripScene
 * @property {Derivation} run
 * @property {number} tick
 * @property {number} length     ticks of the longest run
 * @property {string} right      words at the right end
 */

const PAD = 14;
const GLYPHS = 9; // pixels per tick from which each has its own mark

/**
 * The tick at a pixel.
 * @param {Size} size
 * @param {number} length
 * @param {number} x
 * @returns {number}
 */
export function tickAt(size, length, x) {
  return Math.max(0, Math.min(length, ((x - PAD) / Math.max(1, size.width - 2 * PAD)) * length));
}

/**
 * Draw the strip.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {StripScene} scene
 */
export function drawStrip(pen, palette, size, scene) {
  const { run, tick, length } = scene, { trace } = run;
  const wide = size.width - 2 * PAD, base = size.height - 22 * palette.scale, cell = wide / Math.max(1, length);
  /** @param {number} k */
  const at = (k) => PAD + (length ? (wide * k) / length : 0);
  pen.lineCap = "round";
  stroke(pen, [[at(0), base], [at(length), base]], palette.hair, 3);
  stroke(pen, [[at(0), base], [at(tick), base]], palette.ink, 3);
  pen.lineCap = "butt";
  if (!trace.byRow) drawDescent(pen, palette, size, scene, at, base);
  else if (cell >= GLYPHS) drawGlyphs(pen, palette, scene, at, base, cell);
  else drawBars(pen, palette, scene, at, base, cell);
  disc(pen, at(tick), base, 8.5 * palette.scale, palette.ink, palette.paper, 3);
  const unit = trace.byRow ? "visit" : "step";
  const said = length ? `${unit} ${num(Math.ceil(tick - 1e-9))} of ${num(length)}${trace.done && trace.status !== "cycle" ? "" : " …"}` : "no points yet";
  write(pen, palette, said, PAD - 8, size.height - 3, { colour: palette.soft, size: 12.5 });
  if (scene.right) write(pen, palette, scene.right, size.width - 4, size.height - 3, { colour: palette.proof, size: 12.5, weight: 600, align: "right" });
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {StripScene} scene
 * @param {(k: number) => number} at
 * @param {number} base
 * @param {number} cell
 */
function drawGlyphs(pen, palette, scene, at, base, cell) {
  const { trace, points } = scene.run;
  for (let k = 0; k < trace.length; k++) {
    const x = at(k + 0.5), label = points.label[trace.row[k]] ?? 1;
    if (k >= scene.tick - 1e-9) {
      pen.globalAlpha = 0.5;
      disc(pen, x, base - 16, 2, palette.edge);
      pen.globalAlpha = 1;
    } else if (trace.wrong[k]) {
      stroke(pen, [[x, base - 18], [x, base - 4]], palette[classToken(label)], 2);
      mark(pen, palette, x, base - 26, Math.min(7, cell * 0.38), label, { hollow: true });
      if (cell > 18) write(pen, palette, num(trace.version[k]), x, base - 37, { colour: palette.ink, size: 12.5, weight: 600, align: "center" });
    } else mark(pen, palette, x, base - 16, Math.min(4.2, cell * 0.26), label, { alpha: 0.75 });
  }
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {StripScene} scene
 * @param {(k: number) => number} at
 * @param {number} base
 * @param {number} cell
 */
function drawBars(pen, palette, scene, at, base, cell) {
  const { trace, points } = scene.run, last = Math.min(trace.length, Math.floor(scene.tick + 1e-9)), dense = cell < 0.7;
  const few = trace.kind === "perceptron" || trace.kind === "kernel"; // every update was a mistake
  for (const sign of [1, -1]) {
    pen.beginPath();
    let before = -9;
    for (let u = 0; u < (few ? trace.updates : last); u++) {
      const k = few ? trace.updateTick[u] - 1 : u;
      if (k >= last) break;
      if (!trace.wrong[k]) continue;
      const label = points.label[trace.row[k]];
      if ((label === 1 ? 1 : -1) !== sign) continue;
      const x = at(k + 0.5);
      if (dense && x - before < 0.7) continue;
      before = x;
      pen.moveTo(x, base - (sign > 0 ? 32 : 22));
      pen.lineTo(x, base - 5);
    }
    pen.strokeStyle = palette[sign > 0 ? "plus" : "minus"];
    pen.lineWidth = Math.max(1, Math.min(2, cell));
    pen.globalAlpha = dense ? 0.5 : 0.9;
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

/**
 * The mean loss of each step, where a tick is a step over all rows.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {StripScene} scene
 * @param {(k: number) => number} at
 * @param {number} base
 */
function drawDescent(pen, palette, size, scene, at, base) {
  const { trace } = scene.run, losses = trace.objective;
  if (!losses || trace.length < 1) return;
  let most = 0, least = Infinity;
  for (let k = 0; k <= trace.updates; k++) {
    if (Number.isFinite(losses[k])) { most = Math.max(most, losses[k]); least = Math.min(least, losses[k]); }
  }
  const high = base - 12, span = most - least || 1, step = Math.max(1, Math.floor(trace.length / size.width));
  /** @type {[number, number][]} */
  const curve = [];
  for (let k = 0; k <= trace.length; k += step) {
    if (k > scene.tick + 1e-9) break;
    const value = losses[k ? trace.version[k - 1] : 0];
    if (Number.isFinite(value)) curve.push([at(k), base - 8 - ((value - least) / span) * (high - 14)]);
  }
  stroke(pen, curve, palette.soft, 2);
}

/**
 * The position in words, for assistive technology.
 * @param {Trace} trace
 * @param {number} tick
 * @param {number} length
 * @returns {string}
 */
export function stripWords(trace, tick, length) {
  const unit = trace.byRow ? "visit" : "step", whole = Math.floor(tick + 1e-9), clamped = Math.min(whole, trace.length);
  const mistakes = trace.byRow && clamped > 0 ? trace.version[clamped - 1] : 0;
  return `${unit} ${num(whole)} of ${num(length)}${trace.byRow ? `, ${counted(mistakes, "mistake")}` : ""}`;
}
