/**
 * Labels that never overlap: each takes the first of its candidate places that is free and
 * inside the picture, and earlier labels keep their places.
 */

import { setFont, write } from "./pen.js";

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {import("./pen.js").TextStyle} TextStyle */
/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Area */

const MOST_WIDTHS = 4000;
/** @type {Map<string, number>} */
const widths = new Map();

export class Labels {
  /**
   * @param {Pen} pen
   * @param {Palette} palette
   * @param {Area} frame where labels may stand
   */
  constructor(pen, palette, frame) {
    this.pen = pen;
    this.palette = palette;
    this.frame = frame;
    /** @type {Area[]} */
    this.taken = [];
  }

  /**
   * Keep an area free of labels.
   * @param {number} x
   * @param {number} y
   * @param {number} halfWidth
   * @param {number} [halfHeight]
   */
  reserve(x, y, halfWidth, halfHeight = halfWidth) {
    this.taken.push({ left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight });
  }

  /**
   * Keep labels off a line, by squares along it.
   * @param {[number, number]} from
   * @param {[number, number]} to
   * @param {number} half
   */
  reserveLine(from, to, half) {
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const steps = Math.min(60, Math.ceil(length / Math.max(4, 2 * half)));
    for (let k = 0; k <= steps; k++) {
      const s = steps ? k / steps : 0;
      this.reserve(from[0] + s * (to[0] - from[0]), from[1] + s * (to[1] - from[1]), half);
    }
  }

  /**
   * Write the text at the first free candidate; nothing if none is free and `must` is false.
   * @param {string} text
   * @param {ReadonlyArray<[number, number]>} places centres of the text
   * @param {TextStyle} style
   * @param {boolean} [must]
   * @returns {boolean} whether it was written
   */
  place(text, places, style, must = false) {
    const halfWidth = this.width(text, style) / 2 + 2;
    const halfHeight = (style.size ?? 13) * this.palette.scale * 0.6;
    let chosen = places.find(([x, y]) => this.free(this.around(x, y, halfWidth, halfHeight)));
    if (!chosen && must && places.length) chosen = this.nudged(places[0], halfWidth, halfHeight);
    if (!chosen) return false;
    this.reserve(chosen[0], chosen[1], halfWidth, halfHeight);
    write(this.pen, this.palette, text, chosen[0], chosen[1], { ...style, align: "center", base: "middle" });
    return true;
  }

  /**
   * A text cut to a width with "…"; the "(standardised)" of a column stays.
   * @param {string} text
   * @param {number} most
   * @param {TextStyle} style
   * @returns {string}
   */
  cut(text, most, style) {
    if (this.width(text, style) <= most) return text;
    const tail = /( \(standardised\))?$/.exec(text)?.[0] ?? "", letters = [...text.slice(0, text.length - tail.length)];
    let [low, high] = [1, letters.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.width(`${letters.slice(0, middle).join("")}…${tail}`, style) <= most) low = middle;
      else high = middle - 1;
    }
    return `${letters.slice(0, low).join("")}…${tail}`;
  }

  /**
   * Width of a text, measured once per style, since measuring takes most of the time.
   * @param {string} text
   * @param {TextStyle} style
   * @returns {number}
   */
  width(text, style) {
    const key = `${style.size ?? 13}/${style.weight ?? 400}/${style.italic ? 1 : 0}${style.serif ? 1 : 0}/${this.palette.scale}/${text}`;
    const known = widths.get(key);
    if (known !== undefined) return known;
    setFont(this.pen, this.palette, style);
    const width = this.pen.measureText(text).width;
    if (widths.size > MOST_WIDTHS) widths.clear();
    widths.set(key, width);
    return width;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} halfWidth
   * @param {number} halfHeight
   * @returns {Area}
   */
  around(x, y, halfWidth, halfHeight) {
    return { left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight };
  }

  /**
   * The place, moved inside the frame.
   * @param {[number, number]} place
   * @param {number} halfWidth
   * @param {number} halfHeight
   * @returns {[number, number]}
   */
  nudged(place, halfWidth, halfHeight) {
    const { left, right, top, bottom } = this.frame;
    return [
      Math.max(left + halfWidth, Math.min(right - halfWidth, place[0])),
      Math.max(top + halfHeight, Math.min(bottom - halfHeight, place[1])),
    ];
  }

  /**
   * @param {Area} area
   * @returns {boolean}
   */
  free(area) {
    const { left, right, top, bottom } = this.frame;
    if (area.left < left || area.right > right || area.top < top || area.bottom > bottom) return false;
    return !this.taken.some((other) => area.left < other.right && area.right > other.left && area.top < other.bottom && area.bottom > other.top);
  }
}
