/** The verdict of lifted rows: of one or two columns by geometry, of more by exact arithmetic on small data. */

import { judge, noVerdict } from "./verdict.js";
import { widestMargin } from "./bound.js";
import { dotSign } from "./exact.js";
import { fromColumns } from "./points.js";

/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./types.js").Verdict} Verdict */

/**
 * @param {Features} features
 * @param {boolean} intercept
 * @returns {Verdict}
 */
export function judgeFeatures(features, intercept) {
  if (features.p <= 2) return judge(asPoints(features), intercept);
  const virtual = intercept ? 1 : 0;
  const found = widestMargin(features, virtual);
  if (found && separatesExactly(features, found.w, virtual)) return { ...noVerdict(intercept), kind: "separable", direction: found.w };
  return noVerdict(intercept);
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
