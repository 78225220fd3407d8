/**
 * The user's actions, by pointer or key. Every change of the state is one of these.
 */

import { defaults, learnerName } from "../core/learners.js";
import { addPoint, flipPoint, makePoints, movePoint, pointRows, removePoint, snap } from "../core/points.js";
import { storyById } from "../stories/index.js";
import { num } from "../words/number.js";
import { moveOn, SPEEDS, stepFrom } from "./clock.js";
import { MAX_PANES } from "./store.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./store.js").Tool} Tool */
/** @typedef {import("../core/types.js").Kind} Kind */
/** @typedef {import("../core/types.js").Learner} Learner */
/** @typedef {import("../core/types.js").Story} Story */
/** @typedef {import("../core/types.js").Points} Points */

const MOST_POINTS = 50000;

/** The most points of learners that compare all pairs, or try all lines. @type {Partial<Record<Kind, number>>} */
const LIMITS = { kernel: 2000, "zero-one": 400 };

export class Actions {
  /**
   * @param {Store} store
   * @param {(text: string) => void} refuse says why something was not done
   */
  constructor(store, refuse) {
    this.store = store;
    this.refuse = refuse;
  }

  // ---- stories ----

  /**
   * @param {string} id
   * @returns {boolean} whether there is such a story
   */
  openStory(id) {
    const story = storyById(id);
    if (!story) return false;
    this.store.history.clear();
    this.store.set({
      story, tableId: "", points: makePoints(story.points), learners: story.learners.slice(), names: [], labels: [], note: "",
      chapter: 0, furthest: 0, guess: null, tick: 0, pinned: false, playing: false, proof: false, lit: null,
      tool: "move", selected: -1, hover: -1, held: -1, grabbed: null, edited: false, pane: 0,
    });
    this.enter(story, 0);
    return true;
  }

  /**
   * Open a chapter of the present story.
   * @param {number} index
   */
  openChapter(index) {
    const { story, furthest } = this.store.state;
    if (!story || index < 0 || index >= story.chapters.length) return;
    this.store.set({ chapter: index, furthest: Math.max(furthest, index), playing: false, lit: null });
    this.enter(story, index);
  }

  /**
   * Set up the stage of a chapter.
   * @param {Story} story
   * @param {number} index
   */
  enter(story, index) {
    const chapter = story.chapters[index], { state } = this.store;
    if (!chapter) return;
    const fresh = chapter.points ?? (state.edited && (chapter.id === "predict" || chapter.id === "challenge") ? story.points : null);
    if (fresh) this.store.set({ points: makePoints(fresh), edited: false, selected: -1 });
    if (chapter.set) this.store.set({ learners: state.learners.map((learner, k) => (k ? learner : { ...learner, ...chapter.set })) });
    if (chapter.proof !== undefined) this.store.set({ proof: chapter.proof });
    if (chapter.at === "start") this.store.set({ tick: 0, pinned: false });
    if (chapter.at === "end") this.store.set({ pinned: true });
  }

  /**
   * Take a guess, and watch what happens.
   * @param {string} id
   */
  guess(id) {
    const { story } = this.store.state;
    if (!story) return;
    this.store.set({ guess: id });
    const watch = story.chapters.findIndex((chapter) => chapter.id === "watch");
    if (story.chapters[watch]?.at === "end") this.openChapter(watch);
    else this.play();
  }

  /**
   * Show a table of the user's.
   * @param {string} tableId
   * @param {Points} points
   * @param {{names: string[], labels: string[], note: string}} about
   */
  openTable(tableId, points, about) {
    this.store.history.clear();
    this.store.set({
      story: null, tableId, points, ...about, learners: [defaults(points.classes === 3 ? "softmax" : "perceptron")],
      chapter: 0, furthest: 0, guess: null, tick: 0, pinned: false, playing: false, proof: false, lit: null,
      tool: "move", selected: -1, hover: -1, held: -1, grabbed: null, edited: false, pane: 0,
    });
  }

  // ---- points ----

  /**
   * The finger comes down on a point.
   * @param {number} row
   */
  grab(row) {
    this.store.begin();
    this.store.set({ held: row, selected: row, grabbed: this.store.state.points, touched: true });
  }

  /**
   * The held point follows the finger, to the nearest tenth.
   * @param {number} x1
   * @param {number} x2
   */
  drag(x1, x2) {
    const { points, held } = this.store.state;
    if (held < 0) return;
    const a = snap(x1), b = snap(x2);
    if (points.x1[held] === a && points.x2[held] === b) return;
    this.store.edit({ points: movePoint(points, held, a, b), edited: true });
  }

  /** The finger is lifted. */
  release() {
    this.store.set({ held: -1, grabbed: null });
    this.store.commit();
  }

  /**
   * Move the selected point by tenths.
   * @param {number} dx
   * @param {number} dy
   */
  nudge(dx, dy) {
    const { points, selected } = this.store.state;
    if (selected < 0) return;
    this.store.edit({ points: movePoint(points, selected, snap(points.x1[selected] + dx), snap(points.x2[selected] + dy)), edited: true, touched: true });
  }

  /**
   * Add a point; nothing happens above the page's limit.
   * @param {number} x1
   * @param {number} x2
   * @param {number} label
   */
  add(x1, x2, label) {
    const { points } = this.store.state;
    if (points.n >= MOST_POINTS) return;
    this.store.edit({ points: addPoint(points, snap(x1), snap(x2), label), edited: true, selected: points.n, touched: true });
  }

