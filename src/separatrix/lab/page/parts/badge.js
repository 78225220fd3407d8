/**
 * The verdict badge: a glyph of the geometry, the verdict, the reason, and the button that
 * shows the proof.
 */

import { statusWords, verdictWords } from "../words/sentence.js";
import { byId, put, say } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../core/types.js").Derivation} Derivation */
/** @typedef {import("./voice.js").Voice} Voice */

const SECRET = { title: "Can a line separate them?", why: "The proof is ready. Make a guess first." };

export class Badge {
  /**
   * @param {Store} store
   * @param {Voice} voice
   */
  constructor(store, voice) {
    this.store = store;
    this.voice = voice;
    this.box = byId("verdict");
    this.glyph = byId("verdict-glyph");
    this.title = byId("verdict-title");
    this.reason = byId("verdict-reason");
    this.proof = byId("proof");
    this.proof.addEventListener("click", () => store.set({ proof: !store.state.proof }));
  }

  update() {
    const { run, state } = this.store;
    if (!run) return;
    const kind = run.verdict.kind, secret = this.store.hushed && kind === "overlap";
    const words = secret ? SECRET : verdictWords(run, state.labels);
    put(this.glyph, "href", secret ? "#v-empty" : `#${glyphOf(run)}`);
    say(this.title, words.title);
    say(this.reason, words.why);
    this.box.classList.toggle("unknown", kind === "empty" || kind === "undecided" || secret);
    const provable = !secret && Boolean(run.verdict.margin || run.verdict.witness || run.planeVerdict.witness);
    this.proof.hidden = !provable;
    put(this.proof, "aria-pressed", state.proof);
    say(this.proof, state.proof ? "Hide proof" : "Show proof");
    const ended = state.tick > 0 && state.tick >= this.store.length && state.held < 0;
    this.voice.speak(`${words.title}. ${words.why}.${ended ? ` ${statusWords(run).title}` : ""}`);
  }
}

/**
 * @param {Derivation} run
 * @returns {string}
 */
function glyphOf(run) {
  const { verdict, planeVerdict } = run;
  switch (verdict.kind) {
    case "separable": return "v-line";
    case "quasi": return "v-touch";
    case "overlap": return verdict.intercept || planeVerdict.kind === "overlap" && planeVerdict.intercept ? "v-none" : "v-origin";
    default: return "v-empty";
  }
}
