/** Reads the golden files, whose floats are hexadecimal texts. */

import { readFileSync } from "node:fs";

import { defaults } from "../../src/separatrix/lab/page/core/learners.js";
import { makePoints } from "../../src/separatrix/lab/page/core/points.js";

/** Return a float of a hexadecimal text such as -0x1.8p+3. */
export function fromHex(text) {
  const [, sign, whole, part, exponent] = /^(-?)0x([01])(?:\.([0-9a-f]+))?p([+-]\d+)$/.exec(text);
  const digits = (part ?? "").padEnd(13, "0");
  const mantissa = Number(BigInt(`0x${whole}${digits}`));
  const power = Number(exponent) - 52;
  const value = power < -1000 ? mantissa * 2 ** -1000 * 2 ** (power + 1000) : mantissa * 2 ** power;
  return sign ? -value : value;
}

export function read(name) {
  return JSON.parse(readFileSync(new URL(`../golden/lab/${name}.json`, import.meta.url), "utf8"));
}

const SETS = new Map(read("data").map(({ name, points }) => [name, points.map(([a, b, label]) => [fromHex(a), fromHex(b), label])]));

export function pointsOf(testCase) {
  return makePoints(testCase.points ?? SETS.get(testCase.data));
}

export function learnerOf(testCase) {
  const { kind, draws, start, intercept, ...options } = testCase.learner;
  const learner = defaults(kind, options);
  if (intercept !== undefined) learner.intercept = intercept;
  if (draws) learner.draws = Int32Array.from(draws);
  if (start) learner.start = learner.intercept ? start : start.slice(-2);
  return learner;
}

export function label(testCase) {
  const { draws, ...learner } = testCase.learner;
  return `${testCase.data ?? "points"} ${JSON.stringify(learner)}`;
}

export function setNames() {
  return [...SETS.keys()];
}
