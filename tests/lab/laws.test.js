/** Laws that hold for any data, checked on seeded random ones. */

import assert from "node:assert/strict";
import test from "node:test";

import { boundTime, ceilingAt, floorAt } from "../../src/separatrix/lab/page/core/bound.js";
import { advance, blend, derive, modelAt, nextMistake, previousMistake, versionAt, weightsAt, wrongRows } from "../../src/separatrix/lab/page/core/derive.js";
import { dotSign, orient, quotient, rational } from "../../src/separatrix/lab/page/core/exact.js";
import { hull } from "../../src/separatrix/lab/page/core/hull.js";
import { defaults } from "../../src/separatrix/lab/page/core/learners.js";
import { LOSSES } from "../../src/separatrix/lab/page/core/losses.js";
import { makeRandom } from "../../src/separatrix/lab/page/core/order.js";
import { addPoint, flipPoint, makePoints, movePoint, pointRows, removePoint } from "../../src/separatrix/lab/page/core/points.js";
import { judge } from "../../src/separatrix/lab/page/core/verdict.js";
import { plain } from "../../src/separatrix/lab/page/words/markup.js";
import { statusWords, verdictWords } from "../../src/separatrix/lab/page/words/sentence.js";
import { fewestMistakes } from "../../src/separatrix/lab/page/core/zero_one.js";

function randomPoints(random, n, gap, tenths = true) {
  const round = (x) => (tenths ? Math.round(10 * x) / 10 : x);
  return makePoints(Array.from({ length: n }, () => {
    const label = random() < 0.5 ? 1 : -1;
    return [round(gap * label + 4 * random() - 2), round(4 * random() - 2), label];
  }));
}

test("the corridor holds: floor ≤ ‖w‖² ≤ ceiling after every update, for every rate, start, schedule and margin", () => {
  const random = makeRandom(1);
  let separable = 0;
  for (let k = 0; k < 300; k++) {
    const points = randomPoints(random, 3 + (k % 9), 2);
    const start = k % 3 ? null : [random() - 0.5, random(), -random()];
    const learner = defaults("perceptron", { intercept: k % 2 === 0, rate: [1, 0.1, 3][k % 3], schedule: k % 4 ? "constant" : "inverse", margin: k % 5 ? 0 : 0.3, start, update: k % 7 ? "single" : "batch" });
    const { trace, bound } = derive(points, learner);
    for (let version = 0; version <= trace.updates && bound.exists; version++) {
      const t = boundTime(bound, trace, version);
      const square = trace.squaredNorm[version];
      assert.ok(floorAt(bound, t) <= square * (1 + 1e-9) + 1e-12, `floor ${k} ${version}`);
      assert.ok(square <= ceilingAt(bound, t) * (1 + 1e-9) + 1e-12, `ceiling ${k} ${version}`);
    }
    if (bound.exists && learner.schedule === "constant") assert.ok(trace.updates <= bound.most, `${k}: ${trace.updates} > ${bound.most}`);
    if (bound.exists) separable++;
  }
  assert.ok(separable > 100);
});

test("flipping all labels, rotating by a right angle and shuffling leave the verdict", () => {
  const random = makeRandom(2);
  for (let k = 0; k < 400; k++) {
    const rows = pointRows(randomPoints(random, 2 + (k % 10), (k % 5) / 3));
    for (const intercept of [true, false]) {
      const { kind, left } = judge(makePoints(rows), intercept);
      const others = [rows.map(([x, y, c]) => [x, y, -c]), rows.map(([x, y, c]) => [-y, x, c]), rows.map(([x, y, c]) => [2 * x, 2 * y, c]), [...rows].reverse()];
      for (const other of others) {
        const again = judge(makePoints(other), intercept);
        assert.equal(again.kind, kind);
        assert.equal(again.left.length, left.length);
      }
    }
  }
});

