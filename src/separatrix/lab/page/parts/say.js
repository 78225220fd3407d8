/**
 * The sentence above the stage: chapters, what happens now, the question and its answers.
 */

import { STORIES } from "../stories/index.js";
import { statusWords, stepWords, verdictWords } from "../words/sentence.js";
import { pointRows } from "../core/points.js";
import { plain } from "../words/markup.js";
import { num } from "../words/number.js";
import { button, byId, icon, make, say } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("../core/types.js").Story} Story */
/** @typedef {import("../core/types.js").Chapter} Chapter */
/** @typedef {import("../core/types.js").LiftId} LiftId */

const MARGINS = [1, 0.5, 0.2, 0.1];
/** @type {[number, string][]} */
const WIDTHS = [[0.05, "very wide"], [0.25, "wide"], [1, "narrow"], [8, "very narrow"]];

export class Sentence {
  /**
   * @param {Store} store
   * @param {Actions} actions
   * @param {(text: string) => void} toast
   */
  constructor(store, actions, toast) {
    this.store = store;
    this.actions = actions;
    this.toast = toast;
    this.title = byId("title");
    this.text = byId("text");
    this.answers = byId("answers");
    this.chapters = byId("chapters");
    this.shownChapters = "";
    this.shownAnswers = "";
  }

  update() {
    const { state } = this.store, { story } = state;
    const words = story ? this.storyWords(story) : this.tableWords();
    say(this.title, words.title);
    say(this.text, words.text);
    this.updateChapters(story);
    this.updateAnswers(story);
  }

  /**
   * @param {Story} story
   * @returns {{title: string, text: string}}
   */
  storyWords(story) {
    const { state, storyState, run } = this.store, chapter = story.chapters[state.chapter];
    if (!state.points.n) return { title: "No points are left.", text: "Paint some with the tools on the stage, or undo." };
    if (this.differs(story) && run) return state.tick > 0 && state.tick >= this.store.length ? statusWords(run) : stepWords(run, Math.ceil(state.tick - 1e-9));
    if (chapter.id === "predict" && state.edited && run) return editedWords(run, state.labels);
    if (chapter.id === "predict" && (state.tick <= 0 || chapter.at === "end") && !state.playing) return { title: story.question.ask, text: chapter.say(storyState).text };
    if (chapter.id === "predict" && chapter.at === "start" && run && state.tick >= this.store.length && !state.playing) return statusWords(run);
    if (chapter.id === "challenge") return this.challengeWords(story, chapter);
    const moving = state.playing || (state.tick > 0 && state.tick < this.store.length);
    if (moving && run && (chapter.id === "watch" || chapter.id === "predict")) return stepWords(run, Math.ceil(state.tick - 1e-9));
    return chapter.say(storyState);
  }

  /**
   * Whether another learner has replaced one of the story's.
   * @param {Story} story
   */
  differs(story) {
    const { learners } = this.store.state;
    return story.learners.some((learner, k) => learners[k]?.kind !== learner.kind);
  }

  /**
   * @param {Story} story
   * @param {Chapter} chapter
   * @returns {{title: string, text: string}}
   */
  challengeWords(story, chapter) {
    const { state, storyState } = this.store, result = story.challenge(storyState);
    if (result.won) {
      if (!state.solved.includes(story.id) && state.held < 0) this.store.set({ solved: [...state.solved, story.id] });
      return result;
    }
    return state.edited ? result : chapter.say(storyState);
  }

  /** @returns {{title: string, text: string}} */
  tableWords() {
    const { state, run } = this.store;
    if (!state.points.n) return { title: "Add points of two classes, or drop a table here.", text: "Choose a class in the tool bar and paint on the stage." };
    if (!run) return { title: "", text: "" };
    if (state.tick <= 0 && !state.playing && this.store.length > 0) return { title: "Your table is on the stage. Press play.", text: state.note };
    if (state.tick < this.store.length) return stepWords(run, Math.ceil(state.tick - 1e-9));
    return statusWords(run);
  }

