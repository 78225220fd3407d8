/**
 * The main figure: the bound as a sentence, a chart, an inequality in numbers, and the meaning of R and γ.
 */

import { boundCamera, boundFrame, drawBound } from "../views/bound.js";
import { GLIDE, Glide } from "../views/motion.js";
import { num } from "../words/number.js";
import { boundWords, corridorAt, heroWords } from "../words/sentence.js";
import { button, make, say, shapePiece } from "./dom.js";
import { Figure } from "./figure.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("../core/types.js").Piece} Piece */
/** @typedef {import("./figure.js").Seen} Seen */
/** @typedef {import("../views/palette.js").Palette} Palette */
/** @typedef {import("../views/pen.js").Pen} Pen */
/** @typedef {import("../views/sheet.js").Size} Size */

export class BoundFigure extends Figure {
  /**
   * @param {Store} store
   * @param {Actions} actions
   */
  constructor(store, actions) {
    super(store, actions, { hero: true });
    /** @type {Glide<"t"|"y">} */
    this.glide = new Glide({ t: 0, y: 0 });
    this.low = make("b");
    this.middle = make("b");
    this.high = make("b");
    this.reads = make("p");
    this.element.append(
      make("div", { class: "inequality" },
        make("div", { class: "side" }, make("small", { text: "t²γ²" }), this.low), make("span", { class: "le", text: "≤" }),
        make("div", {}, make("small", { text: "‖w‖²" }), this.middle), make("span", { class: "le", text: "≤" }),
        make("div", { class: "side" }, make("small", { text: "tR²" }), this.high)),
      this.reads,
    );
    const canvas = this.sheet?.canvas;
    canvas?.addEventListener("click", (event) => this.seekUnder(event));
  }

  /**
   * A click on the chart goes to that mistake.
   * @param {MouseEvent} event
   */
  seekUnder(event) {
    const { run } = this.store;
    if (!this.sheet || !run || !run.trace.byRow) return;
    const t = Math.round(boundCamera(this.sheet, this.glide.now).dataX(this.sheet.locate(event)[0]));
    if (t <= 0) this.actions.seek(0);
    else if (t <= run.trace.updates) this.actions.seek(run.trace.updateTick[t - 1]);
  }

  /**
   * @param {Seen} seen
   * @param {number} milliseconds
   * @param {boolean} calm
   * @returns {boolean}
   */
  follow(seen, milliseconds, calm) {
    this.glide.aim(boundFrame(seen.run, seen.moment, seen.resting));
    return this.glide.step(milliseconds, calm || this.glide.now.t === 0 ? 0 : GLIDE);
  }

  /** @param {Seen} seen */
  words(seen) {
    if (this.store.hushed && !seen.run.bound.exists) return "[#0] mistakes so far. Is there a limit?";
    return heroWords(seen.run, seen.tick);
  }

  /**
   * @param {Pen} pen
   * @param {Palette} palette
   * @param {Size} size
   * @param {Seen} seen
   */
  paint(pen, palette, size, seen) {
    const { state } = this.store, choice = state.story?.question.choices.find((each) => each.id === state.guess);
    let squared = 0;
    for (const value of seen.w) squared += value * value;
    const guess = choice?.range && state.story?.evidence === "bound" && state.chapter < 2 ? choice.range : null;
    const whole = Math.floor(seen.moment.updates + 1e-9);
    if (seen.moment.share === 0 && seen.run.learner.keep !== "last") squared = seen.run.trace.squaredNorm[whole];
    drawBound(pen, palette, size, { run: seen.run, moment: seen.moment, squared, frame: this.glide.now, guess });
  }

  /** @param {Seen} seen */
  update(seen) {
    super.update(seen);
    const { run, tick } = seen, { bound } = run, corridor = corridorAt(run, tick);
    const names = this.element.querySelectorAll(".inequality small");
    const plainLaw = bound.textbook || !bound.exists;
    names[0].textContent = plainLaw ? "t²γ²" : "at least";
    names[2].textContent = plainLaw && bound.rate === 1 ? "tR²" : "at most";
    say(this.low, bound.exists ? num(corridor.floor) : "—");
    say(this.middle, num(corridor.square));
    say(this.high, num(corridor.ceiling));
    const secret = this.store.hushed && !bound.exists;
    say(this.reads, secret ? "‖*w*‖² grows by at most *R*² with every mistake." : boundWords(run), (piece) => this.token(piece));
  }

  /**
   * R and γ in the text highlight their lengths on the stage.
   * @param {Piece} piece
   * @returns {Node}
   */
  token(piece) {
    const letter = piece.text.trim()[0], lit = letter === "R" ? "R" : letter === "γ" ? "gamma" : null;
    if (piece.role !== "proof" || !lit) return shapePiece(piece);
    const node = button({ class: "token", text: piece.text }, () => this.store.set({ lit: this.store.state.lit === lit ? null : lit }));
    node.addEventListener("pointerenter", () => this.store.set({ lit }));
    node.addEventListener("pointerleave", () => this.store.set({ lit: null }));
    node.addEventListener("focus", () => this.store.set({ lit }));
    node.addEventListener("blur", () => this.store.set({ lit: null }));
    return node;
  }
}
