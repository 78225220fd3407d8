/**
 * The predicted class over the plane: half-planes of a line, or the level set of a score by
 * marching squares (lifted, kernel, voting and softmax models).
 *
 * Cost of a level set: one score per 8 × 8 pixels (16 × 16 for costly kernels).
 */

import { planeOf, score, scores3 } from "../core/model.js";
import { fill, stroke } from "./pen.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./pen.js").Pixel} Pixel */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./palette.js").Token} Token */
/** @typedef {import("./sheet.js").Camera} Camera */
/** @typedef {import("./sheet.js").Size} Size */
/** @typedef {import("../core/types.js").Model} Model */

const CELL = 8;
const COARSE = 16;
const COSTLY = 60; // remembered rows from which the grid is coarse

/**
 * The part of a convex polygon where a·x + b·y + c ≥ 0.
 * @param {ReadonlyArray<Pixel>} polygon
 * @param {number} a
 * @param {number} b
 * @param {number} c
 * @returns {Pixel[]}
 */
export function clipHalf(polygon, a, b, c) {
  /** @type {Pixel[]} */
  const out = [];
  for (let k = 0; k < polygon.length; k++) {
    const p = polygon[k], q = polygon[(k + 1) % polygon.length];
    const at = a * p[0] + b * p[1] + c, then = a * q[0] + b * q[1] + c;
    if (at >= 0) out.push(p);
    if ((at > 0 && then < 0) || (at < 0 && then > 0)) {
      const s = at / (at - then);
      out.push([p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])]);
    }
  }
  return out;
}

/**
 * The corners of a sheet in data.
 * @param {Camera} camera
 * @param {Size} size
 * @returns {Pixel[]}
 */
export function dataCorners(camera, size) {
  const x0 = camera.dataX(-20), x1 = camera.dataX(size.width + 20), y0 = camera.dataY(size.height + 20), y1 = camera.dataY(-20);
  return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
}

/**
 * The visible part of the line b + w1·x + w2·y = 0, in pixels.
 * @param {Camera} camera
 * @param {Size} size
 * @param {number} b
 * @param {number} w1
 * @param {number} w2
 * @returns {Pixel[]} two ends, or none
 */
export function linePixels(camera, size, b, w1, w2) {
  const length = Math.hypot(w1, w2);
  if (!(length > 0)) return [];
  const corners = dataCorners(camera, size);
  const middle = [(corners[0][0] + corners[1][0]) / 2, (corners[0][1] + corners[2][1]) / 2];
  const reach = Math.hypot(corners[1][0] - corners[0][0], corners[2][1] - corners[1][1]);
  const off = (b + w1 * middle[0] + w2 * middle[1]) / length;
  if (Math.abs(off) > reach) return [];
  const foot = [middle[0] - (off * w1) / length, middle[1] - (off * w2) / length];
  const dx = (-w2 / length) * reach, dy = (w1 / length) * reach;
  return [
    [camera.x(foot[0] - dx), camera.y(foot[1] - dy)],
    [camera.x(foot[0] + dx), camera.y(foot[1] + dy)],
  ];
}

/**
 * Tint the sheet by the predicted class, and draw the boundary in ink.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Camera} camera
 * @param {Size} size
 * @param {Model} model
 * @param {{tint: number, line: number}} strength opacities
 */
export function drawDecision(pen, palette, camera, size, model, strength) {
  if (model.shape === "none") return;
  const plane = planeOf(model);
  if (plane) drawHalfPlanes(pen, palette, camera, size, plane, strength);
  else if (model.shape === "softmax") drawThree(pen, palette, camera, size, model, strength);
  else drawField(pen, palette, camera, size, gridOf(camera, size, model, (x, y) => score(model, x, y)), strength, ["plus-tint", "minus-tint"]);
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Camera} camera
 * @param {Size} size
 * @param {[number, number, number]} plane
 * @param {{tint: number, line: number}} strength
 */
function drawHalfPlanes(pen, palette, camera, size, plane, strength) {
  const [b, w1, w2] = plane;
  const corners = dataCorners(camera, size);
  /** @param {Pixel} p @returns {Pixel} */
  const pixel = (p) => [camera.x(p[0]), camera.y(p[1])];
  if (w1 === 0 && w2 === 0) {
    if (b !== 0) fill(pen, corners.map(pixel), palette[b > 0 ? "plus-tint" : "minus-tint"], strength.tint);
    return;
  }
  fill(pen, clipHalf(corners, w1, w2, b).map(pixel), palette["plus-tint"], strength.tint);
  fill(pen, clipHalf(corners, -w1, -w2, -b).map(pixel), palette["minus-tint"], strength.tint);
  const before = pen.globalAlpha;
  pen.globalAlpha = before * strength.line;
  stroke(pen, linePixels(camera, size, b, w1, w2), palette.ink, 3 * palette.scale);
  pen.globalAlpha = before;
}

/** @typedef {{values: Float64Array, across: number, down: number, cell: number}} Grid */

/**
 * Scores at the corners of square cells.
 * @param {Camera} camera
 * @param {Size} size
 * @param {Model} model
 * @param {(x: number, y: number) => number} value
 * @returns {Grid}
 */
