/** The law of the lab: its runs are the library's. */

import assert from "node:assert/strict";
import test from "node:test";

import { updateLimit } from "../../src/separatrix/lab/page/core/bound.js";
import { advance, derive, mistakeBound, modelAt, weightsAt, wrongRows } from "../../src/separatrix/lab/page/core/derive.js";
import { defaults } from "../../src/separatrix/lab/page/core/learners.js";
import { makePoints } from "../../src/separatrix/lab/page/core/points.js";
import { decideRays, integerRays } from "../../src/separatrix/lab/page/core/rays.js";
import { lift } from "../../src/separatrix/lab/page/core/lift.js";
import { judge } from "../../src/separatrix/lab/page/core/verdict.js";
import { fromHex, label, learnerOf, pointsOf, read } from "./golden.js";

function finished(points, learner) {
  const derivation = derive(points, learner);
  while (!advance(derivation, 1000));
  return derivation;
}

function close(found, expected, tolerance, message) {
  const scale = Math.max(1, ...expected.map(Math.abs));
  assert.equal(found.length, expected.length, message);
  found.forEach((value, k) => assert.ok(Math.abs(value - expected[k]) <= tolerance * scale, `${message}: ${value} against ${expected[k]}`));
}

test("perceptron: every update of every option is the library's, bit for bit", () => {
  for (const golden of read("perceptron")) {
    const run = finished(pointsOf(golden), learnerOf(golden));
    const { trace } = run;
    const name = label(golden);
    const cut = trace.status === "cycle" ? trace.updates : golden.updates;
    assert.equal(Math.min(trace.updates, golden.updates), cut, name);
    const rows = Array.from({ length: cut }, (_, k) => trace.row[trace.updateTick[k] - 1]);
    assert.deepEqual(rows, golden.rows.slice(0, cut), name);
    assert.deepEqual(Array.from(trace.updateTick.slice(0, cut)), golden.at.slice(0, cut), name);
    golden.weights.slice(0, cut).forEach((weights, k) => assert.deepEqual(Array.from(weightsAt(trace, k + 1)), weights.map(fromHex), `${name} update ${k + 1}`));
    golden.scores.slice(0, cut).forEach((score, k) => assert.equal(trace.score[trace.updateTick[k] - 1], fromHex(score), `${name} score ${k + 1}`));
    if (trace.status === "cycle") continue;
    assert.deepEqual(Array.from(trace.kept), golden.kept.map(fromHex), name);
    assert.equal(trace.length, golden.visits, name);
    assert.equal(trace.status === "converged", golden.status === "converged", name);
    if (golden.counts) assert.deepEqual(Array.from(trace.vote.counts), golden.counts, name);
    assert.equal(wrongRows(run, modelAt(run, trace.length)), golden.wrong, name);
  }
});

test("mistake bounds of every rate, start, schedule and margin are the library's", () => {
  let compared = 0;
  for (const golden of read("perceptron")) {
    if (!golden.bound) continue;
    const { bound } = finished(pointsOf(golden), learnerOf(golden));
    const [radius, margin, limit] = golden.bound;
    close([bound.R, bound.gamma], [radius, margin], 1e-9, label(golden));
    if (limit !== null && Number.isFinite(limit)) assert.ok(Math.abs(updateLimit(bound) / limit - 1) < 1e-7, `${label(golden)}: ${updateLimit(bound)} against ${limit}`);
    compared++;
  }
  assert.ok(compared > 50);
  for (const golden of read("bounds")) {
    const bound = mistakeBound(pointsOf(golden), defaults("perceptron", { intercept: golden.intercept }));
    assert.equal(bound.exists, golden.bound !== null, JSON.stringify(golden));
    if (golden.bound) close([bound.R, bound.gamma, bound.ratio], golden.bound, 1e-9, JSON.stringify(golden));
  }
});

test("least mean squares is the library's, bit for bit", () => {
  for (const golden of read("lms")) {
    const points = pointsOf(golden);
    for (const [step, weights] of Object.entries(golden.steps)) {
      const average = golden.learner.keep === "average";
      const { trace } = finished(points, { ...learnerOf(golden), maxSteps: average ? Number(step) : golden.learner.maxSteps });
      const found = average ? Array.from(trace.kept) : Array.from(weightsAt(trace, Number(step)));
      assert.deepEqual(found, weights.map(fromHex), `${label(golden)} after ${step}`);
    }
  }
});

