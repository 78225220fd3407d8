/**
 * Feature maps of the plane. The floats are those of `sx.maps`.
 *
 *     none       x1, x2                          distance   (x1 − μ)²
 *     rings      x1, x2, x1² + x2²               product    x1, x2, x1·x2
 *     degree2    x1, x2, x1², x1·x2, x2²
 */

/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("./types.js").Learner} Learner */
/** @typedef {import("./types.js").Features} Features */
/** @typedef {import("./types.js").LiftId} LiftId */

/** @type {{id: LiftId, name: string, columns: string[]}[]} */
export const LIFTS = [
  { id: "none", name: "x₁, x₂", columns: ["x1", "x2"] },
  { id: "distance", name: "(x₁ − μ)²", columns: ["(x1 - mu)^2"] },
  { id: "rings", name: "x₁, x₂, x₁² + x₂²", columns: ["x1", "x2", "x1^2 + x2^2"] },
  { id: "product", name: "x₁, x₂, x₁x₂", columns: ["x1", "x2", "x1 x2"] },
  { id: "degree2", name: "all products up to degree 2", columns: ["x1", "x2", "x1^2", "x1 x2", "x2^2"] },
];

/** @param {LiftId} id @returns {string[]} */
function liftColumns(id) {
  return (LIFTS.find((lift) => lift.id === id) ?? LIFTS[0]).columns;
}

/**
 * Write the features of a place from `at` on; return how many.
 * @param {Pick<Learner, "lift"|"centre">} learner @param {number} x1 @param {number} x2
 * @param {Float64Array} out @param {number} [at]
 */
export function liftPoint(learner, x1, x2, out, at = 0) {
  switch (learner.lift) {
    case "distance":
      out[at] = (x1 - learner.centre) * (x1 - learner.centre);
      return 1;
    case "rings":
      out[at] = x1;
      out[at + 1] = x2;
      out[at + 2] = x1 * x1 + x2 * x2;
      return 3;
    case "product":
      out[at] = x1;
      out[at + 1] = x2;
      out[at + 2] = x1 * x2;
      return 3;
    case "degree2":
      out[at] = x1;
      out[at + 1] = x2;
      out[at + 2] = x1 * x1;
      out[at + 3] = x1 * x2;
      out[at + 4] = x2 * x2;
      return 5;
    default:
      out[at] = x1;
      out[at + 1] = x2;
      return 2;
  }
}

/**
 * Return the rows as a learner sees them.
 * @param {Points} points
 * @param {Pick<Learner, "lift"|"centre">} learner
 * @returns {Features}
 */
export function lift(points, learner) {
  const names = liftColumns(learner.lift);
  const p = names.length;
  const values = new Float64Array(points.n * p);
  const signs = new Float64Array(points.n);
  for (let i = 0; i < points.n; i++) {
    liftPoint(learner, points.x1[i], points.x2[i], values, i * p);
    signs[i] = points.label[i] === 1 ? 1 : -1;
  }
  return { n: points.n, p, values, signs, names };
}
