/**
 * The other charts of evidence: losses, likelihood, lifted space, and the points that a kernel remembers.
 */

import { alphaAt, modelAt, versionAt, wrongRows } from "../core/derive.js";
import { drawLifted, turns } from "../views/lifted.js";
import { drawLikelihood, likelihoodReach } from "../views/likelihood.js";
import { drawLosses } from "../views/losses.js";
import { GLIDE, Glide } from "../views/motion.js";
import { drawMemory, drawObjective } from "../views/tally.js";
import { heroWords, lossWords, verdictWords } from "../words/sentence.js";
import { Figure } from "./figure.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("./figure.js").Seen} Seen */
/** @typedef {import("../views/palette.js").Palette} Palette */
/** @typedef {import("../views/pen.js").Pen} Pen */
/** @typedef {import("../views/sheet.js").Size} Size */

export class LossFigure extends Figure {
  /** @param {Seen} seen */
  words(seen) {
    const said = lossWords(seen.run, seen.tick);
    return said.charAt(0).toUpperCase() + said.slice(1);
  }

  /** @param {Pen} pen @param {Palette} palette @param {Size} size @param {Seen} seen */
  paint(pen, palette, size, seen) {
    const { state } = this.store;
    drawLosses(pen, palette, size, { run: seen.run, model: seen.model, lit: state.held >= 0 ? state.held : state.hover });
  }
}

export class LikelihoodFigure extends Figure {
  /** @param {Store} store @param {Actions} actions */
  constructor(store, actions) {
    super(store, actions, { hero: true });
    /** @type {Glide<"reach">} */
    this.glide = new Glide({ reach: 0 });
  }

  /** @param {Seen} seen @param {number} milliseconds @param {boolean} calm */
  follow(seen, milliseconds, calm) {
    this.glide.aim({ reach: likelihoodReach(seen.w) });
    return this.glide.step(milliseconds, calm || this.glide.now.reach === 0 ? 0 : GLIDE);
  }

  /** @param {Seen} seen */
  words(seen) {
    if (this.store.hushed) return "The loss along *w*: where is it lowest?";
    return heroWords(seen.run, seen.tick);
  }

  /** @param {Pen} pen @param {Palette} palette @param {Size} size @param {Seen} seen */
  paint(pen, palette, size, seen) {
    drawLikelihood(pen, palette, size, { run: seen.run, moment: seen.moment, w: seen.w, reach: this.glide.now.reach, secret: this.store.hushed });
  }
}

export class LiftedFigure extends Figure {
  /** @param {Store} store @param {Actions} actions */
  constructor(store, actions) {
    super(store, actions, { boxed: true });
    this.yaw = 0.6;
    this.pitch = 0.42;
    if (this.sheet) this.listen(this.sheet.canvas);
  }

  /** @param {HTMLCanvasElement} canvas */
  listen(canvas) {
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-roledescription", "figure that arrow keys turn");
    /** @type {[number, number]|null} */
    let from = null;
    canvas.addEventListener("pointerdown", (event) => {
      from = [event.clientX, event.clientY];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      this.turn((event.clientX - from[0]) / 120, (event.clientY - from[1]) / 160);
      from = [event.clientX, event.clientY];
    });
    canvas.addEventListener("pointerup", () => (from = null));
    canvas.addEventListener("pointercancel", () => (from = null));
    canvas.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
      if (!by || event.shiftKey || !this.store.run || (this.store.run.learner.lift !== "none" && !turns(this.store.run))) return;
      event.preventDefault();
      event.stopPropagation();
      this.turn(by[0], by[1]);
    });
  }

  /** @param {number} yaw @param {number} pitch */
  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.max(0.08, Math.min(1.4, this.pitch + pitch));
    this.store.request();
  }

  /**
   * The run whose lift is shown: the present one, or the one beside it.
   * @param {Seen} seen
   * @returns {Seen}
   */
  lifted(seen) {
    if (seen.run.learner.lift !== "none") return seen;
    const run = this.store.runs.find((other) => other.learner.lift !== "none" && other.learner.kind !== "kernel");
    if (!run) return seen;
    const tick = Math.min(this.store.state.tick, run.trace.length), model = modelAt(run, tick), wrong = new Uint8Array(run.points.n);
    if (!model.w.every((value) => value === 0)) wrongRows(run, model, wrong);
    return { ...seen, run, model, w: model.w, wrong, tick };
  }

  /** @param {Seen} seen */
  words(seen) {
    const { title } = verdictWords(this.lifted(seen).run, this.store.state.labels);
    return /[.!?]$/.test(title) ? title : `${title}.`;
  }

  /** @param {Pen} pen @param {Palette} palette @param {Size} size @param {Seen} seen */
  paint(pen, palette, size, seen) {
    const { run, model, wrong } = this.lifted(seen);
    drawLifted(pen, palette, size, { run, model, wrong, yaw: this.yaw, pitch: this.pitch, proof: this.store.state.proof });
  }
}

export class KernelFigure extends Figure {
  /** @param {Store} store @param {Actions} actions */
  constructor(store, actions) {
    super(store, actions, { hero: true });
  }

  /** @param {Seen} seen */
  words(seen) {
    return heroWords(seen.run, seen.tick);
  }

  /** @param {Pen} pen @param {Palette} palette @param {Size} size @param {Seen} seen */
  paint(pen, palette, size, seen) {
    const { state } = this.store, alpha = alphaAt(seen.run.trace, versionAt(seen.run.trace, seen.tick));
    drawMemory(pen, palette, size, seen.run.points, alpha, state.held >= 0 ? state.held : state.hover);
  }
}

export class StatusFigure extends Figure {
  /** @param {Store} store @param {Actions} actions */
  constructor(store, actions) {
    super(store, actions, { hero: true });
  }

  /** @param {Seen} seen */
  words(seen) {
    return heroWords(seen.run, seen.tick);
  }

  /** @param {Pen} pen @param {Palette} palette @param {Size} size @param {Seen} seen */
  paint(pen, palette, size, seen) {
    drawObjective(pen, palette, size, seen.run.trace, seen.tick);
  }
}
