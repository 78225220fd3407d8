/**
 * Figures that count: all orders of a few points, all labellings of them, and learners side
 * by side.
 */

import { LEARNERS, learnerName } from "../core/learners.js";
import { labellings } from "../core/labellings.js";
import { planeOf } from "../core/model.js";
import { modelAt } from "../core/derive.js";
import { allOrders } from "../core/orders.js";
import { makePoints, pointRows } from "../core/points.js";
import { drawOrders, drawThumb, drawUncounted } from "../views/tally.js";
import { counted, num } from "../words/number.js";
import { heroWords, lossWords } from "../words/sentence.js";
import { button, make, put, say } from "./dom.js";
import { Figure } from "./figure.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Points} Points */
/** @typedef {import("./figure.js").Seen} Seen */
/** @typedef {import("../views/palette.js").Palette} Palette */
/** @typedef {import("../views/pen.js").Pen} Pen */
/** @typedef {import("../views/sheet.js").Size} Size */

const MOST_ORDERED = 6;
const MOST_LABELLED = 5;

export class OrdersFigure extends Figure {
  /** @param {Store} store @param {Actions} actions */
  constructor(store, actions) {
    super(store, actions);
    /** @type {{points: Points, counts: [number, number][], lines: number, total: number}|null} */
    this.counted = null;
  }

  /**
   * All orders, counted once for a set of points.
   * @param {Derivation} run
   */
  count(run) {
    if (run.points.n > MOST_ORDERED) return null;
    if (this.counted?.points === run.points) return this.counted;
    const orders = allOrders(run.points, run.learner);
    if (!orders) return null;
    this.counted = { points: run.points, counts: [...orders.counts], lines: orders.lines, total: orders.mistakes.length };
    return this.counted;
  }

  /** @param {Seen} seen */
  words(seen) {
    const orders = this.count(seen.run), answered = this.store.state.guess !== null || this.store.state.chapter > 0;
    if (!orders) return `Orders are counted for up to ${MOST_ORDERED} points.`;
    if (!answered) return `${counted(orders.total, "order")} of ${counted(seen.run.points.n, "point")}: how many different lines?`;
    return `${counted(orders.total, "order")}, ${counted(orders.lines, "different line")}.`;
  }

  /** @param {Pen} pen @param {Palette} palette @param {Size} size @param {Seen} seen */
  paint(pen, palette, size, seen) {
    const orders = this.count(seen.run), answered = this.store.state.guess !== null || this.store.state.chapter > 0;
    if (!orders) return;
    if (answered) drawOrders(pen, palette, size, orders.counts, seen.run.trace.updates);
    else drawUncounted(pen, palette, size, orders.total);
  }
}

export class LabellingsFigure extends Figure {
  /** @param {Store} store @param {Actions} actions */
  constructor(store, actions) {
    super(store, actions, { canvas: false });
    this.tiles = make("div", { class: "tiles", role: "group", "aria-label": "All labellings; press one to use it" });
    this.element.append(this.tiles);
    this.places = "";
    this.separable = 0;
    this.total = 0;
    /** @type {{points: Points, line: boolean, canvas: HTMLCanvasElement, node: HTMLButtonElement}[]} */
    this.all = [];
    /** @type {Palette|null} */
    this.palette = null;
  }

  /** @param {Seen} seen */
  words(seen) {
    this.arrange(seen.run.points);
    if (!this.total) return `Labellings are counted for up to ${MOST_LABELLED} points.`;
    const answered = this.store.state.guess !== null || this.store.state.chapter > 0 || this.store.state.edited;
    return answered ? `A line can separate [#${num(this.separable)}] of the ${num(this.total)} labellings.` : `${num(this.total)} labellings: how many can a line separate?`;
  }

