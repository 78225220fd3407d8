/**
 * The shelf: ten stories and the user's tables, as thumbnails.
 */

import { makePoints } from "../core/points.js";
import { STORIES } from "../stories/index.js";
import { drawThumb } from "../views/tally.js";
import { button, byId, make } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../core/types.js").Points} Points */
/** @typedef {import("../views/palette.js").Palette} Palette */
/** @typedef {{id: string, name: string, points: Points, open: () => void}} Entry */

const SIZE = { width: 80, height: 50 };

export class Shelf {
  /**
   * @param {Store} store
   * @param {(id: string) => void} openStory
   */
  constructor(store, openStory) {
    this.store = store;
    this.list = byId("shelf");
    /** @type {Entry[]} */
    this.entries = STORIES.map((story) => ({ id: story.id, name: story.name, points: makePoints(story.points), open: () => openStory(story.id) }));
    /** @type {Map<string, HTMLButtonElement>} */
    this.buttons = new Map();
    for (const entry of this.entries) this.list.append(this.item(entry));
    this.shown = "";
  }

  /**
   * Put a table of the user's before the stories.
   * @param {Entry} entry
   */
  add(entry) {
    this.entries = [entry, ...this.entries.filter((other) => other.id !== entry.id)];
    this.buttons.get(entry.id)?.parentElement?.remove();
    this.list.prepend(this.item(entry));
    this.shown = "";
  }

  /**
   * @param {Entry} entry
   * @returns {HTMLLIElement}
   */
  item(entry) {
    const canvas = make("canvas", { "aria-hidden": "true" });
    const node = button({ "data-id": entry.id }, entry.open, canvas, document.createTextNode(entry.name));
    this.buttons.set(entry.id, node);
    return make("li", {}, node);
  }

  /** @param {Palette} palette */
  draw(palette) {
    const ratio = globalThis.devicePixelRatio || 1;
    for (const entry of this.entries) {
      const canvas = this.buttons.get(entry.id)?.querySelector("canvas"), pen = canvas?.getContext("2d");
      if (!canvas || !pen) continue;
      canvas.width = SIZE.width * ratio;
      canvas.height = SIZE.height * ratio;
      pen.scale(ratio, ratio);
      drawThumb(pen, palette, SIZE, entry.points);
    }
  }

  update() {
    const { state } = this.store, now = state.story?.id ?? state.tableId, key = `${now}/${state.solved.join()}`;
    if (key === this.shown) return;
    this.shown = key;
    for (const [id, node] of this.buttons) {
      if (id === now) {
        node.setAttribute("aria-current", "true");
        const list = this.list.parentElement;
        if (list && list.scrollWidth > list.clientWidth) list.scrollLeft = node.offsetLeft - list.clientWidth / 2;
      } else node.removeAttribute("aria-current");
      node.classList.toggle("solved", state.solved.includes(id));
    }
  }
}
