/** The verdict of lifted rows: of one or two columns by geometry, of more by exact arithmetic on small data. */

import { judge, noVerdict } from "./verdict.js";
import { widestMargin } from "./bound.js";
import { dotSign } from "./exact.js";
import { fromColumns } from "./points.js";
import { decideRays, integerRays } from "./rays.js";

/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./types.js").Verdict} Verdict */

const MOST_EXACT = 1000;

/**
 * @param {Features} features
 * @param {boolean} intercept
 * @returns {Verdict}
 */
export function judgeFeatures(features, intercept) {
  if (features.p <= 2) return judge(asPoints(features), intercept);
  const virtual = intercept ? 1 : 0;
  const found = widestMargin(features, virtual);
  if (found && separatesExactly(features, found.w, virtual)) {
    return { ...noVerdict(intercept), kind: oneClass(features, "separable", intercept), direction: found.w };
  }
  if (features.n > MOST_EXACT) return noVerdict(intercept);
  const proof = decideRays(integerRays(features, intercept), features.p + virtual);
  return { ...noVerdict(intercept), kind: oneClass(features, proof.kind, intercept), left: proof.left };
}

/** @param {Features} features @param {Verdict["kind"]} kind @param {boolean} intercept @returns {Verdict["kind"]} */
function oneClass(features, kind, intercept) {
  if (!features.n) return "empty";
  return intercept && features.signs.every((sign) => sign === features.signs[0]) ? "one class" : kind;
}

/** Return features of one or two columns as points. @param {Features} features */
export function asPoints(features) {
  const { n, p, values, signs } = features;
  const x1 = Float64Array.from({ length: n }, (_, i) => values[i * p]);
  const x2 = Float64Array.from({ length: n }, (_, i) => (p > 1 ? values[i * p + 1] : 0));
  return fromColumns(x1, x2, Int8Array.from(signs));
}

/** @param {Features} features @param {Float64Array} w @param {number} virtual */
function separatesExactly(features, w, virtual) {
  const row = new Float64Array(features.p + virtual);
  for (let i = 0; i < features.n; i++) {
    if (virtual) row[0] = 1;
    for (let j = 0; j < features.p; j++) row[virtual + j] = features.values[i * features.p + j];
    if (dotSign(row, w) !== features.signs[i]) return false;
  }
  return true;
}
