/**
 * Evidence beside the stage: the figures of the moment, drawn and worded.
 */

import { byId } from "./dom.js";
import { BoundFigure } from "./bound_figure.js";
import { KernelFigure, LiftedFigure, LikelihoodFigure, LossFigure, StatusFigure } from "./chart_figures.js";
import { CompareFigure, LabellingsFigure, OrdersFigure } from "./count_figures.js";
import { figuresFor } from "./figures.js";
import { WeightFigure } from "./weight_figure.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("./figure.js").Figure} Figure */
/** @typedef {import("./figure.js").Seen} Seen */
/** @typedef {import("./figures.js").FigureId} FigureId */
/** @typedef {import("./pane.js").Pane} Pane */
/** @typedef {import("../views/palette.js").Palette} Palette */

export class Evidence {
  /**
   * @param {Store} store
   * @param {Actions} actions
   */
  constructor(store, actions) {
    this.store = store;
    this.actions = actions;
    this.box = byId("evidence");
    /** @type {Map<FigureId, Figure>} */
    this.figures = new Map();
    /** @type {Seen|null} */
    this.seen = null;
  }

  /**
   * @param {FigureId} id
   * @returns {Figure}
   */
  make(id) {
    const { store, actions } = this;
    switch (id) {
      case "bound": return new BoundFigure(store, actions);
      case "weights": return new WeightFigure(store, actions);
      case "losses": return new LossFigure(store, actions);
      case "likelihood": return new LikelihoodFigure(store, actions);
      case "lifted": return new LiftedFigure(store, actions);
      case "orders": return new OrdersFigure(store, actions);
      case "labellings": return new LabellingsFigure(store, actions);
      case "kernel": return new KernelFigure(store, actions);
      case "compare": return new CompareFigure(store, actions);
      default: return new StatusFigure(store, actions);
    }
  }

  /** Show the figures that are needed, in their order. */
  arrange() {
    const wanted = figuresFor(this.store), present = [...this.figures.keys()];
    if (wanted.length === present.length && wanted.every((id, k) => id === present[k])) return;
    const kept = this.figures;
    this.figures = new Map(wanted.map((id) => [id, kept.get(id) ?? this.make(id)]));
    for (const [id, figure] of kept) if (!this.figures.has(id)) figure.close();
    for (const figure of this.figures.values()) this.box.append(figure.element);
  }

  /** Process the pointer's events since the last frame. */
  takeInput() {
    for (const figure of this.figures.values()) if (figure instanceof WeightFigure) figure.takeInput();
  }

  /**
   * @param {Pane|undefined} pane the pane whose evidence is shown
   * @param {number} milliseconds
   * @param {boolean} calm
   * @returns {boolean}
   */
  follow(pane, milliseconds, calm) {
    const { run, state, length } = this.store;
    if (!run || !pane?.moment || !pane.model) return false;
    this.arrange();
    const tick = Math.min(state.tick, run.trace.length);
    this.seen = { run, moment: pane.moment, model: pane.model, w: pane.w, wrong: pane.wrong, tick, resting: !state.playing && (state.tick <= 0 || state.tick >= length) };
    let moving = false;
    for (const figure of this.figures.values()) if (figure.follow(this.seen, milliseconds, calm)) moving = true;
    return moving;
  }

  /** @param {Palette} palette */
  draw(palette) {
    if (this.seen) for (const figure of this.figures.values()) figure.draw(palette, this.seen);
  }

  update() {
    if (this.seen) for (const figure of this.figures.values()) figure.update(this.seen);
  }
}
