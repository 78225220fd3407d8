/**
 * The user's table: dropped on the stage, opened as a file, or pasted. Types by value, the
 * best pairs of columns as thumbnails, a standardised view.
 */

import { choose, offers, readCsv } from "../core/csv.js";
import { drawThumb } from "../views/tally.js";
import { counted } from "../words/number.js";
import { escape, plain } from "../words/markup.js";
import { button, byId, make } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("../core/types.js").Table} Table */
/** @typedef {import("../core/types.js").Offer} Offer */
/** @typedef {import("../core/types.js").Points} Points */
/** @typedef {import("../views/palette.js").Palette} Palette */
/** @typedef {import("./shelf.js").Shelf} Shelf */

const MOST_BYTES = 20e6;
const OFFERED = 6;
const THUMB = { width: 110, height: 62 };

export class Tables {
  /**
   * @param {Store} store
   * @param {Actions} actions
   * @param {Shelf} shelf
   * @param {{toast: (text: string) => void, hush: () => void, palette: () => Palette, opened: () => void}} page
   */
  constructor(store, actions, shelf, page) {
    this.store = store;
    this.actions = actions;
    this.shelf = shelf;
    this.page = page;
    /** @type {Table|null} */
    this.table = null;
    this.target = "";
    /** @type {[string, string]|null} */
    this.pair = null;
    this.standardise = true;
    /** @type {Offer[]} */
    this.offered = [];
    this.file = /** @type {HTMLInputElement} */ (byId("file"));
    this.file.addEventListener("change", () => void this.read(this.file.files?.[0]));
    this.listen(byId("stage"), byId("drop"));
  }

  /**
   * A table can be dropped anywhere on the page; the stage says so.
   * @param {HTMLElement} stage
   * @param {HTMLElement} veil
   */
  listen(stage, veil) {
    const { documentElement } = stage.ownerDocument;
    documentElement.addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      veil.hidden = false;
    });
    documentElement.addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) veil.hidden = true;
    });
    documentElement.addEventListener("drop", (event) => {
      veil.hidden = true;
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      void this.read(file);
    });
  }

  /** @param {File|undefined} file */
  async read(file) {
    if (!file) return;
    this.file.value = "";
    if (file.size > MOST_BYTES) this.page.toast(`${file.name} has ${counted(Math.round(file.size / 1e6), "megabyte")}; the limit is 20. Fit it with “separatrix fit”.`);
    else this.take(await file.text(), file.name);
  }

  /**
   * Read a table and show its best pair of columns.
   * @param {string} text
   * @param {string} name
   */
  take(text, name) {
    const table = readCsv(text, name);
    if (table.problem || !table.targets.length) {
      this.page.toast(plain(table.problem ?? `${escape(name)} has no column with two or three classes.`));
      return;
    }
    this.table = table;
    this.retarget(table.targets[0]);
    this.page.opened();
  }

  /**
   * Predict another column.
   * @param {string} target
   */
  retarget(target) {
    if (!this.table) return;
    this.target = target;
    this.offered = offers(this.table, target).slice(0, OFFERED);
    this.pair = this.offered[0]?.pair ?? null;
    this.show();
  }

  /** Put the chosen columns on the stage. */
  show() {
    const { table, pair } = this;
    if (!table) return;
    if (!pair) {
      this.page.toast(`${table.name} has no two numeric columns beside “${this.target}”.`);
      return;
    }
    const chosen = choose(table, this.target, pair, this.standardise);
    if (chosen.problem) {
      this.page.toast(plain(chosen.problem));
      return;
    }
    const id = `table ${table.name}`, about = { names: [...chosen.names], labels: chosen.labels, note: chosen.why };
    const open = () => this.actions.openTable(id, chosen.points, about);
    open();
    this.page.hush();
    this.shelf.add({ id, name: table.name.replace(/\.(csv|tsv|txt)$/i, ""), points: chosen.points, open });
    this.shelf.draw(this.page.palette());
  }

  /**
   * Data that came with the page.
   * @param {{source: string, csv: string, target: string}} data
   */
  embed(data) {
    const table = readCsv(data.csv, data.source);
    if (table.problem) {
      this.page.toast(plain(table.problem));
      return;
    }
    this.table = table;
    this.retarget(data.target);
  }

  /** @returns {import("./drawer.js").Section} */
  section() {
    return {
      id: "data",
      name: "Data",
      key: () => JSON.stringify([this.table?.name, this.target, this.pair, this.standardise, this.store.state.points.n, this.store.state.story?.id ?? "", this.store.state.edited]),
      build: () => [
        make("p", { text: `${counted(this.store.state.points.n, "point")} on the stage.` }),
        make("div", { class: "buttons" },
          button({ class: "button", text: "Open a table (csv)", "data-key": "open" }, () => this.file.click()),
          ...(this.store.state.story && this.store.state.edited ? [button({ class: "button", text: "Reset the points", "data-key": "reset" }, () => this.actions.reset())] : [])),
        ...this.pasteField(),
        ...(this.table ? this.choices(this.table) : []),
      ],
    };
  }

  /** @returns {Node[]} */
  pasteField() {
    const area = make("textarea", { rows: 3, id: "paste", placeholder: "x1,x2,label", "data-key": "paste" });
    const use = button({ class: "button", text: "Use it" }, () => area.value.trim() && this.take(area.value, "pasted table"));
    return [make("div", { class: "field" }, make("label", { for: "paste", text: "Or paste one" }), area), make("div", { class: "buttons" }, use)];
  }

  /**
   * @param {Table} table
   * @returns {Node[]}
   */
  choices(table) {
    const select = make("select", { "data-key": "target" }, ...[...new Set([this.target, ...table.targets])].map((name) => make("option", { value: name, text: name, selected: name === this.target })));
    select.addEventListener("change", () => this.retarget(select.value));
    const box = make("input", { type: "checkbox", checked: this.standardise, "data-key": "standardise" });
    box.addEventListener("change", () => {
      this.standardise = box.checked;
      this.show();
    });
    const pairs = make("div", { class: "pairs", role: "group", "aria-label": "Pairs of columns, the best first" }, ...this.offered.map((offer) => this.pairButton(table, offer)));
    return [
      make("label", { class: "field" }, make("span", { text: "Classes" }), select),
      make("label", { class: "field" }, make("span", { text: "Standardise the columns" }), box),
      pairs,
    ];
  }

  /**
   * @param {Table} table
   * @param {Offer} offer
   * @returns {HTMLButtonElement}
   */
  pairButton(table, offer) {
    const canvas = make("canvas", { "aria-hidden": "true" }), ratio = globalThis.devicePixelRatio || 1;
    canvas.width = THUMB.width * ratio;
    canvas.height = THUMB.height * ratio;
    const pen = canvas.getContext("2d");
    if (pen) {
      pen.scale(ratio, ratio);
      drawThumb(pen, this.page.palette(), THUMB, choose(table, this.target, offer.pair, this.standardise).points);
    }
    const pressed = this.pair?.[0] === offer.pair[0] && this.pair?.[1] === offer.pair[1];
    const act = () => {
      this.pair = offer.pair;
      this.show();
    };
    return button({ "aria-pressed": String(pressed), "data-key": offer.pair.join("\n") }, act, canvas, document.createTextNode(offer.pair.filter(Boolean).join(" × ")));
  }
}
