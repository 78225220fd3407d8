/**
 * The stage: one to four panes with the same points, axes and clock, and the hand on them.
 */

import { makePoints } from "../core/points.js";
import { GLIDE, Glide } from "../views/motion.js";
import { boxAround, planeCamera } from "../views/plane.js";
import { markRadius } from "../views/marks.js";
import { pointWords } from "../words/sentence.js";
import { byId, put, say } from "./dom.js";
import { Pane } from "./pane.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("../views/palette.js").Palette} Palette */
/** @typedef {import("../views/sheet.js").Box} Box */
/** @typedef {import("../core/types.js").Points} Points */

const NARROW = 760;
const SPRAY = 30; // pixels between painted points
/** @type {Record<string, number>} */
const PAINTS = { plus: 1, minus: -1, third: 2 };

export class Stage {
  /**
   * @param {Store} store
   * @param {Actions} actions
   * @param {(pane: number) => void} openOptions
   */
  constructor(store, actions, openOptions) {
    this.store = store;
    this.actions = actions;
    this.openOptions = openOptions;
    this.box = byId("panes");
    this.tip = byId("tip");
    /** @type {Pane[]} */
    this.panes = [];
    /** @type {Glide<"x0"|"x1"|"y0"|"y1"|"proof"|"radius">} */
    this.glide = new Glide({ x0: -5, x1: 5, y0: -5, y1: 5, proof: 0, radius: 0 });
    /** @type {{pane: Pane, x: number, y: number}|null} */
    this.pending = null;
    /** @type {[number, number]|null} */
    this.painted = null;
    /** @type {Points|null} */
    this.fitted = null;
    this.fittedId = "";
    this.palette = /** @type {Palette|null} */ (null);
    /** @type {[number, number]} */
    this.tipAt = [0, 0];
  }

  // ---- panes ----

  /** As many panes as learners. */
  arrange() {
    const count = this.store.state.learners.length;
    if (this.panes.length === count) return;
    while (this.panes.length > count) this.panes.pop()?.close();
    while (this.panes.length < count) {
      const pane = new Pane(this.store, this.actions, this.panes.length, this.openOptions);
      this.panes.push(pane);
      this.box.append(pane.element);
      this.listen(pane);
    }
    put(this.box, "data-count", count);
    put(byId("stage"), "data-panes", count > 1 ? "many" : "one");
    const top = byId("panehead-0");
    top.replaceChildren(...(count === 1 ? this.panes[0].head : []));
    for (const pane of this.panes) {
      pane.element.querySelector(".panehead")?.remove();
      if (count > 1) {
        const head = document.createElement("div");
        head.className = "panehead";
        head.append(...pane.head);
        pane.element.append(head, pane.tally);
      } else pane.tally.remove();
    }
  }

  get compact() {
    return this.panes.length > 1;
  }

  get room() {
    return this.panes.length === 1 && globalThis.innerWidth > NARROW;
  }

  /** @returns {Box} */
  get camera() {
    const { x0, x1, y0, y1 } = this.glide.now;
    return { x0, x1, y0, y1 };
  }

  /** Frame the points when they are new, or when one has been dragged outside. */
  frame() {
    const { state } = this.store, id = `${state.story?.id ?? state.tableId}`;
    if (this.fitted === state.points && this.fittedId === id) return;
    if (state.held >= 0 || this.painted) return;
    const fresh = this.fittedId !== id, want = fresh ? this.wholeBox() : boxAround(state.points), { goal } = this.glide;
    const outside = want.x0 < goal.x0 - 0.12 * (goal.x1 - goal.x0) || want.x1 > goal.x1 + 0.12 * (goal.x1 - goal.x0) || want.y0 < goal.y0 - 0.12 * (goal.y1 - goal.y0) || want.y1 > goal.y1 + 0.12 * (goal.y1 - goal.y0);
    const tiny = want.x1 - want.x0 < 0.4 * (goal.x1 - goal.x0) && want.y1 - want.y0 < 0.4 * (goal.y1 - goal.y0);
    this.fitted = state.points;
    this.fittedId = id;
    if (fresh || outside || tiny) this.glide.aim({ ...want });
    if (fresh) Object.assign(this.glide.now, { x0: want.x0, x1: want.x1, y0: want.y0, y1: want.y1 });
  }

