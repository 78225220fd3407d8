/**
 * Time: how long a tick takes on stage, and the position of the run after some milliseconds.
 *
 * A mistake takes 1.25 s at speed 1 (first the row is shown, then it is added to w), a right
 * visit 0.34 s. Long runs are hurried so that none takes more than half a minute.
 */

import { nextMistake, previousMistake } from "../core/derive.js";

/** @typedef {import("../core/types.js").Trace} Trace */

const MISTAKE = 1250;
const VISIT = 340;
const SHOW = 0.35;
const LONGEST = 30000;

export const SPEEDS = [0.5, 1, 2, 4, 16];

/**
 * Smooth step from 0 to 1.
 * @param {number} t
 * @returns {number}
 */
function ease(t) {
  if (t <= 0) return 0;
  return t >= 1 ? 1 : t * t * (3 - 2 * t);
}

/**
 * Duration of one tick in milliseconds at speed 1.
 * @param {Trace} trace
 * @param {number} tick
 * @returns {number}
 */
function duration(trace, tick) {
  if (!trace.byRow) return VISIT;
  return trace.wrong[tick] ? MISTAKE : VISIT;
}

/**
 * Factor that brings a run under the longest time.
 * @param {Trace} trace
 * @returns {number}
 */
function hurry(trace) {
  const mistakes = trace.byRow ? trace.updates : 0;
  const whole = mistakes * MISTAKE + Math.max(0, trace.length - mistakes) * VISIT;
  return Math.max(1, whole / LONGEST);
}

/**
 * The position after some time.
 * @param {Trace} trace
 * @param {number} tick may be fractional
 * @param {number} milliseconds
 * @param {number} speed
 * @returns {number}
 */
export function moveOn(trace, tick, milliseconds, speed) {
  let left = milliseconds * speed * hurry(trace);
  let at = tick;
  while (left > 0 && at < trace.length) {
    const whole = Math.floor(at + 1e-9);
    const takes = duration(trace, whole);
    const rest = (whole + 1 - at) * takes;
    if (rest > left) return at + left / takes;
    left -= rest;
    at = whole + 1;
  }
  return Math.min(at, trace.length);
}

/**
 * @typedef {object} Moment where a run is
 * @property {number} done whole ticks behind us
 * @property {number} share part of the tick under way, 0 to 1
 * @property {boolean} wrong whether the tick under way is a mistake
 * @property {number} row row of the tick under way, or of the last one; −1 if none
 * @property {number} updates mistakes so far, with a fraction while one happens
 * @property {number} blended tick to ask weights for
 */

/**
 * Describe a position of the clock.
 * @param {Trace} trace
 * @param {number} tick
 * @returns {Moment}
 */
export function momentAt(trace, tick) {
  const at = Math.max(0, Math.min(tick, trace.length));
  const done = Math.floor(at + 1e-9);
  const share = at - done > 1e-9 ? at - done : 0;
  const current = share > 0 ? done : done - 1;
  const wrong = current >= 0 && trace.byRow && trace.wrong[current] === 1;
  const added = share > 0 ? ease(wrong ? (share - SHOW) / (1 - SHOW) : share) : 0;
  const behind = done > 0 ? trace.version[done - 1] : 0;
  const grows = share > 0 && trace.version[done] > behind;
  return {
    done,
    share,
    wrong,
    row: current >= 0 ? trace.row[current] : -1,
    updates: behind + (grows ? added : 0),
    blended: done + added,
  };
}

/**
 * Whole positions to which the step buttons go.
 * @param {Trace} trace
 * @param {number} tick
 * @param {"visit"|"mistake"} unit
 * @param {1|-1} direction
 * @returns {number}
 */
export function stepFrom(trace, tick, unit, direction) {
  const at = Math.min(tick, trace.length);
  if (unit === "mistake" && trace.byRow) return direction > 0 ? nextMistake(trace, Math.floor(at + 1e-9)) : previousMistake(trace, Math.ceil(at - 1e-9));
  const next = direction > 0 ? Math.floor(at + 1e-9) + 1 : Math.ceil(at - 1e-9) - 1;
  return Math.max(0, Math.min(trace.length, next));
}
