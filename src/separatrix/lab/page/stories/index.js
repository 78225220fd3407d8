/** The stories in the order of the shelf. */

import { FIVE_POINTS } from "./five_points.js";
import { NO_LINE } from "./no_line.js";
import { MARGIN } from "./margin.js";

/** @typedef {import("../core/types.js").Story} Story */

/** @type {Story[]} */
export const STORIES = [FIVE_POINTS, NO_LINE, MARGIN];

/** @param {string} id @returns {Story|null} */
export function storyById(id) {
  return STORIES.find((story) => story.id === id) ?? null;
}
