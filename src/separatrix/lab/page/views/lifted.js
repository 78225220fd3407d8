/**
 * Lifted space: the parabola on which the points of a line stand, or the bowl and the saddle
 * of the plane, rotated by dragging, with the plane that separates them.
 */

import { Labels } from "./labels.js";
import { mark } from "./marks.js";
import { fill, stroke, write } from "./pen.js";
import { cameraFor } from "./sheet.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./pen.js").Pixel} Pixel */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./sheet.js").Size} Size */
/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Model} Model */

/**
 * @typedef {object} LiftedScene
 * @property {Derivation} run
 * @property {Model} model
 * @property {Uint8Array} wrong
 * @property {number} yaw      of the turned picture
 * @property {number} pitch
 * @property {boolean} proof
 */

/**
 * Whether the picture can be turned.
 * @param {Derivation} run
 * @returns {boolean}
 */
export function turns(run) {
  return run.learner.lift !== "distance";
}

/**
 * Draw lifted space.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {LiftedScene} scene
 */
export function drawLifted(pen, palette, size, scene) {
  if (turns(scene.run)) drawTurned(pen, palette, size, scene);
  else drawParabola(pen, palette, size, scene);
}

/**
 * x against (x − μ)², and the threshold that the learner has.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {LiftedScene} scene
 */
function drawParabola(pen, palette, size, scene) {
  const { run } = scene, { points, learner } = run, mu = learner.centre;
  let low = -1, high = 1, top = 1;
  for (let i = 0; i < points.n; i++) { low = Math.min(low, points.x1[i]); high = Math.max(high, points.x1[i]); top = Math.max(top, (points.x1[i] - mu) ** 2); }
  const pad = 0.08 * (high - low);
  const camera = cameraFor({ x0: low - pad, x1: high + pad, y0: 0, y1: Math.min(top, 40) * 1.1 }, size, { left: 20, right: 20, top: 24, bottom: 40 }, false);
  const labels = new Labels(pen, palette, { left: 4, right: size.width - 4, top: 4, bottom: size.height - 4 });
  drawThreshold(pen, palette, size, scene, camera.y);
  pen.globalAlpha = 0.6;
  stroke(pen, [[10, camera.y(0)], [size.width - 10, camera.y(0)]], palette.edge, 1);
  pen.globalAlpha = 1;
  /** @type {Pixel[]} */
  const curve = [];
  for (let px = 0; px <= size.width; px += 4) curve.push([px, camera.y((camera.dataX(px) - mu) ** 2)]);
  stroke(pen, curve, palette.edge, 1.75);
  for (let i = 0; i < points.n; i++) {
    const x = camera.x(points.x1[i]), z = camera.y((points.x1[i] - mu) ** 2);
    pen.globalAlpha = 0.5;
    stroke(pen, [[x, camera.y(0)], [x, z]], palette.edge, 1, [2, 3]);
    pen.globalAlpha = 1;
    mark(pen, palette, x, camera.y(0), 4 * palette.scale, points.label[i], { alpha: 0.6 });
    mark(pen, palette, x, z, 7.5 * palette.scale, points.label[i], { hollow: scene.wrong[i] === 1, halo: palette.card });
    labels.reserve(x, z, 9);
  }
  const style = { colour: palette.soft, size: 14.5, serif: true, italic: true, halo: palette.card };
  const below = camera.y(0) + 20;
  write(pen, palette, "μ", camera.x(mu), below, { ...style, colour: palette.ink, weight: 600, align: "center" });
  stroke(pen, [[camera.x(mu), camera.y(0) - 5], [camera.x(mu), camera.y(0) + 5]], palette.ink, 2);
  labels.place("z = (x − μ)²", [[size.width / 2, 14], [70, 14]], style, true);
}

/**
 * A lifted axis is cut at −b/w: tint both sides and draw the cut.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {LiftedScene} scene
 * @param {(z: number) => number} y
 */
function drawThreshold(pen, palette, size, scene, y) {
  const { learner } = scene.run, w = scene.model.w, slope = learner.intercept ? w[1] : w[0], b = learner.intercept ? w[0] : 0;
  if (!slope) return;
  const cut = y(-b / slope), up = slope > 0 ? "plus-tint" : "minus-tint", down = slope > 0 ? "minus-tint" : "plus-tint";
  const edge = Math.max(0, Math.min(size.height, cut));
  fill(pen, [[0, 0], [size.width, 0], [size.width, edge], [0, edge]], palette[up]);
  fill(pen, [[0, edge], [size.width, edge], [size.width, size.height], [0, size.height]], palette[down]);
  stroke(pen, [[0, cut], [size.width, cut]], palette.ink, 3 * palette.scale);
}

/**
 * The height of a point above the plane.
 * @param {Derivation} run
 * @param {number} x1
 * @param {number} x2
 * @returns {number}
 */
function heightOf(run, x1, x2) {
  return run.learner.lift === "product" ? x1 * x2 : x1 * x1 + x2 * x2;
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Size} size
 * @param {LiftedScene} scene
 */
