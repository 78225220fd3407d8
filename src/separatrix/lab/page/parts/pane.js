/**
 * One pane of the stage: a canvas with one learner's view of the points, its head, and the
 * values that are eased from frame to frame.
 */

import { blend, modelAt, wrongRows } from "../core/derive.js";
import { LEARNERS } from "../core/learners.js";
import { momentAt } from "../state/clock.js";
import { MAX_PANES } from "../state/store.js";
import { approachVector, TURN } from "../views/motion.js";
import { drawPlane, planeCamera } from "../views/plane.js";
import { drawManyMarks } from "../views/rows.js";
import { Sheet } from "../views/sheet.js";
import { figureLabel, singledOut } from "../words/sentence.js";
import { plain } from "../words/markup.js";
import { counted } from "../words/number.js";
import { button, icon, make, put } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("../state/clock.js").Moment} Moment */
/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Kind} Kind */
/** @typedef {import("../core/types.js").Model} Model */
/** @typedef {import("../core/types.js").Points} Points */
/** @typedef {import("../views/palette.js").Palette} Palette */
/** @typedef {import("../views/rows.js").PlaneScene} PlaneScene */
/** @typedef {import("../views/sheet.js").Box} Box */

const BITMAP_FROM = 400;
const FEW = 400; // points up to which the fewest mistakes can be found

export class Pane {
  /**
   * @param {Store} store
   * @param {Actions} actions
   * @param {number} index
   * @param {(pane: number) => void} openOptions
   */
  constructor(store, actions, index, openOptions) {
    this.store = store;
    this.actions = actions;
    this.index = index;
    this.canvas = make("canvas", { id: `plane-${index}`, tabindex: 0, role: "application", "aria-roledescription": "interactive figure" });
    this.element = make("div", { class: "pane" }, this.canvas);
    this.sheet = new Sheet(this.canvas, store.request);
    this.head = this.makeHead(openOptions);
    this.tally = make("span", { class: "tally" });
    /** @type {Float64Array} */
    this.w = new Float64Array(0);
    /** @type {Float64Array} */
    this.target = new Float64Array(0);
    this.wrong = new Uint8Array(0);
    this.wrongCount = 0;
    /** @type {Moment|null} */
    this.moment = null;
    /** @type {Model|null} */
    this.model = null;
    /** @type {{key: unknown[], image: HTMLCanvasElement}|null} */
    this.bitmap = null;
  }

  /**
   * Choice of learner, options, remove, add.
   * @param {(pane: number) => void} openOptions
   * @returns {HTMLElement[]}
   */
  makeHead(openOptions) {
    const { index, actions } = this;
    this.select = make("select", { "aria-label": `Learner ${index + 1}`, title: "Choose the learner" }, ...LEARNERS.map(({ kind, name }) => make("option", { value: kind, text: name })));
    const { select } = this;
    select.addEventListener("change", () => actions.setKind(index, /** @type {Kind} */ (select.value)));
    const options = button({ class: "square", title: "Options of this learner", "aria-label": "Options of this learner" }, () => openOptions(index), icon("i-tune"));
    this.remove = button({ class: "square", title: "Remove this learner", "aria-label": "Remove this learner" }, () => actions.removePane(index), icon("i-erase"));
    this.add = button({ class: "square", title: "Add a learner beside it", "aria-label": "Add a learner beside it" }, () => actions.addPane(this.another()), icon("i-add"));
    return [select, options, this.remove, this.add];
  }

  /**
   * A learner that is not on stage yet.
   * @returns {Kind}
   */
  another() {
    const present = new Set(this.store.state.learners.map((learner) => learner.kind));
    /** @type {Kind[]} */
    const wanted = ["lms", "logistic", "svm", "zero-one", "perceptron"];
    const few = this.store.state.points.n <= FEW;
    return wanted.find((kind) => !present.has(kind) && (few || kind !== "zero-one")) ?? "perceptron";
  }

  /** @returns {Derivation|undefined} */
  get run() {
    return this.store.runs[this.index];
  }

  /**
   * Follow the clock and the run.
   * @param {number} milliseconds
   * @param {boolean} jump whether weights move at once
   * @param {boolean} calm whether ticks are shown whole
   * @returns {boolean} whether they still move
   */
  follow(milliseconds, jump, calm) {
    const { run, store } = this;
    if (!run) return false;
    const moment = momentAt(run.trace, calm ? Math.floor(store.state.tick + 1e-9) : store.state.tick);
    this.moment = moment;
    const model = modelAt(run, Math.min(moment.done, run.trace.length));
    this.target = moment.share > 0 && run.trace.p ? blend(run.trace, moment.blended) : model.w;
    if (this.w.length !== this.target.length) this.w = Float64Array.from(this.target);
    const moving = approachVector(this.w, this.target, milliseconds, jump ? 0 : TURN);
    this.model = model.shape === "line" || model.shape === "lifted" || model.shape === "softmax" ? { ...model, w: this.w } : model;
    this.judge(run, { ...model, w: this.target });
    return moving;
  }

