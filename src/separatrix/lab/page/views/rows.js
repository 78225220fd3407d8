/**
 * The points on the stage: marks, numbers, the one under the finger and the one being visited;
 * and the record of a scene of the stage.
 */

import { mark, markRadius } from "./marks.js";
import { classToken } from "./palette.js";
import { disc, ring } from "./pen.js";
import { pixelOf } from "./proof.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./labels.js").Labels} Labels */
/** @typedef {import("./sheet.js").Box} Box */
/** @typedef {import("./sheet.js").Camera} Camera */
/** @typedef {import("./proof.js").Canvas} Canvas */
/** @typedef {import("../state/clock.js").Moment} Moment */
/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Model} Model */
/** @typedef {import("../core/types.js").Points} Points */

/**
 * @typedef {object} PlaneScene the contents of the stage
 * @property {Derivation} run
 * @property {Model} model          with the weights as shown now
 * @property {Moment} moment
 * @property {Uint8Array} wrong     rows on the wrong side
 * @property {Box} box
 * @property {number} proof         opacity of the proof
 * @property {number} radius        opacity of R
 * @property {number} hover
 * @property {number} selected
 * @property {number} held
 * @property {boolean} scanning     show which row is being visited
 * @property {boolean} compact      several panes share the stage
 * @property {boolean} room         leave room for the tools
 * @property {string} hint          a word for the first visit
 * @property {string[]} names       of the columns
 * @property {Bitmap|null} bitmap   marks drawn before, for many points
 */

/** @typedef {{image: CanvasImageSource, skip: number}} Bitmap */

const MANY = 400;
const NUMBERED = 12;
/** @type {WeakMap<Int8Array, Uint32Array>} */
const orders = new WeakMap();

/**
 * @param {Canvas} canvas
 * @param {Labels} labels
 */
export function reserveMarks(canvas, labels) {
  const { points, r } = canvas;
  if (points.n > 60) return;
  for (let i = 0; i < points.n; i++) {
    const [x, y] = pixelOf(canvas, i);
    labels.reserve(x, y, r + 1);
  }
}

/**
 * All marks: one by one, or from a bitmap where there are many.
 * @param {Canvas} canvas
 * @param {PlaneScene} scene
 * @param {Labels} labels
 */
export function drawMarks(canvas, scene, labels) {
  const { pen, palette, points, r } = canvas;
  if (scene.bitmap) {
    /** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (pen)).drawImage(scene.bitmap.image, 0, 0, canvas.size.width, canvas.size.height);
    for (const row of new Set([scene.held, scene.selected, scene.hover])) if (row >= 0 && row < points.n) drawMark(canvas, scene, row, 5 * palette.scale);
    return;
  }
  for (let i = 0; i < points.n; i++) if (i !== scene.held) drawMark(canvas, scene, i, r);
  if (scene.held >= 0 && scene.held < points.n) drawMark(canvas, scene, scene.held, r);
  if (scene.selected >= 0 && scene.selected < points.n) labels.reserve(...pixelOf(canvas, scene.selected), r + 8);
}

/**
 * @param {Canvas} canvas
 * @param {PlaneScene} scene
 * @param {number} row
 * @param {number} r
 */
function drawMark(canvas, scene, row, r) {
  const { pen, palette, points } = canvas, [x, y] = pixelOf(canvas, row);
  const grown = row === scene.held ? r * 1.25 : row === scene.hover ? r * 1.12 : r;
  const halo = points.n <= MANY ? palette.card : undefined;
  if (row === scene.held) disc(pen, x, y + 2, grown + 5, palette.hair);
  mark(pen, palette, x, y, grown, points.label[row], { hollow: scene.wrong[row] === 1, halo });
  if (row !== scene.selected) return;
  pen.beginPath();
  pen.rect(x - r - 8, y - r - 8, 2 * r + 16, 2 * r + 16);
  pen.setLineDash([4, 3]);
  pen.strokeStyle = palette.ink;
  pen.lineWidth = 1.5;
  pen.stroke();
  pen.setLineDash([]);
}

/**
 * Rows in an order in which no class is drawn above another, also where a table is sorted by class: each row at its share of its class.
 * @param {Int8Array} labels
 * @returns {Uint32Array}
 */
function interleaved(labels) {
  const known = orders.get(labels);
  if (known) return known;
  /** @type {Map<number, number>} */
  const totals = new Map(), seen = new Map();
  for (const label of labels) totals.set(label, (totals.get(label) ?? 0) + 1);
  const share = Float64Array.from(labels, (label) => {
    const count = seen.get(label) ?? 0;
    seen.set(label, count + 1);
    return (count + 0.5) / (totals.get(label) ?? 1);
  });
  const order = Uint32Array.from(labels, (_, i) => i).sort((a, b) => share[a] - share[b] || a - b);
  orders.set(labels, order);
  return order;
}

/**
 * Draw the marks of many points once, without halo; `skip` is under the finger.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Camera} camera
 * @param {Points} points
 * @param {number} skip
 */
export function drawManyMarks(pen, palette, camera, points, skip) {
  const r = markRadius(points.n, palette.scale);
  pen.globalAlpha = points.n > 2000 ? 0.4 : 0.75;
  let label = 0;
  for (const i of interleaved(points.label)) {
    if (i === skip) continue;
    if (points.label[i] !== label) pen.fillStyle = palette[classToken((label = points.label[i]))];
    pen.fillRect(camera.x(points.x1[i]) - r, camera.y(points.x2[i]) - r, 2 * r, 2 * r);
  }
  pen.globalAlpha = 1;
}

/**
 * The row that is being visited.
 * @param {Canvas} canvas
 * @param {Moment} moment
 */
export function drawScan(canvas, moment) {
  const { pen, palette, r } = canvas, [x, y] = pixelOf(canvas, moment.row);
  const pulse = moment.wrong && moment.share > 0 ? 5 * Math.sin(Math.PI * Math.min(1, moment.share / 0.5)) : 0;
  ring(pen, x, y, r + 7 + pulse, palette.ink, 2.5 * palette.scale);
}

/**
 * Numbers of few points, in the order of visits.
 * @param {Canvas} canvas
 * @param {Labels} labels
 */
export function drawNumbers(canvas, labels) {
  const { palette, points, r } = canvas;
  if (points.n > NUMBERED) return;
  const style = { colour: palette.soft, size: 13, weight: 600, halo: palette.card }, off = r + 8;
  for (let i = 0; i < points.n; i++) {
    const [x, y] = pixelOf(canvas, i);
    labels.place(String(i + 1), [[x + off, y - off + 2], [x - off, y - off + 2], [x + off, y + off - 2], [x - off, y + off - 2], [x + off + 4, y], [x - off - 4, y]], style);
  }
}

/**
 * @param {Canvas} canvas
 * @param {string} hint
 * @param {Labels} labels
 */
export function drawHint(canvas, hint, labels) {
  const { pen, palette, points } = canvas;
  for (let i = points.n - 1; i >= 0; i--) {
    const [x, y] = pixelOf(canvas, i);
    if (!labels.place(hint, [[x - 46, y + 66]], { colour: palette.soft, size: 17, serif: true, italic: true })) continue;
    pen.beginPath();
    pen.moveTo(x - 18, y + 14);
    pen.quadraticCurveTo(x - 40, y + 28, x - 46, y + 50);
    pen.strokeStyle = palette.soft;
    pen.lineWidth = 1.5;
    pen.stroke();
    return;
  }
}
