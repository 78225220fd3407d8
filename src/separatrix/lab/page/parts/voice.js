/**
 * Messages besides the sentences: toasts, and a live region that announces verdicts.
 */

import { plain } from "../words/markup.js";
import { byId } from "./dom.js";

const QUIET = 350; // milliseconds without change before a verdict is spoken
const SHOWN = 4000;

export class Voice {
  constructor() {
    this.live = byId("live");
    this.box = byId("toast");
    this.last = "";
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.waiting = undefined;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.hiding = undefined;
  }

  /**
   * Speak a sentence once it has stood for a moment.
   * @param {string} text marked up
   */
  speak(text) {
    if (text === this.last) return;
    this.last = text;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.live.textContent = plain(text);
    }, QUIET);
  }

  /** Hide a message that no longer applies. */
  hush() {
    clearTimeout(this.hiding);
    this.box.classList.remove("on");
    this.box.textContent = "";
  }

  /**
   * Show a short message.
   * @param {string} text plain
   */
  toast(text) {
    this.box.textContent = text;
    this.box.classList.add("on");
    clearTimeout(this.hiding);
    this.hiding = setTimeout(() => this.box.classList.remove("on"), SHOWN);
  }
}
