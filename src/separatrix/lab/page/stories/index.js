/** The stories in the order of the shelf. */

import { FIVE_POINTS } from "./five_points.js";
import { NO_LINE } from "./no_line.js";
import { MARGIN } from "./margin.js";
import { WHICH_LINE } from "./which_line.js";
import { FAR_POINT } from "./far_point.js";
import { RUNS_OFF } from "./runs_off.js";
import { XOR } from "./xor.js";
import { INTERVAL } from "./interval.js";
import { RINGS } from "./rings.js";
import { OUTLIER } from "./outlier.js";

/** @typedef {import("../core/types.js").Story} Story */

/** @type {Story[]} */
export const STORIES = [FIVE_POINTS, NO_LINE, MARGIN, WHICH_LINE, FAR_POINT, RUNS_OFF, XOR, INTERVAL, RINGS, OUTLIER];

/** @param {string} id @returns {Story|null} */
export function storyById(id) {
  return STORIES.find((story) => story.id === id) ?? null;
}