  /** @param {number} row */
  flip(row) {
    const { points } = this.store.state;
    if (row < 0 || row >= points.n) return;
    this.store.edit({ points: flipPoint(points, row), edited: true, touched: true });
  }

  /** @param {number} row */
  remove(row) {
    const { points, selected } = this.store.state;
    if (row < 0 || row >= points.n) return;
    const after = selected === row ? Math.min(row, points.n - 2) : selected > row ? selected - 1 : selected;
    this.store.edit({ points: removePoint(points, row), edited: true, selected: after, hover: -1, touched: true });
  }

  /**
   * Replace all points, as one edit.
   * @param {[number, number, number][]} rows
   */
  replace(rows) {
    this.store.edit({ points: makePoints(rows), edited: true, selected: -1, hover: -1 });
  }

  /**
   * Visit a row first: the others keep their order.
   * @param {number} row
   */
  visitFirst(row) {
    const rows = pointRows(this.store.state.points);
    const [moved] = rows.splice(row, 1);
    this.replace([moved, ...rows]);
  }

  /** The chapter's own points again, or the story's. */
  reset() {
    const { story, chapter } = this.store.state;
    if (!story) return;
    this.store.edit({ points: makePoints(story.chapters[chapter]?.points ?? story.points), edited: false, selected: -1, hover: -1 });
  }

  /** @param {1|-1} direction */
  select(direction) {
    const { points, selected } = this.store.state;
    if (!points.n) return;
    const from = selected < 0 ? (direction > 0 ? -1 : 0) : selected;
    this.store.set({ selected: (from + direction + points.n) % points.n });
  }

  // ---- learners ----

  /**
   * @param {number} pane
   * @param {Partial<Learner>} patch
   */
  setLearner(pane, patch) {
    const learners = this.store.state.learners.map((learner, k) => (k === pane ? { ...learner, ...patch } : learner));
    this.store.edit({ learners });
  }

  /**
   * @param {number} pane
   * @param {Kind} kind
   */
  setKind(pane, kind) {
    if (!this.fits(kind)) return;
    const old = this.store.state.learners[pane];
    this.setLearner(pane, { ...defaults(kind), intercept: old.intercept, lift: kind === "kernel" ? "none" : old.lift, centre: old.centre });
    this.store.set({ pane });
  }

  /**
   * Whether a learner accepts a number of points; if not, a message says so.
   * @param {Kind} kind
   * @returns {boolean}
   */
  fits(kind) {
    const most = LIMITS[kind] ?? Infinity, { n } = this.store.state.points;
    if (n > most) this.refuse(`${learnerName(kind)} accepts at most ${num(most)} points here; there are ${num(n)}.`);
    this.store.request();
    return n <= most;
  }

  /**
   * Put another learner beside those on stage.
   * @param {Kind} kind
   */
  addPane(kind) {
    const { learners } = this.store.state;
    if (learners.length >= MAX_PANES || !this.fits(kind)) return;
    const added = { ...defaults(kind), intercept: learners[0].intercept };
    this.store.edit({ learners: [...learners, added] });
    this.store.set({ pane: learners.length });
  }

  /** @param {number} pane */
  removePane(pane) {
    const { learners } = this.store.state;
    if (learners.length < 2) return;
    this.store.edit({ learners: learners.filter((_, k) => k !== pane) });
    this.store.set({ pane: 0 });
  }

  /**
   * Choose the start vector; the run follows.
   * @param {number} pane
   * @param {number[]} start
   */
  setStart(pane, start) {
    this.setLearner(pane, { start: start.every((value) => value === 0) ? null : start });
  }

  // ---- time ----

  /** Play, from the beginning if the run is at its end. */
  play() {
    const { story, chapter } = this.store.state;
    if (story && story.chapters[chapter]?.id === "predict") this.openChapter(Math.max(0, story.chapters.findIndex((each) => each.id === "watch")));
    const { state, length } = this.store;
    const again = state.tick >= length - 1e-9 && length > 0;
    this.store.set({ playing: true, played: true, pinned: false, tick: again ? 0 : state.tick });
  }

  pause() {
    this.store.set({ playing: false });
  }

  toggle() {
    if (this.store.state.playing) this.pause();
    else this.play();
  }

  /**
   * Let time pass.
   * @param {number} milliseconds
   */
  pass(milliseconds) {
    const { state } = this.store;
    if (!state.playing) return;
    const run = this.longest();
    if (!run) return;
    const tick = moveOn(run.trace, state.tick, milliseconds, state.speed);
    const ended = tick >= run.trace.length && run.trace.done;
    this.store.set({ tick, playing: !ended, pinned: ended });
  }

  /** @param {number} tick */
  seek(tick) {
    const { length } = this.store;
    this.store.set({ tick: Math.max(0, Math.min(length, tick)), playing: false, pinned: tick >= length });
  }

  /**
   * @param {"visit"|"mistake"} unit
   * @param {1|-1} direction
   */
  step(unit, direction) {
    const run = this.longest();
    if (run) this.seek(stepFrom(run.trace, this.store.state.tick, unit, direction));
  }

  /** The next speed. */
  faster() {
    const k = SPEEDS.indexOf(this.store.state.speed);
    this.store.set({ speed: SPEEDS[(k + 1) % SPEEDS.length] });
  }

  /** The shown run, or the longest one where learners are compared. */
  longest() {
    const { runs, run } = this.store;
    return runs.reduce((best, other) => (other.trace.length > best.trace.length ? other : best), run);
  }
}
