/**
 * The tools of the stage, and the key of its marks.
 */

import { button, byId, icon, make, put } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/store.js").Tool} Tool */

/** @type {[Tool, string, string][]} */
const TOOLS = [
  ["move", "i-hand", "Move points"],
  ["plus", "i-plus", "Paint blue points"],
  ["minus", "i-minus", "Paint orange points"],
  ["third", "i-third", "Paint green points"],
  ["flip", "i-flip", "Flip labels"],
  ["erase", "i-erase", "Delete points"],
];

export class Dock {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.key = byId("key");
    this.shownKey = "";
    /** @type {Map<Tool, HTMLButtonElement>} */
    this.buttons = new Map();
    const dock = byId("dock");
    for (const [tool, glyph, name] of TOOLS) {
      const node = button({ class: `t-${tool}`, title: name, "aria-label": name, "aria-pressed": "false" }, () => store.set({ tool }), icon(glyph));
      this.buttons.set(tool, node);
      dock.append(node);
    }
  }

  update() {
    const { state } = this.store;
    const three = state.points.classes === 3 || state.learners.some((learner) => learner.kind === "softmax");
    for (const [tool, node] of this.buttons) {
      put(node, "aria-pressed", state.tool === tool);
      if (tool === "third") node.hidden = !three;
    }
    this.updateKey(three);
  }

  /** @param {boolean} three */
  updateKey(three) {
    const { labels } = this.store.state, key = `${labels.join("\n")}/${three}`;
    if (key === this.shownKey) return;
    this.shownKey = key;
    const minus = labels[0] ?? "orange: y = −1", plus = labels[1] ?? "blue: y = +1", third = labels[2] ?? "green: third class";
    const rows = [entry("i-plus", "plus", plus), entry("i-minus", "minus", minus)];
    if (three) rows.push(entry("i-third", "third", third));
    rows.push(entry("i-hollow", "", "hollow: wrong side"));
    this.key.replaceChildren(...rows);
  }
}

/**
 * @param {string} glyph
 * @param {string} name
 * @param {string} text
 * @returns {HTMLElement}
 */
function entry(glyph, name, text) {
  return make("span", { title: text }, icon(glyph, name), document.createTextNode(text));
}