test("the margin is the least distance, its pins are at it, and every witness cancels", () => {
  const random = makeRandom(3);
  for (let k = 0; k < 400; k++) {
    const points = randomPoints(random, 2 + (k % 30), (k % 6) / 3, k % 2 === 0);
    for (const intercept of [true, false]) {
      const { kind, margin, witness, direction } = judge(points, intercept);
      const sign = (i) => (points.label[i] === 1 ? 1 : -1);
      if (margin) {
        const reach = Array.from({ length: points.n }, (_, i) => sign(i) * (margin.w1 * points.x1[i] + margin.w2 * points.x2[i] + margin.b));
        assert.ok(Math.abs(Math.min(...reach) - margin.gamma) <= 1e-9, `${k}`);
        assert.ok(margin.pins.length >= (intercept ? 2 : 1));
      }
      if (kind === "quasi") {
        const reach = Array.from({ length: points.n }, (_, i) => sign(i) * (intercept ? direction[0] + direction[1] * points.x1[i] + direction[2] * points.x2[i] : direction[0] * points.x1[i] + direction[1] * points.x2[i]));
        assert.ok(Math.min(...reach) > -1e-9 && Math.max(...reach) > 1e-9);
      }
      if (kind !== "overlap" && kind !== "quasi") continue;
      assert.ok(witness, `${kind} without a witness: ${JSON.stringify(pointRows(points))}`);
      const sum = [0, 0, 0];
      witness.rows.forEach((row, j) => {
        assert.ok(witness.multipliers[j] > 0);
        sum[0] += sign(row) * witness.multipliers[j];
        sum[1] += sign(row) * witness.multipliers[j] * points.x1[row];
        sum[2] += sign(row) * witness.multipliers[j] * points.x2[row];
      });
      if (intercept) assert.ok(Math.abs(sum[0]) < 1e-9);
      assert.ok(Math.abs(sum[1]) < 1e-7 && Math.abs(sum[2]) < 1e-7, `${k} ${sum}`);
    }
  }
});

test("exact signs: orientations and dot products that floats round to 0 or to the wrong sign", () => {
  assert.equal(orient(0, 0, 1, 1, 2, 2), 0);
  assert.equal(orient(0.1, 0.1, 0.2, 0.2, 0.3, 0.3), 0);
  for (let i = 0; i < 32; i++) for (let j = 0; j < 32; j++) {
    const [x, y] = [0.5 + i * 2 ** -53, 0.5 + j * 2 ** -53];
    assert.equal(orient(x, y, 12, 12, 24, 24), Math.sign(j - i), `${i} ${j}`);
  }
  assert.equal(orient(0, 0, 1e-300, 1e-300, 2e-300, 2e-300 * (1 + 2 ** -52)), 1);
  assert.equal(orient(-1e300, -1e300, 0, 0, 1e300, 1e300), 0);
  assert.equal(dotSign([1e200, 1, -1e200], [1e200, 5e-324, 1e200]), 1);
  assert.equal(rational(-6n, 4n), "-3/2");
  assert.equal(quotient(1n, 3n), 1 / 3);
});

test("hulls hold every point, turn left at every vertex, and repeat none", () => {
  const random = makeRandom(4);
  for (let k = 0; k < 200; k++) {
    const points = randomPoints(random, k % 10 ? 1 + (k % 40) : 300 + k, 0, k % 2 === 0);
    const rows = Array.from({ length: points.n }, (_, i) => i);
    const outer = hull(points.x1, points.x2, rows);
    assert.equal(new Set(outer).size, outer.length);
    for (let j = 0; j < outer.length && outer.length > 2; j++) {
      const [a, b] = [outer[j], outer[(j + 1) % outer.length]];
      for (const i of rows) assert.ok(orient(points.x1[a], points.x2[a], points.x1[b], points.x2[b], points.x1[i], points.x2[i]) >= 0);
    }
  }
});

test("the fewest mistakes: 0 exactly if separable, and no random line makes fewer", () => {
  const random = makeRandom(5);
  for (let k = 0; k < 120; k++) {
    const points = randomPoints(random, 3 + (k % 9), (k % 4) / 2);
    for (const intercept of [true, false]) {
      const { mistakes, wrong } = fewestMistakes(points, intercept);
      const { kind } = judge(points, intercept);
      assert.equal(mistakes === 0, kind === "separable" || kind === "one class", `${k} ${intercept} ${kind} ${mistakes}`);
      assert.equal(wrong.length, mistakes);
      for (let trial = 0; trial < 200; trial++) {
        const w = [intercept ? 6 * random() - 3 : 0, random() - 0.5, random() - 0.5];
        let count = 0;
        for (let i = 0; i < points.n; i++) if ((points.label[i] === 1 ? 1 : -1) * (w[0] + w[1] * points.x1[i] + w[2] * points.x2[i]) <= 0) count++;
        assert.ok(count >= mistakes, `${k}: ${count} < ${mistakes}`);
      }
    }
  }
});

