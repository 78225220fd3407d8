/** A learner's model at one moment, evaluated at any place of the plane. */

import { liftPoint } from "./lift.js";
import { kernelValue } from "./kernels.js";

/** @typedef {import("./types.js").Model} Model */

const room = new Float64Array(8);

/**
 * Return the score of a place, above 0 for +; of a vote the mean vote.
 * @param {Model} model @param {number} x1 @param {number} x2
 * @returns {number}
 */
export function score(model, x1, x2) {
  if (model.shape === "none") return 0;
  if (model.shape === "kernel") return kernelScore(model, x1, x2);
  if (model.shape === "softmax") {
    scores3(model, x1, x2, room3);
    return room3[1] - Math.max(room3[0], room3[2]);
  }
  if (model.shape === "vote") return voteScore(model, x1, x2);
  return linearScore(model, model.w, 0, x1, x2);
}

const room3 = new Float64Array(3);

/** @param {Model} model @param {Float64Array} w @param {number} at @param {number} x1 @param {number} x2 */
function linearScore(model, w, at, x1, x2) {
  const p = liftPoint(model.learner, x1, x2, room);
  const virtual = model.learner.intercept ? 1 : 0;
  let total = 0;
  for (let j = 0; j < p; j++) total += room[j] * w[at + virtual + j];
  return virtual ? total + w[at] : total;
}

/** @param {Model} model @param {number} x1 @param {number} x2 */
function voteScore(model, x1, x2) {
  const { voters, counts } = model;
  if (!voters || !counts) return 0;
  const p = voters.length / counts.length;
  let votes = 0;
  let total = 0;
  for (let k = 0; k < counts.length; k++) {
    const value = linearScore(model, voters, k * p, x1, x2);
    const positive = model.learner.tie === "negative" ? value > 0 : value >= 0;
    votes += positive ? counts[k] : -counts[k];
    total += counts[k];
  }
  return votes / total;
}

/** @param {Model} model @param {number} x1 @param {number} x2 */
function kernelScore(model, x1, x2) {
  const { points, alpha, learner } = model;
  if (!points || !alpha) return 0;
  const constant = learner.intercept ? 1 : 0;
  let total = 0;
  for (let i = 0; i < points.n; i++) {
    if (!alpha[i]) continue;
    const like = kernelValue(learner, points.x1[i], points.x2[i], x1, x2) + constant;
    total += alpha[i] * (points.label[i] === 1 ? 1 : -1) * like;
  }
  return total;
}

/**
 * Write the softmax scores of the classes −, + and third.
 * @param {Model} model @param {number} x1 @param {number} x2 @param {Float64Array} out
 */
export function scores3(model, x1, x2, out) {
  const p = model.w.length / 3;
  for (let k = 0; k < 3; k++) {
    out[k] = model.alpha && !model.alpha[k] ? -Infinity : linearScore(model, model.w, k * p, x1, x2);
  }
}

/**
 * Return the label that the model predicts: +1, −1 or 2.
 * @param {Model} model @param {number} x1 @param {number} x2
 */
export function predict(model, x1, x2) {
  if (model.shape === "softmax") {
    scores3(model, x1, x2, room3);
    if (room3[2] > room3[0] && room3[2] > room3[1]) return 2;
    return room3[1] >= room3[0] ? 1 : -1;
  }
  const value = score(model, x1, x2);
  return (model.learner.tie === "negative" ? value > 0 : value >= 0) ? 1 : -1;
}

/**
 * Return [b, w1, w2] of a model whose boundary is a line, else null.
 * @param {Model} model
 * @returns {[number, number, number]|null}
 */
export function planeOf(model) {
  if (model.shape !== "line") return null;
  return model.learner.intercept ? [model.w[0], model.w[1], model.w[2]] : [0, model.w[0], model.w[1]];
}

/**
 * Return the signed distance of a place to the model's line; null if it is none.
 * @param {Model} model @param {number} x1 @param {number} x2
 */
export function distance(model, x1, x2) {
  const plane = planeOf(model);
  if (!plane) return null;
  const norm = Math.hypot(plane[1], plane[2]);
  return norm > 0 ? (plane[0] + plane[1] * x1 + plane[2] * x2) / norm : null;
}