  /**
   * Which rows are wrong now; none before there is a line.
   * @param {Derivation} run
   * @param {Model} model
   */
  judge(run, model) {
    if (this.wrong.length < run.points.n) this.wrong = new Uint8Array(Math.max(64, 2 * run.points.n));
    const blank = (model.shape === "kernel" ? model.alpha : model.w)?.every((value) => value === 0);
    if (blank) this.wrong.fill(0);
    this.wrongCount = blank ? 0 : wrongRows(run, model, this.wrong);
    this.blank = Boolean(blank);
  }

  /**
   * @param {Palette} palette
   * @param {{box: Box, proof: number, radius: number, compact: boolean, room: boolean, hint: string}} look
   */
  draw(palette, look) {
    if (!this.sheet.visible) return;
    const scene = this.scene(palette, look);
    if (!scene) return;
    drawPlane(this.sheet.begin(), palette, this.sheet, scene);
    const camera = planeCamera(this.sheet, look.box, look.compact, look.room);
    put(this.canvas, "data-origin", `${camera.x(0).toFixed(2)} ${camera.y(0).toFixed(2)} ${camera.unitX.toFixed(4)}`);
  }

  /**
   * The scene to draw, also for exports.
   * @param {Palette} palette
   * @param {{box: Box, proof: number, radius: number, compact: boolean, room: boolean, hint: string}} look
   * @returns {PlaneScene|null}
   */
  scene(palette, look) {
    const { run, model, moment, store } = this, { state } = store;
    if (!run || !model || !moment) return null;
    const inside = state.tick > 0 && state.tick < run.trace.length;
    return {
      ...look, run, model, moment, wrong: this.wrong, hover: state.hover, selected: state.selected, held: state.held,
      scanning: run.trace.byRow && (state.playing || inside) && moment.row >= 0, names: state.names,
      bitmap: run.points.n > BITMAP_FROM ? this.marks(palette, look) : null,
    };
  }

  /**
   * The marks of many points as one picture, redrawn only when they change.
   * @param {Palette} palette
   * @param {{box: Box, compact: boolean, room: boolean}} look
   * @returns {{image: HTMLCanvasElement, skip: number}}
   */
  marks(palette, look) {
    const { points, grabbed, held } = this.store.state, { width, height, ratio } = this.sheet;
    const { x0, x1, y0, y1 } = look.box;
    const key = [grabbed ?? points, held, width, height, ratio, palette, x0, x1, y0, y1, look.compact, look.room];
    if (this.bitmap && key.every((value, k) => value === this.bitmap?.key[k])) return { image: this.bitmap.image, skip: held };
    const image = this.bitmap?.image ?? document.createElement("canvas");
    image.width = Math.max(1, Math.round(width * ratio));
    image.height = Math.max(1, Math.round(height * ratio));
    const pen = image.getContext("2d");
    if (pen) {
      pen.scale(ratio, ratio);
      drawManyMarks(pen, palette, planeCamera(this.sheet, look.box, look.compact, look.room), grabbed ?? points, held);
    }
    this.bitmap = { key, image };
    return { image, skip: held };
  }

  update() {
    const { run, store } = this, { state } = store;
    if (!run) return;
    if (this.select && this.select.value !== run.learner.kind) this.select.value = run.learner.kind;
    if (this.remove) this.remove.hidden = state.learners.length < 2;
    if (this.add) this.add.hidden = state.learners.length >= MAX_PANES || this.index !== state.learners.length - 1;
    put(this.canvas, "aria-label", this.describe(run));
    const one = run.learner.kind === "softmax" ? "" : plain(singledOut(run.points, state.labels)), count = this.blank ? "" : this.wrongCount ? `${counted(this.wrongCount, "point")} wrong` : "all right";
    const words = [one ? `${one} against the rest` : "", count].filter(Boolean).join(": ");
    if (this.tally.textContent !== words) this.tally.textContent = words;
  }

  /**
   * @param {Derivation} run
   * @returns {string}
   */
  describe(run) {
    const { state } = this.store, row = state.selected;
    const chosen = row >= 0 && row < run.points.n ? ` Selected: ${run.points.label[row] === 1 ? "blue" : run.points.label[row] === 2 ? "green" : "orange"} ${row + 1} at ${run.points.x1[row]}, ${run.points.x2[row]}.` : "";
    return figureLabel(run, Math.min(state.tick, run.trace.length), state.labels) + chosen;
  }

  close() {
    this.sheet.close();
    this.element.remove();
  }
}
