/**
 * A figure of evidence: a title that describes the current state, a canvas, and notes below.
 */

import { Sheet } from "../views/sheet.js";
import { plain } from "../words/markup.js";
import { make, put, say, shapePiece } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("../state/clock.js").Moment} Moment */
/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Model} Model */
/** @typedef {import("../core/types.js").Piece} Piece */
/** @typedef {import("../views/palette.js").Palette} Palette */
/** @typedef {import("../views/pen.js").Pen} Pen */
/** @typedef {import("../views/sheet.js").Size} Size */

/**
 * @typedef {object} Seen the input of a figure in every frame
 * @property {Derivation} run
 * @property {Moment} moment
 * @property {Model} model      with weights as shown
 * @property {Float64Array} w   weights as shown
 * @property {Uint8Array} wrong
 * @property {number} tick
 * @property {boolean} resting  the clock stands at an end
 */

export class Figure {
  /**
   * @param {Store} store
   * @param {Actions} actions
   * @param {{hero?: boolean, boxed?: boolean, canvas?: boolean}} [kind]
   */
  constructor(store, actions, kind = {}) {
    this.store = store;
    this.actions = actions;
    this.title = make("h2");
    this.element = make("div", { class: kind.hero ? "figure hero" : "figure" }, this.title);
    /** @type {Sheet|null} */
    this.sheet = null;
    if (kind.canvas === false) this.element.classList.add("text");
    else {
      const canvas = make("canvas", { role: "img" });
      this.element.append(make("div", { class: kind.boxed ? "frame boxed" : "frame" }, canvas));
      this.sheet = new Sheet(canvas, store.request);
    }
    this.hero = kind.hero ?? false;
  }

  /**
   * Ease what follows; return whether it still moves.
   * @param {Seen} seen
   * @param {number} milliseconds
   * @param {boolean} calm
   * @returns {boolean}
   */
  follow(seen, milliseconds, calm) {
    void [seen, milliseconds, calm];
    return false;
  }

  /**
   * The title, marked up.
   * @param {Seen} seen
   * @returns {string}
   */
  words(seen) {
    void seen;
    return "";
  }

  /**
   * Draw on any pen.
   * @param {Pen} pen
   * @param {Palette} palette
   * @param {Size} size
   * @param {Seen} seen
   */
  paint(pen, palette, size, seen) {
    void [pen, palette, size, seen];
  }

  /** @param {Seen} seen */
  update(seen) {
    const words = this.words(seen);
    say(this.title, words, this.hero ? shapeHero : shapePiece);
    if (this.sheet) put(this.sheet.canvas, "aria-label", plain(words));
  }

  /**
   * @param {Palette} palette
   * @param {Seen} seen
   */
  draw(palette, seen) {
    if (this.sheet && this.sheet.visible) this.paint(this.sheet.begin(), palette, this.sheet, seen);
  }

  close() {
    this.sheet?.close();
    this.element.remove();
  }
}

/**
 * In the hero's title, numbers are large.
 * @param {Piece} piece
 * @returns {Node}
 */
function shapeHero(piece) {
  const node = shapePiece(piece);
  if ((piece.role === "number" || piece.role === "proof") && piece.text.length <= 8) /** @type {HTMLElement} */ (node).classList.add("big");
  return node;
}
