/**
 * The page: parts put together, and the one loop that draws them. The loop stops when nothing
 * moves.
 */

import { makePoints } from "./core/points.js";
import { Actions } from "./state/actions.js";
import { decodeLink } from "./state/link.js";
import { Store } from "./state/store.js";
import { STORIES } from "./stories/index.js";
import { readPalette } from "./views/palette.js";
import { Badge } from "./parts/badge.js";
import { Carry } from "./parts/carry.js";
import { Dock } from "./parts/dock.js";
import { byId } from "./parts/dom.js";
import { Drawer } from "./parts/drawer.js";
import { Evidence } from "./parts/evidence.js";
import { listenToKeys } from "./parts/keys.js";
import { learnerSection } from "./parts/learner_form.js";
import { codeSection, keySection, updateSection } from "./parts/reading.js";
import { Sentence } from "./parts/say.js";
import { Shelf } from "./parts/shelf.js";
import { Stage } from "./parts/stage.js";
import { Tables } from "./parts/table.js";
import { TimeBar } from "./parts/time.js";
import { Voice } from "./parts/voice.js";

/** @typedef {import("./views/palette.js").Palette} Palette */
/** @typedef {import("./core/types.js").LinkState} LinkState */

const BIG = 1.15; // times the zoom of the style, marks and type are half as large again
const MOMENT = 100; // milliseconds after which work is shown as such
const LONGEST_FRAME = 100; // milliseconds that one frame may let pass

class Lab {
  constructor() {
    this.asked = false;
    this.last = 0;
    this.lastTick = 0;
    this.busySince = 0;
    const query = new URLSearchParams(globalThis.location?.search ?? "");
    this.scale = query.has("big") ? BIG : 1;
    document.documentElement.classList.toggle("big", this.scale > 1);
    this.calm = globalThis.matchMedia("(prefers-reduced-motion: reduce)");
    this.store = new Store(() => this.request());
    this.palette = readPalette(document.documentElement, this.scale);
    this.voice = new Voice();
    const toast = (/** @type {string} */ text) => this.voice.toast(text);
    this.actions = new Actions(this.store, toast);
    this.badge = new Badge(this.store, this.voice);
    this.sentence = new Sentence(this.store, this.actions, toast);
    this.stage = new Stage(this.store, this.actions, (pane) => {
      this.store.set({ pane });
      this.drawer.open("learner");
    });
    this.evidence = new Evidence(this.store, this.actions);
    this.time = new TimeBar(this.store, this.actions);
    this.dock = new Dock(this.store);
    this.shelf = new Shelf(this.store, (id) => this.actions.openStory(id));
    this.tables = new Tables(this.store, this.actions, this.shelf, { toast, hush: () => this.voice.hush(), palette: () => this.palette, opened: () => this.drawer.open("data") });
    this.carry = new Carry({ store: this.store, stage: this.stage, evidence: this.evidence }, () => this.palette, toast, (tick) => this.showAt(tick));
    this.drawer = new Drawer(this.store, [learnerSection(this.store, this.actions, toast), this.tables.section(), codeSection(this.store, toast), this.carry.section(), updateSection(this.store), keySection()]);
    this.listen();
  }

  listen() {
    byId("undo").addEventListener("click", () => this.store.undo());
    byId("redo").addEventListener("click", () => this.store.redo());
    byId("share").addEventListener("click", () => void this.carry.copyLink());
    byId("carry").addEventListener("click", () => this.drawer.open("carry"));
    byId("theme").addEventListener("click", () => this.switchTheme());
    byId("brand").addEventListener("click", (event) => {
      event.preventDefault();
      this.actions.openStory(STORIES[0].id);
    });
    byId("skip").addEventListener("click", (event) => {
      event.preventDefault();
      byId("plane-0").focus();
    });
    const repaint = () => this.repaint();
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"]) globalThis.matchMedia(query).addEventListener("change", repaint);
    globalThis.addEventListener("hashchange", () => this.openLink(globalThis.location.hash));
    globalThis.addEventListener("resize", () => this.request());
    listenToKeys(this.store, this.actions, {
      theme: () => this.switchTheme(),
      link: () => void this.carry.copyLink(),
      drawer: (section) => (this.drawer.isOpen && section === "learner" ? this.drawer.close() : this.drawer.open(section)),
      close: () => this.drawer.close(),
    });
  }