  /** @param {Story|null} story */
  updateChapters(story) {
    const { state } = this.store, key = story ? `${story.id}/${state.chapter}/${state.furthest}` : "";
    if (key === this.shownChapters) return;
    this.shownChapters = key;
    const focused = this.chapters.contains(document.activeElement);
    byId("chapters").hidden = !story;
    this.chapters.replaceChildren(...(story ? story.chapters.map((chapter, k) => {
      const node = button({ text: chapter.name, class: k < state.furthest ? "done" : "" }, () => this.actions.openChapter(k));
      if (k === state.chapter) node.setAttribute("aria-current", "step");
      return make("li", {}, node);
    }) : []));
    if (focused) /** @type {HTMLElement|null} */ (this.chapters.querySelector("[aria-current]"))?.focus();
  }

  /** @param {Story|null} story */
  updateAnswers(story) {
    const { state } = this.store, chapter = story?.chapters[state.chapter];
    const done = state.tick >= this.store.length && this.store.length > 0 && !state.playing;
    const key = story && chapter ? [story.id, state.chapter, state.guess, done, state.edited, state.solved.includes(story.id), this.differs(story), this.controlsKey(chapter)].join("/") : "table";
    if (key === this.shownAnswers) return;
    this.shownAnswers = key;
    const focused = this.answers.contains(document.activeElement) ? document.activeElement?.getAttribute("data-key") ?? "" : null;
    this.answers.replaceChildren(...(story && chapter ? this.answerNodes(story, chapter, done) : []));
    if (focused !== null) this.refocus(focused);
  }

  /**
   * Keep the focus in place when answers are rebuilt.
   * @param {string} key
   */
  refocus(key) {
    const same = key ? this.answers.querySelector(`[data-key="${CSS.escape(key)}"]`) : null;
    const next = same ?? this.answers.querySelector("button, input");
    if (next instanceof HTMLElement) next.focus();
    else byId("play").focus();
  }

  /**
   * @param {Story} story
   * @param {Chapter} chapter
   * @param {boolean} done
   * @returns {Node[]}
   */
  answerNodes(story, chapter, done) {
    const { state } = this.store;
    /** @type {Node[]} */
    const nodes = [];
    if (this.differs(story)) return nodes;
    if (chapter.id === "predict" && !(done && state.guess === null && chapter.at === "start")) {
      for (const choice of story.question.choices) {
        nodes.push(button({ class: "pill", text: choice.label, "aria-pressed": String(state.guess === choice.id), "data-key": choice.id }, () => {
          this.actions.guess(choice.id);
          this.toast(plain(choice.reply));
        }));
      }
      return nodes;
    }
    if (chapter.controls) nodes.push(...this.controlNodes(story, chapter.controls));
    const next = story.chapters[state.chapter + 1];
    if (next && (done || chapter.id !== "watch")) nodes.push(button({ class: "pill go", text: nextLabel(next), "data-key": "next" }, () => this.actions.openChapter(state.chapter + 1)));
    const following = STORIES[STORIES.indexOf(story) + 1];
    if (chapter.id === "challenge" && state.solved.includes(story.id) && following) nodes.push(button({ class: "pill go", text: `Next story: ${following.name}`, "data-key": "following" }, () => this.actions.openStory(following.id)));
    if (state.edited && (chapter.id === "break" || chapter.id === "challenge")) nodes.push(button({ class: "pill", text: "Reset the points", "data-key": "reset" }, () => this.actions.reset()));
    return nodes;
  }

  /**
   * The key of the controls.
   * @param {Chapter} chapter
   * @returns {string}
   */
  controlsKey(chapter) {
    const { state } = this.store, learner = state.learners[0];
    switch (chapter.controls) {
      case "order": return pointRows(state.points).join(";");
      case "lift": return learner.lift;
      case "kernel": return String(learner.gamma);
      case "gamma": return pointRows(state.points).slice(0, 2).join(";");
      default: return "";
    }
  }