function gridOf(camera, size, model, value) {
  const remembered = model.alpha ? model.alpha.reduce((total, count) => total + (count ? 1 : 0), 0) : 0;
  const cell = remembered > COSTLY || (model.voters && model.voters.length > 300) ? COARSE : CELL;
  const across = Math.ceil(size.width / cell), down = Math.ceil(size.height / cell);
  const values = new Float64Array((across + 1) * (down + 1));
  for (let j = 0, k = 0; j <= down; j++) {
    const y = camera.dataY(j * cell);
    for (let i = 0; i <= across; i++, k++) values[k] = value(camera.dataX(i * cell), y);
  }
  return { values, across, down, cell };
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Camera} camera
 * @param {Size} size
 * @param {Grid} grid
 * @param {{tint: number, line: number}} strength
 * @param {[Token, Token]} tints
 */
function drawField(pen, palette, camera, size, grid, strength, tints) {
  const before = pen.globalAlpha;
  pen.globalAlpha = before * strength.tint;
  pen.fillStyle = palette[tints[1]];
  pen.fillRect(0, 0, size.width, size.height);
  pen.beginPath();
  positivePath(pen, grid);
  pen.fillStyle = palette.card;
  pen.fill();
  pen.fillStyle = palette[tints[0]];
  pen.fill();
  pen.globalAlpha = before * strength.line;
  drawLevel(pen, palette, grid);
  pen.globalAlpha = before;
}

/**
 * Three classes: each has its tint, and ink between them.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Camera} camera
 * @param {Size} size
 * @param {Model} model
 * @param {{tint: number, line: number}} strength
 */
function drawThree(pen, palette, camera, size, model, strength) {
  const out = new Float64Array(3);
  /** @type {Token[]} */
  const tints = ["minus-tint", "plus-tint", "third-tint"];
  for (let k = 0; k < 3; k++) {
    const grid = gridOf(camera, size, model, (x, y) => {
      scores3(model, x, y, out);
      return out[k] - Math.max(out[(k + 1) % 3], out[(k + 2) % 3]);
    });
    const before = pen.globalAlpha;
    pen.globalAlpha = before * strength.tint;
    pen.beginPath();
    positivePath(pen, grid);
    pen.fillStyle = palette[tints[k]];
    pen.fill();
    pen.globalAlpha = before * strength.line;
    drawLevel(pen, palette, grid);
    pen.globalAlpha = before;
  }
}

/**
 * Add the region of non-negative values to the path: runs of whole cells, and cut cells.
 * @param {Pen} pen
 * @param {Grid} grid
 */
function positivePath(pen, grid) {
  const { values, across, down, cell } = grid;
  for (let j = 0; j < down; j++) {
    let from = -1;
    for (let i = 0; i <= across; i++) {
      const k = j * (across + 1) + i;
      const whole = i < across && values[k] >= 0 && values[k + 1] >= 0 && values[k + across + 1] >= 0 && values[k + across + 2] >= 0;
      if (whole && from < 0) from = i;
      if (!whole && from >= 0) {
        pen.rect(from * cell, j * cell, (i - from) * cell, cell);
        from = -1;
      }
      if (!whole && i < across) cutCell(pen, grid, i, j);
    }
  }
}

/** @type {ReadonlyArray<readonly [number, number]>} */
const AROUND = [[0, 0], [1, 0], [1, 1], [0, 1]];

/**
 * The positive part of one cell, if it has one.
 * @param {Pen} pen
 * @param {Grid} grid
 * @param {number} i
 * @param {number} j
 */
function cutCell(pen, grid, i, j) {
  const { values, across, cell } = grid;
  let begun = false;
  for (let k = 0; k < 4; k++) {
    const [ax, ay] = AROUND[k], [bx, by] = AROUND[(k + 1) % 4];
    const a = values[(j + ay) * (across + 1) + i + ax], b = values[(j + by) * (across + 1) + i + bx];
    if (a >= 0) {
      if (begun) pen.lineTo((i + ax) * cell, (j + ay) * cell);
      else pen.moveTo((i + ax) * cell, (j + ay) * cell);
      begun = true;
    }
    if (a >= 0 !== b >= 0) {
      const s = a / (a - b), x = (i + ax + s * (bx - ax)) * cell, y = (j + ay + s * (by - ay)) * cell;
      if (begun) pen.lineTo(x, y);
      else pen.moveTo(x, y);
      begun = true;
    }
  }
  if (begun) pen.closePath();
}

/**
 * Stroke the zero level in ink.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Grid} grid
 */
function drawLevel(pen, palette, grid) {
  const { values, across, down, cell } = grid;
  pen.beginPath();
  for (let j = 0; j < down; j++) {
    for (let i = 0; i < across; i++) {
      /** @type {Pixel[]} */
      const cuts = [];
      for (let k = 0; k < 4; k++) {
        const [ax, ay] = AROUND[k], [bx, by] = AROUND[(k + 1) % 4];
        const a = values[(j + ay) * (across + 1) + i + ax], b = values[(j + by) * (across + 1) + i + bx];
        if (a >= 0 === b >= 0) continue;
        const s = a / (a - b);
        cuts.push([(i + ax + s * (bx - ax)) * cell, (j + ay + s * (by - ay)) * cell]);
      }
      for (let k = 0; k + 1 < cuts.length; k += 2) {
        pen.moveTo(cuts[k][0], cuts[k][1]);
        pen.lineTo(cuts[k + 1][0], cuts[k + 1][1]);
      }
    }
  }
  pen.lineCap = "round";
  pen.strokeStyle = palette.ink;
  pen.lineWidth = 3 * palette.scale;
  pen.stroke();
  pen.lineCap = "butt";
}