function drawTurned(pen, palette, size, scene) {
  const { run } = scene, { points } = run;
  let reach = 0.5, top = 0.5;
  for (let i = 0; i < points.n; i++) {
    reach = Math.max(reach, Math.abs(points.x1[i]), Math.abs(points.x2[i]));
    top = Math.max(top, Math.abs(heightOf(run, points.x1[i], points.x2[i])));
  }
  const project = projector(size, scene, reach * 1.1, top, run.learner.lift === "product");
  drawFloor(pen, palette, project, reach * 1.1);
  drawSurface(pen, palette, run, project, reach * 1.1);
  drawCut(pen, palette, scene, project, reach * 1.1, top);
  const order = Array.from({ length: points.n }, (_, i) => i).sort((a, b) => project.depth(points.x1[a], points.x2[a]) - project.depth(points.x1[b], points.x2[b]));
  for (const i of order.slice(0, 400)) {
    const x1 = points.x1[i], x2 = points.x2[i], foot = project.at(x1, x2, 0), tip = project.at(x1, x2, heightOf(run, x1, x2));
    pen.globalAlpha = 0.5;
    stroke(pen, [foot, tip], palette.edge, 1.2, [2, 3]);
    pen.globalAlpha = 1;
    mark(pen, palette, foot[0], foot[1], 2.6 * palette.scale, points.label[i], { alpha: 0.5 });
    mark(pen, palette, tip[0], tip[1], (points.n <= 12 ? 8 : 6) * palette.scale, points.label[i], { hollow: scene.wrong[i] === 1, halo: palette.card });
  }
  const name = run.learner.lift === "product" ? "height x₁x₂" : "height x₁² + x₂²";
  write(pen, palette, name, 12, 20, { colour: palette.soft, size: 14.5, serif: true, italic: true });
  write(pen, palette, "drag to rotate", size.width - 12, size.height - 10, { colour: palette.soft, size: 13, serif: true, italic: true, align: "right" });
}

/** @typedef {{at: (x: number, y: number, z: number) => Pixel, depth: (x: number, y: number) => number}} Projector */

/**
 * Orthographic projection, turned by yaw and tipped by pitch.
 * @param {Size} size
 * @param {LiftedScene} scene
 * @param {number} reach
 * @param {number} top
 * @param {boolean} centred heights of both signs
 * @returns {Projector}
 */
function projector(size, scene, reach, top, centred) {
  const cos = Math.cos(scene.yaw), sin = Math.sin(scene.yaw), tip = Math.sin(scene.pitch), lift = Math.cos(scene.pitch);
  const unit = Math.min(size.width / (2.95 * reach), (size.height - 40) / (reach * (2.5 * tip + 1.3 * lift)));
  const rise = (unit * reach * 1.25 * lift) / top, cx = size.width / 2, cy = centred ? size.height / 2 : size.height - 14 - 1.42 * reach * tip * unit;
  return {
    at: (x, y, z) => [cx + (x * cos - y * sin) * unit, cy - (x * sin + y * cos) * tip * unit - z * rise * (centred ? 0.6 : 1)],
    depth: (x, y) => -(x * sin + y * cos),
  };
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Projector} project
 * @param {number} reach
 */
function drawFloor(pen, palette, project, reach) {
  pen.globalAlpha = 0.45;
  stroke(pen, [project.at(-reach, -reach, 0), project.at(reach, -reach, 0), project.at(reach, reach, 0), project.at(-reach, reach, 0), project.at(-reach, -reach, 0)], palette.edge, 1);
  stroke(pen, [project.at(-reach, 0, 0), project.at(reach, 0, 0)], palette.edge, 1);
  stroke(pen, [project.at(0, -reach, 0), project.at(0, reach, 0)], palette.edge, 1);
  pen.globalAlpha = 1;
}

/**
 * Wires of the surface on which the points are lifted.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Derivation} run
 * @param {Projector} project
 * @param {number} reach
 */
function drawSurface(pen, palette, run, project, reach) {
  const bowl = run.learner.lift !== "product", wires = 6, steps = 36;
  pen.globalAlpha = 0.4;
  for (let k = bowl ? 1 : -wires; k <= wires; k++) {
    /** @type {Pixel[]} */
    const ring = [];
    /** @type {Pixel[]} */
    const other = [];
    for (let s = 0; s <= steps; s++) {
      if (bowl) {
        const radius = (reach * k) / wires, angle = (2 * Math.PI * s) / steps;
        ring.push(project.at(radius * Math.cos(angle), radius * Math.sin(angle), radius * radius));
      } else {
        const u = (reach * k) / wires, v = -reach + (2 * reach * s) / steps;
        ring.push(project.at(u, v, u * v));
        other.push(project.at(v, u, u * v));
      }
    }
    stroke(pen, ring, palette.edge, 1);
    stroke(pen, other, palette.edge, 1);
  }
  pen.globalAlpha = 1;
}

/**
 * The plane of the learner in lifted space.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {LiftedScene} scene
 * @param {Projector} project
 * @param {number} reach
 * @param {number} top
 */
function drawCut(pen, palette, scene, project, reach, top) {
  const { run, model } = scene, { learner } = run, skip = learner.intercept ? 1 : 0, w = model.w, b = skip ? w[0] : 0;
  if (model.shape !== "lifted" || learner.lift === "degree2") return;
  const slope = learner.lift === "product" ? w[skip + 2] : w[skip];
  if (!slope) return;
  /** @param {number} x @param {number} y */
  const height = (x, y) => (learner.lift === "product" ? -(b + w[skip] * x + w[skip + 1] * y) / slope : -b / slope);
  const corners = [[-reach, -reach], [reach, -reach], [reach, reach], [-reach, reach]].map(([x, y]) => project.at(x, y, Math.max(-1.6 * top, Math.min(1.6 * top, height(x, y)))));
  fill(pen, corners, palette.ink, 0.09);
  stroke(pen, [...corners, corners[0]], palette.ink, 2 * palette.scale);
}
