/**
 * Values that follow their targets: exponentially, or at once where motion is not wanted.
 */

export const TURN = 55; // milliseconds: boundary
export const GLIDE = 110; // overlays and cameras

/**
 * Move a number towards its target.
 * @param {number} from
 * @param {number} to
 * @param {number} milliseconds
 * @param {number} time constant of the approach; 0 jumps
 * @returns {number}
 */
function approach(from, to, milliseconds, time) {
  if (time <= 0 || !Number.isFinite(from) || !Number.isFinite(to)) return to;
  const next = to + (from - to) * Math.exp(-milliseconds / time);
  return Math.abs(next - to) <= 1e-3 * Math.max(1e-6, Math.abs(to)) + 1e-9 ? to : next;
}

/**
 * Move a vector towards its target, in place.
 * @param {Float64Array} from
 * @param {Float64Array} to
 * @param {number} milliseconds
 * @param {number} time
 * @returns {boolean} whether it still moves
 */
export function approachVector(from, to, milliseconds, time) {
  const keep = time > 0 ? Math.exp(-milliseconds / time) : 0;
  let size = 0, left = 0;
  for (let k = 0; k < to.length; k++) {
    from[k] = to[k] + (from[k] - to[k]) * keep;
    size = Math.max(size, Math.abs(to[k]));
    left = Math.max(left, Math.abs(from[k] - to[k]));
  }
  if (left > 2e-3 * size + 1e-12) return true;
  from.set(to);
  return false;
}

/**
 * Named numbers that follow their targets together.
 * @template {string} K
 */
export class Glide {
  /** @param {Record<K, number>} start */
  constructor(start) {
    this.now = { ...start };
    this.goal = { ...start };
  }

  /**
   * @param {Partial<Record<K, number>>} goal
   */
  aim(goal) {
    Object.assign(this.goal, goal);
  }

  /**
   * @param {number} milliseconds
   * @param {number} time
   * @returns {boolean} whether anything moved
   */
  step(milliseconds, time) {
    let moved = false;
    for (const name of /** @type {K[]} */ (Object.keys(this.goal))) {
      const next = approach(this.now[name], this.goal[name], milliseconds, time);
      if (next !== this.now[name]) moved = true;
      this.now[name] = next;
    }
    return moved;
  }
}
