/**
 * Weight space beside the stage; its start can be dragged, and the whole path re-runs.
 */

import { weightsAt } from "../core/derive.js";
import { snap } from "../core/points.js";
import { GLIDE, Glide } from "../views/motion.js";
import { drawWeightSpace, startPixel, weightAxes, weightCamera, weightReach } from "../views/weights.js";
import { weightWords } from "../words/sentence.js";
import { Figure } from "./figure.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("./figure.js").Seen} Seen */
/** @typedef {import("../views/palette.js").Palette} Palette */
/** @typedef {import("../views/pen.js").Pen} Pen */
/** @typedef {import("../views/sheet.js").Size} Size */
/** @typedef {import("../views/weights.js").WeightScene} WeightScene */

const GRASP = 24;

export class WeightFigure extends Figure {
  /**
   * @param {Store} store
   * @param {Actions} actions
   */
  constructor(store, actions) {
    super(store, actions, { boxed: true });
    /** @type {Glide<"reach">} */
    this.glide = new Glide({ reach: 0 });
    /** @type {[number, number]|null} */
    this.pending = null;
    this.holding = false;
    /** @type {WeightScene|null} */
    this.scene = null;
    if (this.sheet) this.listen(this.sheet.canvas);
  }

  /** @param {HTMLCanvasElement} canvas */
  listen(canvas) {
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-roledescription", "interactive figure; arrow keys move the start");
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.grasps(event)) return;
      this.holding = true;
      canvas.setPointerCapture(event.pointerId);
      this.store.begin();
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.sheet) return;
      if (this.holding) {
        this.pending = this.sheet.locate(event);
        this.store.request();
      } else canvas.style.cursor = this.grasps(event) ? "grab" : "default";
    });
    const drop = () => {
      if (!this.holding) return;
      this.takeInput();
      this.holding = false;
      this.store.commit();
    };
    canvas.addEventListener("pointerup", drop);
    canvas.addEventListener("pointercancel", drop);
    canvas.addEventListener("touchstart", (event) => event.cancelable && this.grasps(event.touches[0]) && event.preventDefault(), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * @param {{clientX: number, clientY: number}} event
   * @returns {boolean}
   */
  grasps(event) {
    const start = this.sheet && this.scene ? startPixel(this.sheet, this.scene) : null;
    if (!start || !this.sheet) return false;
    const [x, y] = this.sheet.locate(event);
    return Math.hypot(x - start[0], y - start[1]) < GRASP;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowLeft: [-0.5, 0], ArrowRight: [0.5, 0], ArrowUp: [0, 0.5], ArrowDown: [0, -0.5] }[event.key];
    const { run } = this.store;
    if (!step || event.shiftKey || event.ctrlKey || !this.scene?.startable || !run) return;
    const axes = weightAxes(run);
    if (!axes) return;
    event.preventDefault();
    event.stopPropagation();
    const start = Array.from(weightsAt(run.trace, 0));
    start[axes.across] = snap(start[axes.across] + step[0]);
    start[axes.up] = snap(start[axes.up] + step[1]);
    this.actions.setStart(this.store.state.pane, start);
  }

  /** The start follows the finger. */
  takeInput() {
    const at = this.pending, { run } = this.store;
    this.pending = null;
    if (!at || !this.sheet || !run) return;
    const axes = weightAxes(run);
    if (!axes) return;
    const camera = weightCamera(this.sheet, this.glide.now.reach), start = Array.from(weightsAt(run.trace, 0));
    start[axes.across] = snap(camera.dataX(at[0]));
    start[axes.up] = snap(camera.dataY(at[1]));
    this.actions.setStart(this.store.state.pane, start);
  }

  /**
   * @param {Seen} seen
   * @param {number} milliseconds
   * @param {boolean} calm
   * @returns {boolean}
   */
  follow(seen, milliseconds, calm) {
    if (!this.holding) this.glide.aim({ reach: weightReach(seen.run, seen.moment) });
    const moving = this.glide.step(milliseconds, calm || this.glide.now.reach === 0 ? 0 : GLIDE);
    const { state } = this.store, { run } = seen;
    const startable = run.learner.kind === "perceptron" || run.learner.kind === "lms" || run.learner.kind === "logistic";
    this.scene = { run, moment: seen.moment, w: seen.w, reach: this.glide.now.reach, lit: state.held >= 0 ? state.held : state.hover, region: seen.moment.updates > 0.5 || (state.proof && !this.store.hushed), startable };
    return moving;
  }

  /** @param {Seen} seen */
  words(seen) {
    if (this.store.hushed) return "Weight space: each point is a line here. On which side of each must *w* end?";
    return weightWords(seen.run, seen.tick);
  }

  /**
   * @param {Pen} pen
   * @param {Palette} palette
   * @param {Size} size
   * @param {Seen} seen
   */
  paint(pen, palette, size, seen) {
    if (this.scene && seen) drawWeightSpace(pen, palette, size, this.scene);
  }
}
