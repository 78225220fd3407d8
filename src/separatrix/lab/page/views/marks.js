/**
 * Marks of the data: a class is a colour and a shape of equal area (disc, square, triangle),
 * filled on the right side and hollow on the wrong one.
 */

import { classToken } from "./palette.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./palette.js").Palette} Palette */

const SQUARE = 0.886; // half side of the square whose area is that of a disc of radius 1
const TRIANGLE = 1.35;

/**
 * @typedef {object} MarkStyle
 * @property {boolean} [hollow]
 * @property {boolean} [dashed]
 * @property {string} [halo]
 * @property {number} [alpha]
 */

/**
 * Outline of a class mark.
 * @param {Pen} pen
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {number} label
 */
function outline(pen, x, y, r, label) {
  pen.beginPath();
  if (label === 2) {
    pen.moveTo(x, y - r * TRIANGLE);
    pen.lineTo(x + r * TRIANGLE * 0.9, y + r * TRIANGLE * 0.62);
    pen.lineTo(x - r * TRIANGLE * 0.9, y + r * TRIANGLE * 0.62);
    pen.closePath();
  } else if (label > 0) pen.arc(x, y, r, 0, 2 * Math.PI);
  else pen.rect(x - r * SQUARE, y - r * SQUARE, 2 * r * SQUARE, 2 * r * SQUARE);
}

/**
 * Draw one class mark.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {number} label
 * @param {MarkStyle} [style]
 */
export function mark(pen, palette, x, y, r, label, style = {}) {
  const colour = palette[classToken(label)];
  const before = pen.globalAlpha;
  if (style.alpha !== undefined) pen.globalAlpha = before * style.alpha;
  outline(pen, x, y, r, label);
  if (style.halo) {
    pen.lineWidth = 4;
    pen.lineJoin = "round";
    pen.strokeStyle = style.halo;
    pen.stroke();
  }
  if (style.hollow) {
    const width = Math.max(1.8, r * 0.32);
    outline(pen, x, y, r - width / 2, label);
    pen.fillStyle = palette.card;
    pen.fill();
    pen.lineWidth = width;
    pen.strokeStyle = colour;
    if (style.dashed) pen.setLineDash([3, 3]);
    pen.stroke();
    if (style.dashed) pen.setLineDash([]);
  } else {
    pen.fillStyle = colour;
    pen.fill();
  }
  pen.globalAlpha = before;
}

/**
 * The four-pointed star of a common point.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
export function star(pen, palette, x, y, r) {
  pen.beginPath();
  for (let k = 0; k < 8; k++) {
    const angle = (k * Math.PI) / 4, reach = k % 2 ? r * 0.38 : r;
    if (k) pen.lineTo(x + reach * Math.sin(angle), y - reach * Math.cos(angle));
    else pen.moveTo(x, y - r);
  }
  pen.closePath();
  pen.lineJoin = "round";
  pen.lineWidth = 4;
  pen.strokeStyle = palette.card;
  pen.stroke();
  pen.fillStyle = palette.proof;
  pen.fill();
}

/**
 * Radius of a point's mark for a number of rows.
 * @param {number} rows
 * @param {number} scale
 * @returns {number}
 */
export function markRadius(rows, scale) {
  const base = rows <= 12 ? 10.5 : rows <= 60 ? 7.5 : rows <= 400 ? 5 : rows <= 2000 ? 3 : 1.5;
  return base * scale;
}