test("logistic regression agrees within 1e-9 over 200 steps", () => {
  for (const golden of read("logistic")) {
    const { trace } = finished(pointsOf(golden), learnerOf(golden));
    for (const [step, weights] of Object.entries(golden.steps)) close(Array.from(weightsAt(trace, Number(step))), weights, 1e-9, `${label(golden)} after ${step}`);
    if (golden.final) close(Array.from(trace.kept), golden.final, 1e-7, label(golden));
  }
});

test("final answers are within the certified gap", () => {
  for (const golden of read("answers")) {
    const points = pointsOf(golden);
    const run = finished(points, learnerOf(golden));
    const { trace } = run;
    if (golden.objective) {
      const [lower, upper] = golden.objective;
      const slack = upper - lower + trace.gap.gap + 1e-9 * Math.abs(upper);
      assert.ok(trace.gap.gap <= 1e-6 * Math.abs(upper), `${label(golden)} ${JSON.stringify(trace.gap)}`);
      assert.ok(trace.gap.upper >= lower - slack && trace.gap.lower <= upper + slack, `${label(golden)} ${JSON.stringify(trace.gap)} ${golden.objective}`);
      assert.ok(Math.abs(trace.gap.upper - upper) <= slack, label(golden));
    }
    if (golden.mistakes) {
      const wrong = wrongRows(run, modelAt(run, trace.length));
      assert.ok(wrong >= golden.mistakes[0] && wrong <= golden.mistakes[1], `${label(golden)}: ${wrong}`);
    }
    if (golden.final) close(Array.from(trace.kept), golden.final, 1e-7, label(golden));
    if (golden.program) assert.ok(Math.abs(trace.gap.lower / golden.program - 1) < 1e-7, `${label(golden)}: ${trace.gap.lower} against ${golden.program}`);
  }
});

test("kernel perceptrons and lifted perceptrons are the library's", () => {
  for (const golden of read("kernel")) {
    const run = finished(pointsOf(golden), learnerOf(golden));
    const { trace } = run;
    const cut = trace.status === "cycle" ? trace.updates : golden.rows.length;
    const rows = Array.from({ length: cut }, (_, k) => trace.row[trace.updateTick[k] - 1]);
    assert.deepEqual(rows, golden.rows.slice(0, cut), label(golden));
    if (golden.alpha) assert.deepEqual(Array.from(trace.alpha), golden.alpha, label(golden));
    if (golden.weights) golden.weights.slice(0, cut).forEach((weights, k) => assert.deepEqual(Array.from(weightsAt(trace, k + 1)), weights.map(fromHex), label(golden)));
    if (golden.verdict) assert.equal(run.verdict.kind, golden.verdict, label(golden));
  }
});

test("verdicts are the library's: ties, collinear and repeated points, huge and tiny coordinates", () => {
  const kinds = new Map();
  for (const golden of read("verdicts")) {
    const points = makePoints(golden.points.map(([a, b, sign]) => [fromHex(a), fromHex(b), sign]));
    [true, false].forEach((intercept, k) => {
      const [expected, left] = golden.verdicts[k];
      const found = judge(points, intercept);
      const kind = found.kind === "one class" ? "separable" : found.kind;
      const name = `${JSON.stringify(Array.from(points.x1))} ${JSON.stringify(Array.from(points.x2))} ${points.label} intercept ${intercept}`;
      const proof = decideRays(integerRays(lift(points, defaults("perceptron")), intercept), intercept ? 3 : 2);
      assert.equal(proof.kind, kind, `in integers: ${name}`);
      assert.equal(proof.left.length, found.left.length, `in integers: ${name}`);
      kinds.set(expected, (kinds.get(expected) ?? 0) + 1);
      if (expected === "undecided") return; // where rounding leaves the library undecided, integers decide
      assert.equal(kind, expected, name);
      assert.equal(found.left.length, left, name);
    });
  }
  assert.ok((kinds.get("undecided") ?? 0) < 20, `undecided: ${kinds.get("undecided")}`);
  for (const kind of ["separable", "quasi", "overlap"]) assert.ok(kinds.get(kind) > 50, `${kind}: ${kinds.get(kind)}`);
});
