/**
 * Losses as functions of the margin y·η, with every point on the curve that its learner pays.
 */

import { LOSSES } from "../core/losses.js";
import { score } from "../core/model.js";
import { num } from "../words/number.js";
import { Labels } from "./labels.js";
import { mark } from "./marks.js";
import { stroke, write } from "./pen.js";
import { cameraFor, ticks } from "./sheet.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./pen.js").Pixel} Pixel */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./sheet.js").Size} Size */
/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Learner} Learner */
/** @typedef {import("../core/types.js").Model} Model */

/**
 * @typedef {object} LossScene
 * @property {Derivation} run
 * @property {Model} model
 * @property {number} lit     row to point out, −1 if none
 */

const SHOWN = new Set(["zero-one", "hinge", "logistic", "squared"]);
const MARGINS = { left: 36, right: 14, top: 16, bottom: 42 };

/**
 * The loss that a learner pays.
 * @param {Learner} learner
 * @returns {string} its id in LOSSES
 */
function lossOf(learner) {
  switch (learner.kind) {
    case "lms": return "squared";
    case "logistic": case "softmax": return "logistic";
    case "svm": return learner.loss;
    case "zero-one": return "zero-one";
    case "margin": case "halfspace": return "hinge";
    default: return "perceptron";
  }
}

/**
 * Draw the curves and the points on them.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {LossScene} scene
 */
export function drawLosses(pen, palette, size, scene) {
  const { run, model } = scene, margins = marginsOf(run, model), paid = lossOf(run.learner);
  const low = Math.max(-12, Math.min(-3, ...quantiles(margins))), box = { x0: low, x1: 4, y0: 0, y1: Math.min(9, Math.max(4, 1 - low)) };
  const camera = cameraFor(box, size, MARGINS, false);
  const labels = new Labels(pen, palette, { left: MARGINS.left + 2, right: size.width - 2, top: 2, bottom: size.height - MARGINS.bottom });
  drawFrame(pen, palette, size, camera, box);
  pen.save();
  pen.beginPath();
  pen.rect(MARGINS.left, MARGINS.top - 8, size.width - MARGINS.left, size.height - MARGINS.top - MARGINS.bottom + 12);
  pen.clip();
  const ordered = LOSSES.filter((loss) => loss.id === paid || SHOWN.has(loss.id)).sort((a, b) => Number(a.id === paid) - Number(b.id === paid));
  for (const loss of ordered) {
    /** @type {Pixel[]} */
    const curve = [];
    for (let k = 0; k <= 120; k++) {
      const m = box.x0 + ((box.x1 - box.x0) * k) / 120;
      curve.push([camera.x(m), camera.y(loss.value(m))]);
    }
    const own = loss.id === paid;
    for (let k = 0; k + 1 < curve.length; k++) if (curve[k][1] > 0) labels.reserve(curve[k][0], curve[k][1], 3);
    pen.globalAlpha = own ? 1 : 0.55;
    stroke(pen, curve, own ? palette.ink : palette.edge, (own ? 3 : 1.5) * palette.scale);
  }
  pen.globalAlpha = 1;
  const own = LOSSES.find((loss) => loss.id === paid);
  if (own && run.points.n <= 400) drawPaid(pen, palette, camera, scene, margins, own.value, box, labels);
  pen.restore();
  nameLosses(palette, camera, box, paid, labels);
}

/**
 * Margins of all rows.
 * @param {Derivation} run
 * @param {Model} model
 * @returns {Float64Array}
 */
function marginsOf(run, model) {
  const { points } = run, margins = new Float64Array(points.n);
  for (let i = 0; i < points.n; i++) margins[i] = (points.label[i] === 1 ? 1 : -1) * score(model, points.x1[i], points.x2[i]);
  return margins;
}

/**
 * The least margins, for the camera.
 * @param {Float64Array} margins
 * @returns {number[]}
 */
function quantiles(margins) {
  const least = margins.reduce((low, value) => Math.min(low, value), 0);
  return [Math.floor(least) - 1];
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {import("./sheet.js").Camera} camera
 * @param {import("./sheet.js").Box} box
 */
function drawFrame(pen, palette, size, camera, box) {
  const floor = camera.y(0), style = { colour: palette.soft, size: 12.5 };
  for (const y of ticks(0, box.y1, 3)) if (y) write(pen, palette, num(y), MARGINS.left - 8, camera.y(y), { ...style, align: "right", base: "middle" });
  for (const x of ticks(box.x0, box.x1, 6)) write(pen, palette, num(x), camera.x(x), floor + 17 * palette.scale, { ...style, align: "center" });
  pen.globalAlpha = 0.5;
  stroke(pen, [[MARGINS.left, floor], [size.width - 8, floor]], palette.edge, 1);
  stroke(pen, [[camera.x(0), MARGINS.top - 6], [camera.x(0), floor]], palette.edge, 1);
  pen.globalAlpha = 1;
  const italic = { colour: palette.soft, size: 14.5, serif: true, italic: true };
  write(pen, palette, "← wrong side", MARGINS.left, floor + 36 * palette.scale, italic);
  write(pen, palette, "margin y·η →", size.width - 8, floor + 36 * palette.scale, { ...italic, align: "right" });
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {import("./sheet.js").Camera} camera
 * @param {LossScene} scene
 * @param {Float64Array} margins
 * @param {(margin: number) => number} value
 * @param {import("./sheet.js").Box} box
 * @param {Labels} labels
 */
function drawPaid(pen, palette, camera, scene, margins, value, box, labels) {
  const { run, lit } = scene, { points } = run, r = (points.n <= 60 ? 6 : 4) * palette.scale;
  for (let i = 0; i < points.n; i++) {
    const m = Math.max(box.x0, Math.min(box.x1, margins[i])), y = Math.min(box.y1, value(margins[i]));
    const px = camera.x(m), py = camera.y(y);
    mark(pen, palette, px, py, i === lit ? r * 1.4 : r, points.label[i], { hollow: margins[i] <= 0, halo: palette.paper });
    labels.reserve(px, py, r + 1);
    if (points.n <= 12 && margins[i] < 0) labels.place(String(i + 1), [[px + r + 7, py - r - 3], [px - r - 7, py - r - 3], [px, py - r - 10]], { colour: palette.soft, size: 12.5, weight: 600, halo: palette.paper });
  }
}

/**
 * @param {Palette} palette
 * @param {import("./sheet.js").Camera} camera
 * @param {import("./sheet.js").Box} box
 * @param {string} paid
 * @param {Labels} labels
 */
function nameLosses(palette, camera, box, paid, labels) {
  for (const loss of LOSSES.filter((each) => each.id === paid || SHOWN.has(each.id)).sort((a, b) => Number(b.id === paid) - Number(a.id === paid))) {
    /** @type {Pixel[]} */
    const places = [];
    for (let k = 1; k < 30; k++) {
      const m = box.x0 + ((box.x1 - box.x0) * k) / 30, value = loss.value(m);
      if (value < box.y1 * 0.96 && value > 0.02) for (const [dx, dy] of [[0, -14], [30, -12], [46, -4], [0, 14], [-34, 12], [-46, 4], [60, 0]]) places.push([camera.x(m) + dx, camera.y(value) + dy]);
    }
    const own = loss.id === paid;
    labels.place(loss.name, places, { colour: own ? palette.ink : palette.soft, size: 13, weight: own ? 600 : 400, halo: palette.paper });
  }
}
