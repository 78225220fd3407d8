/**
 * Which row is visited at a tick: in turn, drawn at random, or shuffled in each pass.
 *
 * The page's own draws come from a small seeded generator (Mulberry32); a recorded order of the library is replayed.
 */

/** @typedef {import("./types.js").Learner} Learner */

/** Return a generator of numbers in [0, 1). @param {number} seed */
export function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Return 0 … n − 1 in random order. @param {number} n @param {() => number} random */
export function shuffled(n, random) {
  const rows = Int32Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [rows[i], rows[j]] = [rows[j], rows[i]];
  }
  return rows;
}

/**
 * Return a function from ticks to rows; ticks must be passed in turn. A replayed order gives −1 at its end.
 * @param {Pick<Learner, "order"|"seed"|"draws">} learner
 * @param {number} n
 * @returns {{row: (tick: number) => number}}
 */
export function makeOrder(learner, n) {
  if (learner.order === "cyclic") return { row: (tick) => tick % n };
  const { draws } = learner;
  if (draws) return { row: (tick) => (tick < draws.length ? draws[tick] : -1) };
  const random = makeRandom(learner.seed);
  if (learner.order === "random") return { row: () => Math.min(n - 1, Math.floor(random() * n)) };
  let pass = new Int32Array(0);
  return {
    row: (tick) => {
      if (tick % n === 0) pass = shuffled(n, random);
      return pass[tick % n];
    },
  };
}