  /**
   * @param {Story} story
   * @param {NonNullable<Chapter["controls"]>} controls
   * @returns {Node[]}
   */
  controlNodes(story, controls) {
    switch (controls) {
      case "gamma": return this.marginButtons(story);
      case "order": return [this.orderChips()];
      case "centre": return [this.centreSlider()];
      case "lift": return this.liftButtons();
      default: return this.kernelButtons();
    }
  }

  /**
   * @param {Story} story
   * @returns {Node[]}
   */
  marginButtons(story) {
    const { atMargin } = story, { state } = this.store;
    if (!atMargin) return [];
    const now = pointRows(state.points).join(";");
    return MARGINS.map((gamma) => {
      const rows = atMargin(gamma);
      return button({ class: "pill", text: `γ = ${num(gamma)}`, "aria-pressed": String(rows.join(";") === now), "data-key": `gamma ${gamma}` }, () => this.actions.replace(rows));
    });
  }

  /** @returns {Node} */
  orderChips() {
    const { points } = this.store.state, box = make("div", { class: "order", role: "group", "aria-label": "Order of visits: press a point to visit it first" });
    for (let i = 0; i < points.n; i++) {
      const plus = points.label[i] === 1;
      const node = button({ title: "Visit this point first", "aria-label": `Visit ${plus ? "blue" : "orange"} ${i + 1} first`, "data-key": `order ${i}` }, () => this.actions.visitFirst(i), icon(plus ? "i-plus" : "i-minus", plus ? "plus" : "minus"), make("span", { text: String(i + 1) }));
      box.append(node);
    }
    return box;
  }

  /** @returns {Node} */
  centreSlider() {
    const { learners } = this.store.state;
    const value = make("output", { text: num(learners[0].centre, 3) });
    const input = make("input", { type: "range", min: -3, max: 3, step: 0.05, value: learners[0].centre, "aria-label": "Centre μ of the map", "data-key": "centre" });
    input.addEventListener("input", () => {
      if (!this.store.before) this.store.begin();
      this.actions.setLearner(0, { centre: Number(input.value) });
      value.textContent = num(Number(input.value), 3);
    });
    input.addEventListener("change", () => this.store.commit());
    return make("label", { class: "slider" }, make("i", { text: "μ" }), input, value);
  }

  /** @returns {Node[]} */
  liftButtons() {
    const { learners } = this.store.state;
    /** @type {[LiftId, string][]} */
    const lifts = [["none", "x₁, x₂"], ["product", "x₁, x₂, x₁x₂"]];
    return lifts.map(([lift, text]) => button({ class: "pill", text, "aria-pressed": String(learners[0].lift === lift), "data-key": lift }, () => this.actions.setLearner(0, { lift })));
  }

  /** @returns {Node[]} */
  kernelButtons() {
    const learner = this.store.state.learners[0];
    return WIDTHS.map(([gamma, text]) => button({ class: "pill", text, "aria-pressed": String(learner.gamma === gamma), "data-key": text }, () => this.actions.setLearner(0, { gamma })));
  }
}

/**
 * Describe the edited points.
 * @param {import("../core/types.js").Derivation} run
 * @param {string[]} labels
 * @returns {{title: string, text: string}}
 */
function editedWords(run, labels) {
  const { title, why } = verdictWords(run, labels);
  return { title: /[.!?]$/.test(title) ? title : `${title}.`, text: /[.!?]$/.test(why) ? why : `${why}.` };
}

/**
 * @param {Chapter} chapter
 * @returns {string}
 */
function nextLabel(chapter) {
  switch (chapter.id) {
    case "watch": return "Watch it";
    case "why": return "Why?";
    case "break": return "Now break it";
    case "challenge": return "Take the challenge";
    default: return chapter.name;
  }
}
