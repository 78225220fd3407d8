/**
 * Exports: link, PNG at twice the size, SVG, GIF of the run, trace and points as CSV,
 * certificates as JSON.
 */

import { certificates } from "../core/certificate.js";
import { pointsCsv, traceCsv } from "../core/csv.js";
import { encodeLink } from "../state/link.js";
import { makePoints, pointRows, samePoints } from "../core/points.js";
import { button, make } from "./dom.js";
import { encodeGif, quantise } from "./gif.js";
import { drawPicture, PICTURE } from "./picture.js";
import { SvgPen } from "./svg.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("../views/palette.js").Palette} Palette */
/** @typedef {import("./picture.js").Subject} Subject */

const GIF = { width: 840, height: 480, frames: 60, rest: 1500, longest: 12000 };

export class Carry {
  /**
   * @param {Subject} subject
   * @param {() => Palette} palette
   * @param {(text: string) => void} toast
   * @param {(tick: number) => void} showAt puts the stage at a tick, without easing
   */
  constructor(subject, palette, toast, showAt) {
    this.subject = subject;
    this.palette = palette;
    this.toast = toast;
    this.showAt = showAt;
  }

  get store() {
    return this.subject.store;
  }

  /** The name of files, from the story or the table. */
  get name() {
    const { state } = this.store, raw = state.story?.id ?? state.tableId ?? "lab";
    return `separatrix-${raw.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 40) || "lab"}`;
  }

  /**
   * The fragment that holds this state, or null where there are too many points.
   * @returns {string|null}
   */
  get fragment() {
    const { state } = this.store, own = state.story && samePoints(state.points, makePoints(state.story.points));
    return encodeLink({
      story: state.story?.id ?? "own", learners: state.learners, tick: Math.floor(state.tick + 1e-9), chapter: state.chapter,
      points: own ? null : pointRows(state.points), names: state.names, labels: state.labels,
    });
  }

  async copyLink() {
    const { fragment } = this, base = globalThis.location.href.split("#")[0];
    if (fragment === null) {
      this.toast("There are too many points for a link. Save them as a file instead.");
      return;
    }
    const link = (base.startsWith("about:") ? "" : base) + fragment;
    try {
      globalThis.history.replaceState(null, "", fragment);
    } catch {
      // an embedded page has no address of its own
    }
    try {
      await navigator.clipboard.writeText(link);
      this.toast("The link to this state is copied.");
    } catch {
      this.toast(link.length < 300 ? link : "The link is in the address bar; the browser did not allow copying it.");
    }
  }