test("a linear kernel makes the perceptron's mistakes, row for row", () => {
  const random = makeRandom(6);
  for (let k = 0; k < 40; k++) {
    const points = makePoints(pointRows(randomPoints(random, 4 + (k % 12), 1.5)).map(([x, y, c]) => [Math.round(10 * x), Math.round(10 * y), c]));
    for (const intercept of [true, false]) {
      const primal = derive(points, defaults("perceptron", { intercept, maxUpdates: 60 })).trace;
      const dual = derive(points, defaults("kernel", { kernel: "linear", intercept, maxUpdates: 60 })).trace;
      const updates = Math.min(primal.updates, dual.updates);
      for (let u = 0; u < updates; u++) assert.equal(primal.row[primal.updateTick[u] - 1], dual.row[dual.updateTick[u] - 1]);
    }
  }
});

test("positions: versions, blends and mistakes agree with each other", () => {
  const { trace } = derive(makePoints([[1, 4, 1], [1, -2, 1], [-1, -3, -1], [-1, 2, -1], [-2, 0, -1]]), defaults("perceptron", { intercept: false }));
  assert.equal(trace.updates, 5);
  assert.deepEqual(Array.from({ length: 6 }, (_, k) => Array.from(weightsAt(trace, k))), [[0, 0], [1, 3], [2, 1], [3, -1], [4, 3], [5, 1]]);
  assert.equal(versionAt(trace, 0), 0);
  assert.equal(versionAt(trace, trace.length), 5);
  assert.equal(nextMistake(trace, 0), 3);
  assert.equal(previousMistake(trace, 4), 3);
  assert.deepEqual(Array.from(blend(trace, 2.5)), [0.5, 1.5]);
});

test("derive is pure: the same again, and untouched by edits of copies", () => {
  const points = makePoints([[1, 4, 1], [1, -2, 1], [-1, -3, -1], [-1, 2, -1], [-2, 0, -1]]);
  const learner = defaults("perceptron", { intercept: false });
  const before = derive(points, learner);
  const edited = [movePoint(points, 0, 9, 9), flipPoint(points, 1), addPoint(points, 0, 0, 1), removePoint(points, 2)].map((other) => derive(other, learner, before));
  assert.equal(new Set(edited.map((run) => JSON.stringify(pointRows(run.points)))).size, 4);
  const again = derive(points, learner, edited[0]);
  assert.deepEqual(Array.from(again.trace.kept), [5, 1]);
  assert.deepEqual(again.verdict, before.verdict);
});

test("long runs come in slices that join to the same run", () => {
  const random = makeRandom(7);
  const points = randomPoints(random, 400, 0.4, false);
  const learner = defaults("perceptron", { maxUpdates: 100000 });
  const sliced = derive(points, learner);
  assert.equal(sliced.trace.done, false);
  assert.equal(advance(sliced, 0, () => 0), false);
  while (!advance(sliced, 50));
  assert.equal(sliced.trace.status, "max updates");
  assert.equal(sliced.trace.updates, 100000);
});

test("losses bound the 0–1 loss where they should, and their slopes are their slopes", () => {
  for (const { id, value, slope } of LOSSES) {
    for (let m = -5.05; m < 5; m += 0.1) {
      if (["hinge", "squared_hinge"].includes(id)) assert.ok(value(m) >= (m > 0 ? 0 : 1));
      if (id !== "zero-one") assert.ok(Math.abs((value(m + 1e-6) - value(m - 1e-6)) / 2e-6 - slope(m)) < 1e-4, `${id} ${m}`);
    }
    assert.ok(Number.isFinite(value(800)) && Number.isFinite(value(-800)) && Number.isFinite(slope(800)) && Number.isFinite(slope(-800)), id);
  }
});

