/** Kernels of the plane: the similarity of two places. */

/** @typedef {import("./types.js").Learner} Learner */

/**
 * Return k(x, z): exp(−γ‖x − z‖²), (γ x·z + shift)^degree, or x·z.
 * @param {Pick<Learner, "kernel"|"gamma"|"degree"|"shift">} learner
 * @param {number} x1 @param {number} x2 @param {number} z1 @param {number} z2
 */
export function kernelValue(learner, x1, x2, z1, z2) {
  if (learner.kernel === "rbf") {
    return Math.exp(-learner.gamma * ((x1 - z1) * (x1 - z1) + (x2 - z2) * (x2 - z2)));
  }
  const product = x1 * z1 + x2 * z2;
  return learner.kernel === "linear" ? product : (learner.gamma * product + learner.shift) ** learner.degree;
}
