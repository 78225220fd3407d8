/** Functions of all stories: the five chapters and how far the points have been changed. */

import { countChanged, makePoints, pointRows } from "../core/points.js";

/** @typedef {import("../core/types.js").Chapter} Chapter */
/** @typedef {import("../core/types.js").StoryState} StoryState */
/** @typedef {import("../core/types.js").Story} Story */

const NAMES = { predict: "Predict", watch: "Watch", why: "Why", break: "Break it", challenge: "Challenge" };

/**
 * @param {Chapter["id"]} id
 * @param {Chapter["at"]} at
 * @param {Chapter["say"]} say
 * @param {Partial<Chapter>} [more]
 * @returns {Chapter}
 */
export function chapter(id, at, say, more = {}) {
  return { id, name: NAMES[id], at, say, ...more };
}

/** Return a chapter that always says the same. @param {string} title @param {string} text @returns {Chapter["say"]} */
export function fixed(title, text) {
  return () => ({ title, text });
}

/** Return how many of a story's points have been moved or flipped; Infinity if some were added or removed. @param {StoryState} state @param {[number, number, number][]} rows */
export function changes(state, rows) {
  return countChanged(state.points, makePoints(rows));
}

/** Return whether the clock is at the end of a finished run. @param {StoryState} state */
export function atEnd(state) {
  const { trace } = state.runs[0];
  return trace.done && state.tick >= trace.length - 1e-9;
}

/** Return whether the points are a story's own, in any order. @param {StoryState} state @param {[number, number, number][]} rows */
export function sameRows(state, rows) {
  const key = (/** @type {[number, number, number][]} */ some) => some.map((row) => row.join()).sort().join(";");
  return key(pointRows(state.points)) === key(rows);
}
