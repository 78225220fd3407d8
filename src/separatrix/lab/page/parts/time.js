/**
 * Time under the stage: play, the strip of visits, steps, speed.
 */

import { corridorAt } from "../words/sentence.js";
import { counted, num } from "../words/number.js";
import { drawStrip, stripWords, tickAt } from "../views/strip.js";
import { Sheet } from "../views/sheet.js";
import { byId, put, say } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("../views/palette.js").Palette} Palette */

const NARROW = 760;

export class TimeBar {
  /**
   * @param {Store} store
   * @param {Actions} actions
   */
  constructor(store, actions) {
    this.store = store;
    this.actions = actions;
    this.strip = byId("strip");
    this.play = byId("play");
    this.glyph = byId("play-glyph");
    this.speed = byId("speed");
    this.sheet = new Sheet(/** @type {HTMLCanvasElement} */ (byId("strip-canvas")), store.request);
    this.play.addEventListener("click", () => actions.toggle());
    byId("back").addEventListener("click", () => actions.step("mistake", -1));
    byId("next").addEventListener("click", () => actions.step("mistake", 1));
    this.speed.addEventListener("click", () => actions.faster());
    this.listen();
  }

  listen() {
    let scrubbing = false;
    /** @param {PointerEvent} event */
    const seek = (event) => this.actions.seek(this.tickUnder(event));
    this.strip.addEventListener("pointerdown", (event) => {
      scrubbing = true;
      this.strip.setPointerCapture(event.pointerId);
      seek(event);
    });
    this.strip.addEventListener("pointermove", (event) => scrubbing && seek(event));
    this.strip.addEventListener("pointerup", () => (scrubbing = false));
    this.strip.addEventListener("pointercancel", () => (scrubbing = false));
  }

  /**
   * The nearest whole tick under a pointer.
   * @param {PointerEvent} event
   * @returns {number}
   */
  tickUnder(event) {
    const [x] = this.sheet.locate(event);
    return Math.round(tickAt(this.sheet, this.store.length, x));
  }

  /** @param {Palette} palette */
  draw(palette) {
    const { run, state, length } = this.store;
    if (!run || !this.sheet.visible) return;
    const right = globalThis.innerWidth <= NARROW ? shortWords(run, state.tick) : "";
    drawStrip(this.sheet.begin(), palette, this.sheet, { run, tick: state.tick, length, right });
  }

  update() {
    const { run, state, length } = this.store;
    if (!run) return;
    const ended = state.tick >= length && length > 0 && !state.playing;
    put(this.glyph, "href", state.playing ? "#i-pause" : ended ? "#i-again" : "#i-play");
    put(this.play, "aria-label", state.playing ? "Pause" : ended ? "Play again" : "Play");
    this.play.classList.toggle("beckons", !state.played && !state.playing);
    put(this.strip, "aria-valuemax", length);
    put(this.strip, "aria-valuenow", Math.floor(state.tick + 1e-9));
    put(this.strip, "aria-valuetext", stripWords(run.trace, state.tick, length));
    say(this.speed, `${num(state.speed)}×`);
    put(this.speed, "aria-label", `Speed: ${num(state.speed)} times`);
    const unit = run.trace.byRow ? "mistake" : "step";
    put(byId("back"), "aria-label", `Previous ${unit}`);
    put(byId("next"), "aria-label", `Next ${unit}`);
  }
}

/**
 * Mistakes and their bound in a few words.
 * @param {import("../core/types.js").Derivation} run
 * @param {number} tick
 * @returns {string}
 */
function shortWords(run, tick) {
  if (run.learner.kind !== "perceptron") return "";
  const made = counted(corridorAt(run, tick).t, "mistake");
  return run.bound.exists && Number.isFinite(run.bound.most) ? `${made}, at most ${num(run.bound.most)}` : made;
}
