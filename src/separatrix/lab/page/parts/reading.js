/**
 * Sections of the drawer to read: the code, the table of updates, the keys.
 */

import { weightsAt } from "../core/derive.js";
import { pythonCode } from "../words/code.js";
import { num, vec } from "../words/number.js";
import { button, make } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("./drawer.js").Section} Section */

const MOST_ROWS = 200;

/** @type {[string[], string][]} */
const KEYS = [
  [["Space"], "play, pause"],
  [["←", "→"], "previous, next mistake (or step)"],
  [[",", "."], "previous, next visit"],
  [["Home", "End"], "first, last visit"],
  [["[", "]"], "select a point"],
  [["Shift", "arrows"], "move the selected point by a tenth"],
  [["f"], "flip its label"],
  [["Delete"], "delete it"],
  [["a"], "add a point beside it"],
  [["p"], "show or hide the proof"],
  [["b"], "line through the origin, or anywhere"],
  [["Ctrl", "Z"], "undo; with Shift redo"],
  [["l"], "copy a link to this state"],
  [["s"], "save pictures and files"],
  [["t"], "light or dark"],
  [["o"], "open or close this drawer"],
];

/**
 * The same run in Python: a loop in NumPy beside the call of the library.
 * @param {Store} store
 * @param {(text: string) => void} toast
 * @returns {Section}
 */
export function codeSection(store, toast) {
  return {
    id: "code",
    name: "The same in Python",
    key: () => (store.run ? JSON.stringify(written(store)) : ""),
    build: () => {
      if (!store.run) return [];
      const { loop, library } = written(store);
      return [make("p", { text: "In NumPy:" }), code(loop, "Loop in NumPy"), copy(loop, toast), make("p", { text: "With the library:" }), code(library, "Library call"), copy(library, toast)];
    },
  };
}

/**
 * The present run as code, with the user's class names.
 * @param {Store} store
 */
function written(store) {
  const { labels } = store.state;
  return pythonCode(store.run, labels.length ? labels : undefined);
}

/**
 * @param {string} text
 * @param {string} name
 * @returns {HTMLElement}
 */
function code(text, name) {
  return make("pre", { tabindex: 0, role: "region", "aria-label": name }, make("code", { text }));
}

/**
 * @param {string} text
 * @param {(text: string) => void} toast
 * @returns {HTMLElement}
 */
function copy(text, toast) {
  const done = async () => {
    try {
      await navigator.clipboard.writeText(text);
      toast("The code is copied.");
    } catch {
      toast("The browser did not allow copying; select the text instead.");
    }
  };
  return make("div", { class: "buttons" }, button({ class: "button", text: "Copy" }, () => void done()));
}

/**
 * Every update as a table: the text form of the figures.
 * @param {Store} store
 * @returns {Section}
 */
export function updateSection(store) {
  return {
    id: "updates",
    name: "Table of updates",
    key: () => (store.run ? [store.state.pane, store.run.trace.updates, store.run.trace.length, Array.from(store.run.trace.kept).join()].join("/") : ""),
    build: () => {
      const { run } = store;
      if (!run) return [];
      const { trace } = run, shown = Math.min(trace.updates, MOST_ROWS), body = make("tbody");
      const heads = trace.byRow ? ["update", "visit", "row", "w", "‖w‖²"] : ["step", "loss", "w", "‖w‖²"];
      for (let k = 0; k <= shown; k++) {
        const w = trace.p ? vec(weightsAt(trace, k)) : "", tick = k ? trace.updateTick[k - 1] : 0;
        const cells = trace.byRow ? [num(k), num(tick), k ? String(trace.row[tick - 1] + 1) : "start", w, num(trace.squaredNorm[k])] : [num(k), trace.objective ? num(trace.objective[k]) : "—", w, num(trace.squaredNorm[k])];
        body.append(make("tr", {}, ...cells.map((text) => make("td", { text }))));
      }
      const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { text, scope: "col" })))), body);
      const more = trace.updates > shown ? [make("p", { text: `The first ${shown} of ${num(trace.updates)} updates; the trace file has them all.` })] : [];
      return [make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of updates" }, table), ...more];
    },
  };
}

/** @returns {Section} */
export function keySection() {
  return {
    id: "keys",
    name: "Keys",
    key: () => "",
    build: () => {
      const list = make("dl", { class: "keys" });
      for (const [keys, does] of KEYS) {
        const term = make("dt");
        keys.forEach((key, k) => term.append(...(k ? [document.createTextNode(" ")] : []), make("kbd", { text: key })));
        list.append(term, make("dd", { text: does }));
      }
      return [list];
    },
  };
}