  /**
   * One tile per labelling, rebuilt when the points move.
   * @param {Points} points
   */
  arrange(points) {
    const rows = pointRows(points), places = rows.map(([x, y]) => `${x},${y}`).join(";");
    if (places === this.places) return;
    this.places = places;
    this.total = this.separable = 0;
    this.all = [];
    const found = points.n && points.n <= MOST_LABELLED ? labellings(points.x1, points.x2) : [];
    for (const { labels, separable } of found) {
      this.total++;
      if (separable) this.separable++;
      const labelled = rows.map(([x, y], i) => /** @type {[number, number, number]} */ ([x, y, labels[i]]));
      const canvas = make("canvas", { "aria-hidden": "true" });
      const node = button({ "aria-label": `${Array.from(labels, (label) => (label > 0 ? "blue" : "orange")).join(", ")}: ${separable ? "separable by a line" : "not separable by a line"}` }, () => this.actions.replace(labelled), canvas);
      this.all.push({ points: makePoints(labelled), line: separable, canvas, node });
    }
    this.tiles.replaceChildren(...this.all.map((tile) => tile.node));
    this.palette = null;
  }

  /** @param {Palette} palette @param {Seen} seen */
  draw(palette, seen) {
    const answered = this.store.state.guess !== null || this.store.state.chapter > 0 || this.store.state.edited;
    const now = Array.from(seen.run.points.label).join();
    for (const tile of this.all) put(tile.node, "aria-pressed", Array.from(tile.points.label).join() === now);
    const key = answered ? palette : null;
    if (this.palette === key && key) return;
    this.palette = key;
    const size = { width: 44, height: 44 }, ratio = globalThis.devicePixelRatio || 1;
    for (const tile of this.all) {
      tile.canvas.width = size.width * ratio;
      tile.canvas.height = size.height * ratio;
      const pen = tile.canvas.getContext("2d");
      if (!pen) continue;
      pen.scale(ratio, ratio);
      if (answered && !tile.line) {
        pen.fillStyle = palette["proof-tint"];
        pen.fillRect(0, 0, size.width, size.height);
      }
      drawThumb(pen, palette, size, tile.points);
    }
  }
}

export class CompareFigure extends Figure {
  /** @param {Store} store @param {Actions} actions */
  constructor(store, actions) {
    super(store, actions, { canvas: false });
    this.rows = make("div", { class: "rows" });
    this.element.append(this.rows);
    /** @type {{name: HTMLElement, text: HTMLElement, canvas: HTMLCanvasElement}[]} */
    this.lines = [];
  }

  /** @param {Seen} seen */
  words(seen) {
    const { runs } = this.store;
    return `${counted(runs.length, "learner")}, the same ${counted(seen.run.points.n, "point")} and the same clock.`;
  }

  /** @param {Seen} seen */
  update(seen) {
    super.update(seen);
    const { runs } = this.store;
    while (this.lines.length > runs.length) { this.lines.pop(); this.rows.lastElementChild?.remove(); }
    while (this.lines.length < runs.length) {
      const name = make("strong"), text = make("span"), canvas = make("canvas", { "aria-hidden": "true" });
      this.rows.append(make("div", { class: "row" }, make("div", {}, name, text), canvas));
      this.lines.push({ name, text, canvas });
    }
    runs.forEach((run, k) => {
      const tick = Math.min(seen.tick, run.trace.length);
      say(this.lines[k].name, learnerName(run.learner.kind));
      const about = LEARNERS.find((each) => each.kind === run.learner.kind)?.about ?? "";
      say(this.lines[k].text, tick <= 0 ? sentence(`${about}.`) : run.learner.kind === "perceptron" ? heroWords(run, tick) : sentence(lossWords(run, tick)));
    });
  }

  /** @param {Palette} palette @param {Seen} seen */
  draw(palette, seen) {
    const size = { width: 132, height: 66 }, ratio = globalThis.devicePixelRatio || 1;
    this.store.runs.forEach((run, k) => {
      const line = this.lines[k], pen = line?.canvas.getContext("2d");
      if (!pen) return;
      line.canvas.width = size.width * ratio;
      line.canvas.height = size.height * ratio;
      pen.scale(ratio, ratio);
      drawThumb(pen, palette, size, run.points, planeOf(modelAt(run, Math.min(seen.tick, run.trace.length))));
    });
  }
}

/**
 * @param {string} text
 * @returns {string}
 */
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
