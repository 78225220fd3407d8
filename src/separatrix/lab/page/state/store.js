/**
 * The state of the page, the only place that changes it, and the values derived from it.
 *
 * Handlers call actions, which store values and ask for a frame; the frame calls `refresh`,
 * which re-runs learners and verdicts at most once.
 */

import { advance, derive } from "../core/derive.js";
import { makePoints } from "../core/points.js";
import { History } from "./history.js";

/** @typedef {import("../core/types.js").Points} Points */
/** @typedef {import("../core/types.js").Learner} Learner */
/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("../core/types.js").Story} Story */
/** @typedef {import("../core/types.js").StoryState} StoryState */
/** @typedef {"move"|"plus"|"minus"|"third"|"flip"|"erase"} Tool */
/** @typedef {"R"|"gamma"|"w"|"bound"|null} Lit */

/**
 * @typedef {object} State
 * @property {Story|null} story        null: a table of the user's
 * @property {string} tableId          which table, if there is no story
 * @property {Points} points
 * @property {Learner[]} learners      one per pane
 * @property {string[]} names          of the two columns; empty: x₁, x₂
 * @property {string[]} labels         of − and + (and the third); empty: orange, blue
 * @property {string} note             the note on the data (marked up)
 * @property {number} chapter
 * @property {number} furthest         last chapter seen
 * @property {string|null} guess
 * @property {number} tick             position of the clock, fractional while it moves
 * @property {boolean} pinned          the clock stays at the end of the run
 * @property {boolean} playing
 * @property {boolean} played          whether play was ever used
 * @property {number} speed
 * @property {boolean} proof
 * @property {Lit} lit
 * @property {Tool} tool
 * @property {number} selected
 * @property {number} hover
 * @property {number} held             row under the finger, −1 if none
 * @property {Points|null} grabbed     points when the finger came down
 * @property {boolean} edited          points differ from the story's
 * @property {boolean} touched         any point was ever moved
 * @property {number} pane             pane whose evidence is shown
 * @property {string[]} solved         stories whose challenge was met
 */

/** @typedef {Pick<State, "points"|"learners"|"names"|"labels"|"edited"|"note">} Snapshot */

export const MAX_PANES = 4;
const SLICE = 4; // milliseconds per frame for an unfinished run

export class Store {
  /** @param {() => void} request asks for a frame */
  constructor(request) {
    this.request = request;
    /** @type {State} */
    this.state = emptyState();
    /** @type {Derivation[]} */
    this.runs = [];
    /** @type {History<Snapshot>} */
    this.history = new History();
    this.stale = true;
    /** @type {Snapshot|null} */
    this.before = null;
  }

  /**
   * Change state outside undo: selection, clock, overlays.
   * @param {Partial<State>} patch
   */
  set(patch) {
    Object.assign(this.state, patch);
    if (patch.points || patch.learners) this.stale = true;
    this.request();
  }

  /**
   * Change data or learners, so that it can be undone.
   * @param {Partial<State>} patch
   */
  edit(patch) {
    if (!this.before) this.history.push(this.snapshot());
    this.set(patch);
  }

  /** A drag begins: all changes until its end are one edit. */
  begin() {
    this.before = this.snapshot();
  }

  /** The drag ends; it is stored for undo if it changed anything. */
  commit() {
    const before = this.before;
    this.before = null;
    if (!before) return;
    if (before.points !== this.state.points || before.learners !== this.state.learners) this.history.push(before);
    this.request();
  }

  undo() {
    this.restore(this.history.undo(this.snapshot()));
  }

  redo() {
    this.restore(this.history.redo(this.snapshot()));
  }

  /** @param {Snapshot|null} snapshot */
  restore(snapshot) {
    if (!snapshot) return;
    const rows = snapshot.points.n;
    this.set({ ...snapshot, selected: this.state.selected < rows ? this.state.selected : -1, hover: -1, held: -1, grabbed: null, pane: Math.min(this.state.pane, snapshot.learners.length - 1) });
  }

  /** @returns {Snapshot} */
  snapshot() {
    const { points, learners, names, labels, edited, note } = this.state;
    return { points, learners, names, labels, edited, note };
  }

  /**
   * Derive stale values, continue unfinished runs.
   * @returns {boolean} whether another frame is needed
   */
  refresh() {
    const { state } = this;
    const end = state.pinned || (state.tick > 0 && state.tick >= this.length - 1e-9);
    const changed = this.stale;
    if (changed) {
      this.stale = false;
      this.runs = state.learners.map((learner, k) => derive(state.points, learner, this.runs[k]));
    }
    let unfinished = false;
    for (const run of this.runs) {
      if (!run.trace.done && !changed) advance(run, SLICE / this.runs.length);
      if (!run.trace.done) unfinished = true;
    }
    if (end && !state.playing) state.tick = this.length;
    else state.tick = Math.min(state.tick, this.length);
    state.pinned = end && !state.playing;
    return unfinished;
  }

  /** Ticks of the longest run. */
  get length() {
    let most = 0;
    for (const run of this.runs) most = Math.max(most, run.trace.length);
    return most;
  }

  /** The run whose evidence is shown. */
  get run() {
    return this.runs[Math.min(this.state.pane, this.runs.length - 1)];
  }

  /** Before a guess the page hides the answer. */
  get hushed() {
    const { story, chapter, guess, edited, tick } = this.state;
    return Boolean(story && story.chapters[chapter]?.id === "predict" && guess === null && !edited && tick === 0);
  }

  /**
   * The input of stories.
   * @returns {StoryState}
   */
  get storyState() {
    return { points: this.state.points, runs: this.runs, tick: Math.floor(this.state.tick + 1e-9), guess: this.state.guess };
  }
}

/** @returns {State} */
function emptyState() {
  return {
    story: null, tableId: "", points: makePoints([]), learners: [], names: [], labels: [], note: "",
    chapter: 0, furthest: 0, guess: null, tick: 0, pinned: false, playing: false, played: false, speed: 1,
    proof: false, lit: null, tool: "move", selected: -1, hover: -1, held: -1, grabbed: null,
    edited: false, touched: false, pane: 0, solved: [],
  };
}