  /** Open the page's own data, a link, or the first story. */
  open() {
    this.actions.openStory(STORIES[0].id);
    const data = JSON.parse(byId("data").textContent || "null");
    if (data) this.tables.embed(data);
    if (globalThis.location?.hash) this.openLink(globalThis.location.hash);
    this.shelf.draw(this.palette);
    this.request();
  }

  /** @param {string} hash */
  openLink(hash) {
    const link = decodeLink(hash);
    if (link.ok) {
      this.voice.hush();
      this.restore(link.state);
    } else if (link.reason !== "none") {
      this.actions.openStory(STORIES[0].id);
      this.voice.toast(link.message);
    }
  }

  /** @param {LinkState} link */
  restore(link) {
    if (link.story === "own") this.actions.openTable("a link", makePoints(link.points ?? []), { names: link.names, labels: link.labels, note: "" });
    else this.actions.openStory(link.story);
    const { state } = this.store, chapters = state.story?.chapters.length ?? 1, chapter = Math.min(link.chapter, chapters - 1);
    this.store.set({ chapter, furthest: chapter, proof: state.story?.chapters[chapter]?.proof ?? false, learners: link.learners, played: link.tick > 0 });
    if (link.points && state.story) this.store.set({ points: makePoints(link.points), edited: true });
    this.store.refresh();
    while (this.store.length < link.tick && this.store.refresh());
    this.actions.seek(link.tick);
  }

  switchTheme() {
    const root = document.documentElement, dark = globalThis.matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme ?? (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    this.repaint();
  }

  /** Read the colours again and draw everything. */
  repaint() {
    this.palette = readPalette(document.documentElement, this.scale);
    this.drawer.forget();
    this.shelf.draw(this.palette);
    this.request();
  }

  /** Ask for a frame. */
  request() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((now) => this.frame(now));
  }

  /**
   * One frame: input, time, derivation, easing, drawing, words.
   * @param {number} now
   */
  frame(now) {
    this.asked = false;
    const passed = Math.min(LONGEST_FRAME, this.last ? now - this.last : 16);
    this.stage.takeInput();
    this.evidence.takeInput();
    const unfinished = this.store.refresh();
    this.actions.pass(passed);
    this.noteBusy(unfinished, now);
    const moving = this.show(passed);
    this.last = 0;
    if (moving || unfinished || this.store.state.playing || this.store.stale || this.asked) this.last = now;
    if (this.last) this.request();
  }

  /**
   * Numbers are dimmed while a run is not yet finished, if that takes longer than a moment.
   * @param {boolean} unfinished
   * @param {number} now
   */
  noteBusy(unfinished, now) {
    this.busySince = unfinished ? this.busySince || now : 0;
    document.body.classList.toggle("busy", this.busySince > 0 && now - this.busySince > MOMENT);
  }

  /**
   * Ease, draw and say.
   * @param {number} passed milliseconds
   * @returns {boolean} whether anything still moves
   */
  show(passed) {
    const { state } = this.store, jump = state.playing || state.tick !== this.lastTick;
    this.lastTick = state.tick;
    const turning = this.stage.follow(passed, jump, this.calm.matches);
    const gliding = this.evidence.follow(this.stage.panes[state.pane] ?? this.stage.panes[0], passed, this.calm.matches);
    this.sentence.update();
    this.badge.update();
    this.dock.update();
    this.time.update();
    this.shelf.update();
    this.stage.update();
    this.evidence.update();
    this.drawer.update();
    this.updateTools();
    this.stage.draw(this.palette);
    this.evidence.draw(this.palette);
    this.time.draw(this.palette);
    return turning || gliding;
  }

  updateTools() {
    const { history, state } = this.store;
    /** @type {HTMLButtonElement} */ (byId("undo")).disabled = !history.canUndo;
    /** @type {HTMLButtonElement} */ (byId("redo")).disabled = !history.canRedo;
    const title = `${state.story?.name ?? "Your table"} · separatrix lab`;
    if (document.title !== title) document.title = title;
  }

  /**
   * Stand at a tick without easing, for pictures of the run.
   * @param {number} tick
   */
  showAt(tick) {
    this.store.set({ tick, pinned: false });
    this.stage.follow(1000, true, true);
    this.evidence.follow(this.stage.panes[this.store.state.pane], 1000, true);
  }
}

new Lab().open();