  /**
   * A box for all that a story will show.
   * @returns {Box}
   */
  wholeBox() {
    const { state } = this.store, box = boxAround(state.points);
    for (const chapter of state.story?.chapters ?? []) {
      if (!chapter.points) continue;
      const other = boxAround(makePoints(chapter.points));
      box.x0 = Math.min(box.x0, other.x0);
      box.x1 = Math.max(box.x1, other.x1);
      box.y0 = Math.min(box.y0, other.y0);
      box.y1 = Math.max(box.y1, other.y1);
    }
    return box;
  }

  /**
   * Prepare the frame: inputs, weights, cameras.
   * @param {number} milliseconds
   * @param {boolean} jump whether the clock moved by itself
   * @param {boolean} calm whether motion is unwanted
   * @returns {boolean} whether anything still moves
   */
  follow(milliseconds, jump, calm) {
    this.arrange();
    this.frame();
    const { state } = this.store;
    this.glide.aim({ proof: this.showsProof ? 1 : 0, radius: state.lit === "R" || (state.proof && state.story?.evidence === "bound" && !this.compact && this.store.run?.bound.exists) ? 1 : 0 });
    let moving = this.glide.step(milliseconds, calm ? 0 : GLIDE);
    for (const pane of this.panes) if (pane.follow(milliseconds, jump || calm, calm)) moving = true;
    return moving;
  }

  /** Proofs are drawn on request, and "no line" as soon as an edit causes it. */
  get showsProof() {
    const { state, run } = this.store;
    if (state.proof || state.lit === "gamma") return true;
    return Boolean(run && run.verdict.kind === "overlap" && state.edited && run.learner.lift === "none" && run.learner.kind !== "kernel" && this.panes.length === 1);
  }

  /** @param {Palette} palette */
  draw(palette) {
    this.palette = palette;
    const { proof, radius } = this.glide.now, { state } = this.store;
    const hint = !state.touched && state.tick === 0 && state.story && !this.compact && state.points.n <= 12 && state.chapter === 0 && !this.showsProof ? "drag any point" : "";
    const look = { box: this.camera, proof, radius, compact: this.compact, room: this.room, hint };
    for (const pane of this.panes) pane.draw(palette, look);
  }

  update() {
    for (const pane of this.panes) pane.update();
    this.updateTip();
  }

  // ---- the hand ----

  /** Process the pointer's events since the last frame. */
  takeInput() {
    const moved = this.pending;
    if (!moved) return;
    this.pending = null;
    const { state } = this.store, camera = planeCamera(moved.pane.sheet, this.camera, this.compact, this.room);
    if (state.held >= 0) this.actions.drag(camera.dataX(moved.x), camera.dataY(moved.y));
    else if (this.painted) this.spray(moved.pane, moved.x, moved.y);
  }

  /** @param {Pane} pane */
  listen(pane) {
    const { canvas } = pane;
    canvas.addEventListener("pointerdown", (event) => this.down(pane, event));
    canvas.addEventListener("pointermove", (event) => this.move(pane, event));
    canvas.addEventListener("pointerup", () => this.up());
    canvas.addEventListener("pointercancel", () => this.up());
    canvas.addEventListener("pointerleave", () => this.store.state.held < 0 && this.store.state.hover >= 0 && this.store.set({ hover: -1 }));
    canvas.addEventListener("dblclick", (event) => this.flipAt(pane, event));
    canvas.addEventListener("touchstart", (event) => {
      const touch = event.touches[0];
      if (event.cancelable && (this.store.state.tool in PAINTS || this.rowAt(pane, touch, 22) >= 0)) event.preventDefault();
    }, { passive: false });
  }

  /**
   * The row under a pointer, −1 if none.
   * @param {Pane} pane
   * @param {{clientX: number, clientY: number}} event
   * @param {number} [least] pixels within which a finger counts
   * @returns {number}
   */
  rowAt(pane, event, least = 12) {
    const { points } = this.store.state, camera = planeCamera(pane.sheet, this.camera, this.compact, this.room);
    const [x, y] = pane.sheet.locate(event), reach = Math.max(least, markRadius(points.n, this.palette?.scale ?? 1) + 6);
    const dx = reach / camera.unitX, dy = reach / camera.unitY, cx = camera.dataX(x), cy = camera.dataY(y);
    let best = -1, closest = 1;
    for (let i = 0; i < points.n; i++) {
      const far = ((points.x1[i] - cx) / dx) ** 2 + ((points.x2[i] - cy) / dy) ** 2;
      if (far <= closest) { closest = far; best = i; }
    }
    return best;
  }

