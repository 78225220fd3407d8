/**
 * Drawing with a 2-D context or anything that has the same few methods (the SVG recorder),
 * so that every picture of the page can also be saved as vectors.
 */

/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {import("./palette.js").Token} Token */
/** @typedef {[number, number]} Pixel */

/**
 * @typedef {Pick<CanvasRenderingContext2D, "save"|"restore"|"beginPath"|"closePath"|"moveTo"|"lineTo"|"quadraticCurveTo"|"bezierCurveTo"|"arc"|"rect"|"roundRect"|"fill"|"stroke"|"clip"|"fillRect"|"setLineDash"|"fillText"|"strokeText"|"measureText"|"translate"|"globalAlpha"|"fillStyle"|"strokeStyle"|"lineWidth"|"lineCap"|"lineJoin"|"font"|"textAlign"|"textBaseline">} Pen
 */

const TURN = 2 * Math.PI;
const HATCH_PITCH = 9;
const HATCH_ALPHA = 0.34;

/**
 * Begin a path through pixels.
 * @param {Pen} pen
 * @param {ReadonlyArray<Pixel>} pixels
 * @param {boolean} [closed]
 */
export function trace(pen, pixels, closed = false) {
  pen.beginPath();
  for (let k = 0; k < pixels.length; k++) {
    if (k) pen.lineTo(pixels[k][0], pixels[k][1]);
    else pen.moveTo(pixels[k][0], pixels[k][1]);
  }
  if (closed) pen.closePath();
}

/**
 * Stroke a line through pixels.
 * @param {Pen} pen
 * @param {ReadonlyArray<Pixel>} pixels
 * @param {string} colour
 * @param {number} width
 * @param {number[]} [dash]
 */
export function stroke(pen, pixels, colour, width, dash) {
  if (pixels.length < 2) return;
  trace(pen, pixels);
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  if (dash) pen.setLineDash(dash);
  pen.stroke();
  if (dash) pen.setLineDash([]);
}

/**
 * Fill a polygon with a colour at an opacity.
 * @param {Pen} pen
 * @param {ReadonlyArray<Pixel>} pixels
 * @param {string} colour
 * @param {number} [alpha]
 */
export function fill(pen, pixels, colour, alpha = 1) {
  if (pixels.length < 3) return;
  const before = pen.globalAlpha;
  pen.globalAlpha = before * alpha;
  trace(pen, pixels, true);
  pen.fillStyle = colour;
  pen.fill();
  pen.globalAlpha = before;
}

/**
 * Hatch a polygon at 45 degrees: the sign of a proof.
 * @param {Pen} pen
 * @param {ReadonlyArray<Pixel>} pixels
 * @param {string} colour
 * @param {number} [alpha]
 */
export function hatch(pen, pixels, colour, alpha = HATCH_ALPHA) {
  if (pixels.length < 3) return;
  let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
  for (const [x, y] of pixels) {
    left = Math.min(left, x); right = Math.max(right, x); top = Math.min(top, y); bottom = Math.max(bottom, y);
  }
  if (!(right - left < 20000) || !(bottom - top < 20000)) return;
  pen.save();
  trace(pen, pixels, true);
  pen.clip();
  pen.globalAlpha *= alpha;
  pen.beginPath();
  const first = Math.floor((left + top) / HATCH_PITCH) * HATCH_PITCH;
  for (let s = first; s <= right + bottom; s += HATCH_PITCH) {
    pen.moveTo(s - bottom, bottom);
    pen.lineTo(s - top, top);
  }
  pen.strokeStyle = colour;
  pen.lineWidth = 1.1;
  pen.stroke();
  pen.restore();
}

/**
 * A filled disc with an optional rim.
 * @param {Pen} pen
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {string} colour
 * @param {string} [rim]
 * @param {number} [rimWidth]
 */
export function disc(pen, x, y, r, colour, rim, rimWidth = 2) {
  pen.beginPath();
  pen.arc(x, y, r, 0, TURN);
  pen.fillStyle = colour;
  pen.fill();
  if (!rim) return;
  pen.strokeStyle = rim;
  pen.lineWidth = rimWidth;
  pen.stroke();
}

/**
 * A circle without filling.
 * @param {Pen} pen
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {string} colour
 * @param {number} width
 * @param {number[]} [dash]
 */
export function ring(pen, x, y, r, colour, width, dash) {
  pen.beginPath();
  pen.arc(x, y, r, 0, TURN);
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  if (dash) pen.setLineDash(dash);
  pen.stroke();
  if (dash) pen.setLineDash([]);
}

/**
 * An arrow with a closed head.
 * @param {Pen} pen
 * @param {Pixel} from
 * @param {Pixel} to
 * @param {string} colour
 * @param {number} width
 */
export function arrow(pen, from, to, colour, width) {
  const dx = to[0] - from[0], dy = to[1] - from[1];
  const length = Math.hypot(dx, dy);
  if (length < 1) return;
  const ux = dx / length, uy = dy / length;
  const head = Math.min(7 + 2.6 * width, length);
  const half = head * 0.42;
  const bx = to[0] - ux * head, by = to[1] - uy * head;
  stroke(pen, [from, [to[0] - ux * head * 0.8, to[1] - uy * head * 0.8]], colour, width);
  trace(pen, [to, [bx - uy * half, by + ux * half], [bx + uy * half, by - ux * half]], true);
  pen.fillStyle = colour;
  pen.fill();
}

/**
 * @typedef {object} TextStyle
 * @property {string} colour
 * @property {number} [size]
 * @property {number} [weight]
 * @property {boolean} [italic]
 * @property {boolean} [serif]
 * @property {CanvasTextAlign} [align]
 * @property {CanvasTextBaseline} [base]
 * @property {string} [halo] colour behind the letters
 */

/**
 * Set the pen's font from a style.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {TextStyle} style
 */
export function setFont(pen, palette, style) {
  const size = (style.size ?? 13) * palette.scale;
  pen.font = `${style.italic ? "italic " : ""}${style.weight ?? 400} ${size}px ${style.serif ? palette.serif : palette.sans}`;
}

/**
 * Write text, with a halo that keeps it legible over lines.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {TextStyle} style
 */
export function write(pen, palette, text, x, y, style) {
  setFont(pen, palette, style);
  ink(pen, text, x, y, style);
}

/**
 * Write text in the font that is set.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {TextStyle} style
 */
function ink(pen, text, x, y, style) {
  pen.textAlign = style.align ?? "left";
  pen.textBaseline = style.base ?? "alphabetic";
  if (style.halo) {
    pen.lineWidth = 4;
    pen.lineJoin = "round";
    pen.strokeStyle = style.halo;
    pen.strokeText(text, x, y);
  }
  pen.fillStyle = style.colour;
  pen.fillText(text, x, y);
}
