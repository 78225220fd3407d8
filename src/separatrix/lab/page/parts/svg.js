/**
 * A pen that writes SVG: the few methods of a 2-D context that the views use.
 */

/** @typedef {import("../views/pen.js").Pen} Pen */

/**
 * @typedef {object} Style
 * @property {number} globalAlpha
 * @property {string} fillStyle
 * @property {string} strokeStyle
 * @property {number} lineWidth
 * @property {string} lineCap
 * @property {string} lineJoin
 * @property {string} font
 * @property {string} textAlign
 * @property {string} textBaseline
 * @property {number[]} dash
 * @property {string} clip
 */

const ANCHORS = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
const SHIFTS = { middle: 0.35, top: 0.8, hanging: 0.8, alphabetic: 0, bottom: -0.2, ideographic: -0.2 };

/**
 * Round for a short file.
 * @param {number} value
 * @returns {string}
 */
function short(value) {
  return String(Math.round(value * 100) / 100);
}

/**
 * Escape text for XML.
 * @param {string} text
 * @returns {string}
 */
function xml(text) {
  return text.replace(/[<>&"']/g, (letter) => `&#${letter.charCodeAt(0)};`).replace(/[^\u0009\u000a\u000d\u0020-\ud7ff\ue000-\ufffd]/g, "");
}

export class SvgPen {
  /**
   * @param {number} width
   * @param {number} height
   * @param {Pick<CanvasRenderingContext2D, "font"|"measureText">} ruler measures text
   */
  constructor(width, height, ruler) {
    this.width = width;
    this.height = height;
    this.ruler = ruler;
    /** @type {string[]} */
    this.body = [];
    /** @type {string[]} */
    this.defs = [];
    this.path = "";
    this.dx = 0;
    this.dy = 0;
    /** @type {(Style & {dx: number, dy: number})[]} */
    this.saved = [];
    this.globalAlpha = 1;
    /** @type {any} */
    this.fillStyle = "#000";
    /** @type {any} */
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    /** @type {CanvasLineCap} */
    this.lineCap = "butt";
    /** @type {CanvasLineJoin} */
    this.lineJoin = "miter";
    this.font = "13px sans-serif";
    /** @type {CanvasTextAlign} */
    this.textAlign = "left";
    /** @type {CanvasTextBaseline} */
    this.textBaseline = "alphabetic";
    /** @type {number[]} */
    this.dash = [];
    this.clipId = "";
  }

  save() {
    const { globalAlpha, fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, font, textAlign, textBaseline, dash, dx, dy } = this;
    this.saved.push({ globalAlpha, fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, font, textAlign, textBaseline, dash, clip: this.clipId, dx, dy });
  }

  restore() {
    const before = this.saved.pop();
    if (!before) return;
    const { clip, ...style } = before;
    Object.assign(this, style);
    this.clipId = clip;
  }

  /** @param {number} x @param {number} y */
  translate(x, y) {
    this.dx += x;
    this.dy += y;
  }

  beginPath() {
    this.path = "";
  }

  closePath() {
    this.path += "Z";
  }

  /** @param {number} x @param {number} y @returns {string} */
  at(x, y) {
    return `${short(x + this.dx)} ${short(y + this.dy)}`;
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path += `M${this.at(x, y)}`;
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${this.at(x, y)}`;
  }

  /** @param {number} cx @param {number} cy @param {number} x @param {number} y */
  quadraticCurveTo(cx, cy, x, y) {
    this.path += `Q${this.at(cx, cy)} ${this.at(x, y)}`;
  }

  /** @param {number} ax @param {number} ay @param {number} bx @param {number} by @param {number} x @param {number} y */
  bezierCurveTo(ax, ay, bx, by, x, y) {
    this.path += `C${this.at(ax, ay)} ${this.at(bx, by)} ${this.at(x, y)}`;
  }

  /**
   * Whole circles only: the views draw no other arcs.
   * @param {number} x
   * @param {number} y
   * @param {number} r
   */
  arc(x, y, r) {
    const size = short(Math.max(0, r));
    this.path += `M${this.at(x - r, y)}a${size} ${size} 0 1 0 ${short(2 * r)} 0a${size} ${size} 0 1 0 ${short(-2 * r)} 0Z`;
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.path += `M${this.at(x, y)}h${short(w)}v${short(h)}h${short(-w)}Z`;
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  roundRect(x, y, w, h) {
    this.rect(x, y, w, h);
  }

  clip() {
    const id = `c${this.defs.length}`, inner = this.clipId ? ` clip-path="url(#${this.clipId})"` : "";
    this.defs.push(`<clipPath id="${id}"${inner}><path d="${this.path}"/></clipPath>`);
    this.clipId = id;
  }

  /** @param {string} attributes */
  add(attributes) {
    const alpha = this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "", clip = this.clipId ? ` clip-path="url(#${this.clipId})"` : "";
    if (this.globalAlpha > 0 && this.path) this.body.push(`<path d="${this.path}"${attributes}${alpha}${clip}/>`);
  }

  fill() {
    this.add(` fill="${xml(String(this.fillStyle))}"`);
  }

  stroke() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "", cap = this.lineCap === "butt" ? "" : ` stroke-linecap="${this.lineCap}"`;
    this.add(` fill="none" stroke="${xml(String(this.strokeStyle))}" stroke-width="${short(this.lineWidth)}" stroke-linejoin="${this.lineJoin}"${dash}${cap}`);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  fillRect(x, y, w, h) {
    const kept = this.path;
    this.beginPath();
    this.rect(x, y, w, h);
    this.fill();
    this.path = kept;
  }

  /** @param {Iterable<number>} dash */
  setLineDash(dash) {
    this.dash = [...dash];
  }

  /** @param {string} text @returns {TextMetrics} */
  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  /** @param {string} text @param {number} x @param {number} y @param {string} paint */
  text(text, x, y, paint) {
    const size = Number(/([\d.]+)px/.exec(this.font)?.[1] ?? 13), family = this.font.slice(this.font.indexOf("px") + 2).trim();
    const weight = /\b(\d{3})\b/.exec(this.font)?.[1] ?? "400", italic = this.font.startsWith("italic") ? ` font-style="italic"` : "";
    const shift = (SHIFTS[/** @type {keyof typeof SHIFTS} */ (this.textBaseline)] ?? 0) * size;
    const alpha = this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "";
    this.body.push(`<text x="${short(x + this.dx)}" y="${short(y + this.dy + shift)}" font-family="${xml(family)}" font-size="${short(size)}" font-weight="${weight}"${italic} text-anchor="${ANCHORS[this.textAlign] ?? "start"}"${paint}${alpha}>${xml(text)}</text>`);
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    this.text(text, x, y, ` fill="${xml(String(this.fillStyle))}"`);
  }

  /** @param {string} text @param {number} x @param {number} y */
  strokeText(text, x, y) {
    this.text(text, x, y, ` fill="none" stroke="${xml(String(this.strokeStyle))}" stroke-width="${short(this.lineWidth)}" stroke-linejoin="round"`);
  }

  /**
   * The whole picture.
   * @param {string} title for those who cannot see it
   * @returns {string}
   */
  finish(title) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" role="img"><title>${xml(title)}</title><defs>${this.defs.join("")}</defs>${this.body.join("")}</svg>`;
  }
}
