/**
 * The whole state in the fragment of a link: `#v1;story;learner+learner;tick;chapter;points;names;labels`.
 *
 * A learner is its kind and the options that differ from its usual ones; points are there only if they differ from the
 * story's, as tenths in base 36 where they are tenths. Reading is strict: one pattern per field, every option within
 * its limits, a limited number of points; any other link is rejected. Names and labels are percent-encoded text.
 */

import { OPTIONS, checkLearner, checkOption, defaults } from "../core/learners.js";
import { snap } from "../core/points.js";
import { storyById } from "../stories/index.js";
import { counted, num } from "../words/number.js";

/** @typedef {import("../core/types.js").LinkState} LinkState */
/** @typedef {import("../core/types.js").Learner} Learner */
/** @typedef {import("../core/types.js").Kind} Kind */
/** @typedef {import("../core/types.js").OptionField} OptionField */
/** @typedef {{ok: true, state: LinkState}|{ok: false, reason: "none"|"newer"|"broken", message: string}} Decoded */

const OWN = "own";
const VERSION = 1;
const LONGEST = 65536;
const MOST_POINTS = 2000;
const MOST_PANES = 4;
const MOST_TICKS = 4000000;
const LAST_CHAPTER = 4;
const LARGEST = 1e12;
const LONGEST_NAME = 80;
const NUMBER = /^-?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?$/;
const WHOLE = /^\d{1,7}$/;
const TENTHS = /^([pmt])(-?[0-9a-z]{1,9})_(-?[0-9a-z]{1,9})$/;
const FLOATS = /^([pmt])(-?[0-9.e+-]{1,28})_(-?[0-9.e+-]{1,28})$/;
/** @type {Record<string, number>} */
const LABELS = { p: 1, m: -1, t: 2 };

/**
 * Return the fragment of a link; null if there are too many points for one.
 * @param {LinkState} state
 * @returns {string|null}
 */
export function encodeLink(state) {
  if (state.points && state.points.length > MOST_POINTS) return null;
  const learners = state.learners.slice(0, MOST_PANES).map(learnerText).join("+");
  const own = state.story === OWN;
  const fields = [`#v${VERSION}`, state.story, learners, String(Math.round(state.tick)), String(state.chapter), state.points ? pointsText(state.points) : "", own ? state.names.map(nameText).join(",") : "", own ? state.labels.map(nameText).join(",") : ""];
  const link = fields.join(";").replace(/;+$/, "");
  return link.length > LONGEST ? null : link;
}

/** @param {Learner} learner */
function learnerText(learner) {
  const usual = values(defaults(learner.kind));
  const given = values(learner);
  const options = OPTIONS[learner.kind]
    .filter(({ name }) => JSON.stringify(given[name]) !== JSON.stringify(usual[name]))
    .map((field) => `${field.name}=${optionText(field, given[field.name])}`);
  return [learner.kind, ...options].join(",");
}

/** @param {Learner} learner @returns {Record<string, unknown>} */
function values(learner) {
  return /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (learner));
}

/** @param {OptionField} field @param {unknown} value */
function optionText(field, value) {
  if (field.type === "flag") return value ? "1" : "0";
  if (field.type === "vector") return value ? /** @type {number[]} */ (value).map(String).join("_") : "";
  return String(value).replace("e+", "e");
}

/** @param {[number, number, number][]} points */
function pointsText(points) {
  const tenths = points.every(([x, y]) => snap(x) === x && snap(y) === y && Math.abs(x) < 1e8 && Math.abs(y) < 1e8);
  const text = points.map(([x, y, label]) => {
    const mark = label === 1 ? "p" : label === -1 ? "m" : "t";
    return tenths ? `${mark}${Math.round(x * 10).toString(36)}_${Math.round(y * 10).toString(36)}` : `${mark}${plainNumber(x)}_${plainNumber(y)}`;
  });
  return `${tenths ? "a" : "f"}${text.join("~")}`;
}

/** @param {number} x */
function plainNumber(x) {
  return String(x).replace("e+", "e");
}