test("edge cases run: no points, one point, one class, all at one place, 50,000 points", () => {
  const random = makeRandom(8);
  const sets = [[], [[1, 1, 1]], [[1, 1, 1], [2, 2, 1]], [[0, 0, 1], [0, 0, -1]], [[0, 0, 1], [1, 0, -1], [1, 0, 2]]];
  for (const rows of sets) {
    for (const kind of ["perceptron", "lms", "logistic", "softmax", "halfspace", "margin", "svm", "kernel", "zero-one"]) {
      for (const update of ["single", "batch", "stochastic", "newton"]) {
        const run = derive(makePoints(rows), defaults(kind, { update, maxSteps: 20, maxUpdates: 20 }));
        while (!advance(run, 100));
        assert.ok(wrongRows(run, modelAt(run, run.trace.length)) <= rows.length, `${kind} ${update} ${rows}`);
      }
    }
  }
  const many = randomPoints(random, 50000, 1.2, false);
  const began = performance.now();
  const run = derive(many, defaults("perceptron"));
  assert.ok(performance.now() - began < 2000);
  assert.ok(["separable", "quasi", "overlap"].includes(run.verdict.kind));
});

test("of three classes a verdict names the one that it judges against the rest", () => {
  const blob = (x, label) => [[x, 0, label], [x + 1, 0.5, label], [x + 0.5, 1, label]];
  const three = makePoints([...blob(0, -1), ...blob(5, 1), ...blob(10, 2)]);
  for (const kind of ["softmax", "perceptron", "logistic"]) {
    const words = verdictWords(derive(three, defaults(kind)), ["u", "v*", "w"]);
    assert.equal(plain(words.title), "No line separates v* from the rest");
    assert.match(plain(words.why), /^Proved: the hulls of v\* and of the rest overlap/);
  }
  const apart = makePoints([...blob(0, -1), ...blob(10, 1), ...blob(5, 2)]);
  assert.equal(plain(verdictWords(derive(apart, defaults("softmax"))).title), "A line separates blue from the rest");
  assert.doesNotMatch(verdictWords(derive(makePoints([...blob(0, -1), ...blob(5, 2)]), defaults("softmax"))).why, /Proved/);
});

test("how a run ended is said of the space that it works in", () => {
  const xor = makePoints([[1, 1, 1], [-1, -1, 1], [1, -1, -1], [-1, 1, -1]]);
  const kernel = derive(xor, defaults("kernel", { maxUpdates: 1 }));
  assert.equal(kernel.trace.status, "max updates");
  assert.match(statusWords(kernel).text, /^The limit is reached/);
  assert.match(statusWords(derive(xor, defaults("perceptron", { maxUpdates: 2 }))).text, /^No line exists/);
  const lifted = derive(xor, defaults("perceptron", { lift: "product", maxUpdates: 1 }));
  if (lifted.trace.status === "max updates") assert.match(statusWords(lifted).text, /^A plane of the features exists/);
  assert.match(statusWords(derive(xor, defaults("halfspace"))).text, /linear program has no solution/);
  assert.match(statusWords(derive(xor, defaults("margin"))).text, /no margin to widen/);
  assert.doesNotMatch(statusWords(derive(makePoints([[1, 1, 1], [2, 1, 1]]), defaults("halfspace"))).text, /not separable/);
});

test("the widest margin holds for huge and tiny coordinates", () => {
  for (const size of [1, 2 ** 990, 2 ** -990]) {
    const points = makePoints([[3, 0, 1], [1, 1, 1], [2, 5, 1], [-1, 1, -1], [-4, 0, -1]].map(([x, y, label]) => [x * size, y * size, label]));
    for (const intercept of [true, false]) {
      const { kind, margin } = judge(points, intercept);
      assert.equal(kind, "separable");
      assert.ok(Math.abs(margin.gamma / size - 1) < 1e-12 || !intercept, `${size} ${margin.gamma}`);
      assert.ok(margin.gamma > 0 && margin.pins.length > 0);
      assert.equal(margin.gamma / size, judge(makePoints(pointRows(points).map(([x, y, label]) => [x / size, y / size, label])), intercept).margin.gamma);
    }
  }
});