  /**
   * @param {Pane} pane
   * @param {PointerEvent} event
   */
  down(pane, event) {
    if (event.button > 0) return;
    const { state } = this.store, row = this.rowAt(pane, event, event.pointerType === "touch" ? 22 : 12);
    if (this.store.state.pane !== pane.index) this.store.set({ pane: pane.index });
    if (state.tool in PAINTS) {
      pane.canvas.setPointerCapture(event.pointerId);
      this.store.begin();
      this.painted = [-1e9, -1e9];
      this.spray(pane, ...pane.sheet.locate(event));
    } else if (row < 0) this.store.set({ selected: -1 });
    else if (state.tool === "flip") this.actions.flip(row);
    else if (state.tool === "erase") this.actions.remove(row);
    else {
      pane.canvas.setPointerCapture(event.pointerId);
      this.hold(true);
      this.actions.grab(row);
    }
  }

  /**
   * @param {Pane} pane
   * @param {PointerEvent} event
   */
  move(pane, event) {
    const { state } = this.store, [x, y] = pane.sheet.locate(event);
    if (state.held >= 0 || this.painted) {
      this.pending = { pane, x, y };
      this.store.request();
      return;
    }
    if (event.pointerType === "touch") return;
    const row = this.rowAt(pane, event);
    this.tipAt = [pane.element.offsetLeft + x, pane.element.offsetTop + y];
    pane.canvas.style.cursor = state.tool in PAINTS ? "crosshair" : row >= 0 ? (state.tool === "move" ? "grab" : "pointer") : "default";
    if (row !== state.hover) this.store.set({ hover: row });
  }

  up() {
    this.takeInput();
    const painting = this.painted !== null;
    this.painted = null;
    this.hold(false);
    if (this.store.state.held >= 0) this.actions.release();
    else if (painting) this.store.commit();
  }

  /**
   ** The elements above the stage keep their height while a point is held, so that the stage does
   * not move under the finger.
   * @param {boolean} on
   */
  hold(on) {
    for (const part of document.querySelectorAll(".sentence, .head")) {
      const { style } = /** @type {HTMLElement} */ (part);
      style.height = on ? `${/** @type {HTMLElement} */ (part).offsetHeight}px` : "";
      style.overflow = on ? "hidden" : "";
    }
  }

  /**
   * @param {Pane} pane
   * @param {MouseEvent} event
   */
  flipAt(pane, event) {
    if (this.store.state.tool === "move") this.actions.flip(this.rowAt(pane, event));
  }

  /**
   * Paint a point if the last one is far enough.
   * @param {Pane} pane
   * @param {number} x
   * @param {number} y
   */
  spray(pane, x, y) {
    if (!this.painted || Math.hypot(x - this.painted[0], y - this.painted[1]) < SPRAY) return;
    this.painted = [x, y];
    const camera = planeCamera(pane.sheet, this.camera, this.compact, this.room);
    this.actions.add(camera.dataX(x), camera.dataY(y), PAINTS[this.store.state.tool]);
  }

  /** Describe the point under the pointer. */
  updateTip() {
    const { state, run } = this.store, row = state.held < 0 ? state.hover : -1;
    const on = run !== undefined && row >= 0 && row < state.points.n && !state.playing;
    this.tip.classList.toggle("on", on);
    if (!on || !run) return;
    say(this.tip, pointWords(run, Math.min(state.tick, run.trace.length), row));
    const stage = this.tip.parentElement;
    if (!stage) return;
    const right = this.tipAt[0] > stage.clientWidth - 300;
    this.tip.style.left = `${right ? Math.max(8, this.tipAt[0] - 280) : this.tipAt[0] + 18}px`;
    this.tip.style.top = `${Math.min(stage.clientHeight - 96, this.tipAt[1] + 18)}px`;
  }
}