/** Percent-encode a name, commas and other characters that could end a field included. @param {string} name */
function nameText(name) {
  const short = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 16)}…${name.slice(-15)}` : name; // its end may be "(standardised)"
  const whole = [...short].filter((letter) => !/^[\ud800-\udfff]$/.test(letter)).join("");
  return encodeURIComponent(whole).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Read the fragment of a link.
 * @param {string} hash
 * @returns {Decoded}
 */
export function decodeLink(hash) {
  if (hash === "" || hash === "#") return { ok: false, reason: "none", message: "" };
  const version = /^#v(\d{1,6})(?:;|$)/.exec(hash);
  if (!version) return broken("it does not begin with a version");
  if (Number(version[1]) > VERSION) {
    return { ok: false, reason: "newer", message: `This link was made by a newer lab (version ${Number(version[1])}; this is version ${VERSION}). Update separatrix to open it.` };
  }
  if (hash.length > LONGEST) return broken("it is too long");
  try {
    return { ok: true, state: readFields(hash.split(";")) };
  } catch (problem) {
    return broken(problem instanceof LinkError ? problem.message : "it cannot be read");
  }
}

class LinkError extends Error {}

/** @param {string} why @returns {Decoded} */
function broken(why) {
  return { ok: false, reason: "broken", message: `This link is damaged: ${why}. Here is the first story instead.` };
}

/** @param {string[]} fields @returns {LinkState} */
function readFields(fields) {
  if (fields.length < 3 || fields.length > 8) throw new LinkError(`it has ${counted(fields.length, "field")}`);
  const [, story, learners, tick = "0", chapter = "0", points = "", names = "", labels = ""] = fields;
  const own = story === OWN;
  if (!own && !storyById(story)) throw new LinkError("it names a story that does not exist");
  const panes = learners.split("+");
  if (panes.length > MOST_PANES) throw new LinkError(`it has ${counted(panes.length, "learner")}`);
  const rows = points ? readPoints(points) : null;
  if (own && !rows) throw new LinkError("its points are missing");
  return {
    story,
    learners: panes.map(readLearner),
    tick: whole(tick, MOST_TICKS, "visit"),
    chapter: whole(chapter, LAST_CHAPTER, "chapter"),
    points: rows,
    names: own && names ? readNames(names, 2) : [],
    labels: own && labels ? readNames(labels, 3) : [],
  };
}

/** @param {string} text @param {number} most @param {string} what */
function whole(text, most, what) {
  if (!WHOLE.test(text) || Number(text) > most) throw new LinkError(`its ${what} is not a number up to ${num(most)}`);
  return Number(text);
}

/** @param {string} text @returns {Learner} */
function readLearner(text) {
  const [kind, ...options] = text.split(",");
  if (!Object.hasOwn(OPTIONS, kind)) throw new LinkError("it names a learner that does not exist");
  const learner = defaults(/** @type {Kind} */ (kind));
  const fields = OPTIONS[/** @type {Kind} */ (kind)];
  for (const option of options) {
    const [name, value, ...more] = option.split("=");
    const field = fields.find((each) => each.name === name);
    if (!field || value === undefined || more.length) throw new LinkError("it has an option that does not exist");
    const read = readOption(field, value);
    if (checkOption(field, read)) throw new LinkError("it has an option out of range");
    values(learner)[field.name] = read;
  }
  if (checkLearner(learner)) throw new LinkError("its options do not go together");
  return learner;
}

/** @param {OptionField} field @param {string} text @returns {unknown} */
function readOption(field, text) {
  if (field.type === "flag") return text === "1" ? true : text === "0" ? false : undefined;
  if (field.type === "choice") return text;
  if (field.type === "vector") return text === "" ? null : text.split("_").map(readNumber);
  return readNumber(text);
}

/** @param {string} text */
function readNumber(text) {
  if (!NUMBER.test(text)) throw new LinkError("it has a number that cannot be read");
  return Number(text);
}

/** @param {string} text @returns {[number, number, number][]} */
function readPoints(text) {
  const tenths = text[0] === "a";
  if (!tenths && text[0] !== "f") throw new LinkError("its points cannot be read");
  const rows = text.slice(1).split("~");
  if (rows.length > MOST_POINTS) throw new LinkError(`it has more than ${num(MOST_POINTS)} points`);
  if (rows.length === 1 && rows[0] === "") return [];
  return rows.map((row) => {
    const match = (tenths ? TENTHS : FLOATS).exec(row);
    if (!match) throw new LinkError("a point cannot be read");
    const x = tenths ? parseInt(match[2], 36) / 10 : readNumber(match[2]);
    const y = tenths ? parseInt(match[3], 36) / 10 : readNumber(match[3]);
    if (!(Math.abs(x) <= LARGEST && Math.abs(y) <= LARGEST)) throw new LinkError("a point is out of range");
    return [x + 0, y + 0, LABELS[match[1]]];
  });
}

/** @param {string} text @param {number} most */
function readNames(text, most) {
  const names = text.split(",").map((name) => decodeURIComponent(name));
  if (names.length > most || names.some((name) => name.length > LONGEST_NAME)) throw new LinkError("its names are too long");
  return names;
}