  /**
   * Save a file.
   * @param {Blob} blob
   * @param {string} ending
   */
  save(blob, ending) {
    const link = make("a", { href: URL.createObjectURL(blob), download: `${this.name}${ending}` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    this.toast(`Saved ${this.name}${ending}.`);
  }

  /** @param {number} scale @returns {HTMLCanvasElement} */
  canvas(scale) {
    const canvas = make("canvas");
    canvas.width = Math.round(PICTURE.width * scale);
    canvas.height = Math.round(PICTURE.height * scale);
    const pen = canvas.getContext("2d");
    if (!pen) throw new Error("this browser has no 2-D canvas");
    pen.scale(scale, scale);
    drawPicture(pen, this.palette(), this.subject);
    return canvas;
  }

  savePng() {
    this.canvas(2).toBlob((blob) => blob && this.save(blob, ".png"), "image/png");
  }

  saveSvg() {
    const ruler = make("canvas").getContext("2d");
    if (!ruler) return;
    const pen = new SvgPen(PICTURE.width, PICTURE.height, ruler);
    drawPicture(/** @type {any} */ (pen), this.palette(), this.subject);
    this.save(new Blob([pen.finish(this.store.run ? this.store.run.learner.kind : "lab")], { type: "image/svg+xml" }), ".svg");
  }

  /** Render the run tick by tick, yielding to the page between frames. */
  async saveGif() {
    const { store } = this, length = store.length, before = { tick: store.state.tick, pinned: store.state.pinned };
    const count = Math.max(2, Math.min(GIF.frames, length + 1)), scale = GIF.width / PICTURE.width;
    const palette = colourTable(this.palette()), cache = new Map();
    /** @type {Uint8Array[]} */
    const frames = [];
    /** @type {number[]} */
    const delays = [];
    this.toast("Making the GIF …");
    store.set({ playing: false });
    for (let k = 0; k < count; k++) {
      this.showAt(Math.round((length * k) / (count - 1)));
      const canvas = this.canvas(scale), pen = canvas.getContext("2d");
      if (!pen) return;
      frames.push(quantise(pen.getImageData(0, 0, canvas.width, canvas.height).data, palette, cache));
      delays.push(k === count - 1 ? GIF.rest : Math.min(500, Math.max(60, GIF.longest / count)));
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    this.showAt(before.tick);
    store.set(before);
    const size = { width: Math.round(PICTURE.width * scale), height: Math.round(PICTURE.height * scale) };
    this.save(new Blob([/** @type {BlobPart} */ (encodeGif(size.width, size.height, palette, frames, delays))], { type: "image/gif" }), ".gif");
  }

  saveTrace() {
    const { run } = this.store;
    if (run) this.save(new Blob([traceCsv(run)], { type: "text/csv" }), "-trace.csv");
  }

  savePoints() {
    const { state } = this.store;
    this.save(new Blob([pointsCsv(state.points, state.names.length ? state.names : undefined, state.labels.length ? state.labels : undefined)], { type: "text/csv" }), "-points.csv");
  }

  /** The certificates of the present run. */
  get certificates() {
    const { run, state } = this.store;
    return run ? certificates(run, state.labels.length ? state.labels : undefined) : [];
  }

  /** @param {string} name */
  saveCertificate(name) {
    const found = this.certificates.find((each) => each.name === `${name}.json`);
    if (found) this.save(new Blob([JSON.stringify(found.json, null, 2)], { type: "application/json" }), `-${name}.json`);
  }

  /** @returns {import("./drawer.js").Section} */
  section() {
    /** @type {[string, () => void][]} */
    const files = [
      ["Copy link", () => void this.copyLink()], ["Picture (PNG)", () => this.savePng()], ["Picture (SVG)", () => this.saveSvg()],
      ["Run (GIF)", () => void this.saveGif()], ["Trace (CSV)", () => this.saveTrace()], ["Points (CSV)", () => this.savePoints()],
    ];
    const names = () => this.certificates.map((each) => each.name.replace(/\.json$/, ""));
    const key = () => {
      const { run } = this.store;
      return run ? [run.learner.kind, run.verdict.kind, run.trace.done, run.bound.exists, run.points.n > 0].join() : "";
    };
    return {
      id: "carry",
      name: "Save and share",
      key,
      build: () => [
        make("p", { text: "The link holds the whole state." }),
        make("div", { class: "buttons" }, ...files.map(([text, action]) => button({ class: "button", text, "data-key": text }, action))),
        make("p", { text: "A certificate can be checked by anyone, with the points and “separatrix verify”." }),
        make("div", { class: "buttons" }, ...names().map((name) => button({ class: "button", text: `Certificate: ${name}`, "data-key": name }, () => this.saveCertificate(name)))),
      ],
    };
  }
}

/**
 * Colours of a GIF: the tokens, and blends of each with the backgrounds for smooth edges.
 * @param {Palette} palette
 * @returns {Uint8Array}
 */
function colourTable(palette) {
  /** @param {string} text @returns {number[]} */
  const rgb = (text) => (text.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
  const grounds = ["paper", "card", "plus-tint", "minus-tint", "proof-tint"], marks = ["ink", "soft", "edge", "hair", "plus", "minus", "third", "proof", "proof-mid"];
  /** @type {number[][]} */
  const all = grounds.map((token) => rgb(/** @type {any} */ (palette)[token]));
  for (const token of marks) {
    const colour = rgb(/** @type {any} */ (palette)[token]);
    all.push(colour);
    for (const ground of grounds.slice(0, 5)) for (const share of [0.2, 0.4, 0.6, 0.8]) all.push(colour.map((value, k) => Math.round(value * share + rgb(/** @type {any} */ (palette)[ground])[k] * (1 - share))));
  }
  return Uint8Array.from(all.slice(0, 256).flat());
}
