/**
 * The drawer: everything that stories do not need. Learner and options, data, code, files, the
 * table of updates, keys. It does not trap the focus: Escape or its button closes it.
 */

import { button, byId, icon, make } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */

/**
 * @typedef {object} Section
 * @property {string} id
 * @property {string} name
 * @property {() => Node[]} build     its content, made when it is opened or has changed
 * @property {() => string} key       identifies the content
 */

export class Drawer {
  /**
   * @param {Store} store
   * @param {Section[]} sections
   */
  constructor(store, sections) {
    this.store = store;
    this.sections = sections;
    this.element = byId("drawer");
    this.menu = byId("menu");
    /** @type {Map<string, {details: HTMLDetailsElement, body: HTMLElement, shown: string|null}>} */
    this.bodies = new Map();
    /** @type {Element|null} */
    this.before = null;
    const close = button({ class: "square", "aria-label": "Close", title: "Close (Escape)" }, () => this.close(), icon("i-erase"));
    this.element.append(make("header", {}, make("h2", { text: "Workbench" }), close));
    for (const section of sections) this.element.append(this.build(section));
    this.menu.addEventListener("click", () => (this.isOpen ? this.close() : this.open("learner")));
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.close();
    });
  }

  /**
   * @param {Section} section
   * @returns {HTMLElement}
   */
  build(section) {
    const body = make("div"), details = make("details", {}, make("summary", { text: section.name }), body);
    this.bodies.set(section.id, { details, body, shown: null });
    details.addEventListener("toggle", () => this.update());
    return details;
  }

  get isOpen() {
    return !this.element.hidden;
  }

  /**
   * Open the drawer at one section.
   * @param {string} id
   */
  open(id) {
    if (!this.isOpen) this.before = document.activeElement;
    this.element.hidden = false;
    this.menu.setAttribute("aria-expanded", "true");
    for (const [name, { details }] of this.bodies) details.open = name === id;
    this.update();
    const summary = this.bodies.get(id)?.details.querySelector("summary");
    summary?.focus({ preventScroll: true });
    summary?.scrollIntoView({ block: "nearest" });
  }

  close() {
    if (!this.isOpen) return;
    this.element.hidden = true;
    this.menu.setAttribute("aria-expanded", "false");
    if (this.before instanceof HTMLElement && this.before.isConnected) this.before.focus();
    else this.menu.focus();
  }

  /** Rebuild the open sections whose key has changed. */
  update() {
    if (!this.isOpen) return;
    for (const section of this.sections) {
      const entry = this.bodies.get(section.id);
      if (!entry || !entry.details.open) continue;
      const key = section.key();
      if (key === entry.shown) continue;
      entry.shown = key;
      const focused = entry.body.contains(document.activeElement) ? document.activeElement?.getAttribute("data-key") : null;
      entry.body.replaceChildren(...section.build());
      if (focused) /** @type {HTMLElement|null} */ (entry.body.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
    }
  }

  /** Rebuild every section when it is next shown. */
  forget() {
    for (const entry of this.bodies.values()) entry.shown = null;
  }
}
