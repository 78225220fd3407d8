/** Prints certificates, code and weights of many runs as JSON, for Python to check. */

import { certificates } from "../../src/separatrix/lab/page/core/certificate.js";
import { pointsCsv } from "../../src/separatrix/lab/page/core/csv.js";
import { advance, derive, modelAt, wrongRows } from "../../src/separatrix/lab/page/core/derive.js";
import { defaults } from "../../src/separatrix/lab/page/core/learners.js";
import { makeRandom } from "../../src/separatrix/lab/page/core/order.js";
import { makePoints, pointRows } from "../../src/separatrix/lab/page/core/points.js";
import { STORIES } from "../../src/separatrix/lab/page/stories/index.js";
import { pythonCode } from "../../src/separatrix/lab/page/words/code.js";

function finished(points, learner) {
  const run = derive(points, learner);
  while (!advance(run, 1000));
  return run;
}

function exported(name, points, learner) {
  const run = finished(points, learner);
  const rows = pointRows(points);
  const { trace, features } = run;
  return {
    name,
    learner: { ...learner, draws: null },
    rows: rows.map((row) => row.slice(0, 2)),
    features: Array.from({ length: features.n }, (_, i) => Array.from(features.values.slice(i * features.p, (i + 1) * features.p))),
    labels: rows.map((row) => row[2]),
    certificates: certificates(run),
    code: pythonCode(run),
    kept: Array.from(trace.kept),
    alpha: trace.alpha ? Array.from(trace.alpha) : null,
    status: trace.status,
    verdict: run.verdict.kind,
    wrong: wrongRows(run, modelAt(run, trace.length)),
    csv: pointsCsv(points),
  };
}

const OPTIONS = [
  ["perceptron", {}],
  ["perceptron", { intercept: false, tie: "mistake" }],
  ["perceptron", { rate: 0.3, schedule: "inverse", start: [0.5, -1, 0.25], tie: "negative" }],
  ["perceptron", { margin: 0.4, rate: 0.2, tie: "correct" }],
  ["perceptron", { order: "random", seed: 4 }],
  ["perceptron", { order: "shuffled", seed: 4, keep: "average" }],
  ["perceptron", { keep: "best" }],
  ["perceptron", { keep: "average" }],
  ["perceptron", { keep: "vote" }],
  ["perceptron", { update: "batch" }],
  ["perceptron", { update: "batch", rate: 0.5, schedule: "inverse", start: [0.5, -1, 0.25], tie: "mistake" }],
  ["perceptron", { update: "batch", margin: 0.3 }],
  ["perceptron", { lift: "rings" }],
  ["perceptron", { lift: "degree2" }],
  ["perceptron", { lift: "product" }],
  ["perceptron", { lift: "distance", centre: 0.3 }],
  ["lms", {}],
  ["lms", { rate: 0.01, intercept: false, maxSteps: 40 }],
  ["lms", { update: "stochastic" }],
  ["lms", { update: "stochastic", order: "random", schedule: "inverse" }],
  ["lms", { update: "stochastic", keep: "average", maxSteps: 400 }],
  ["logistic", {}],
  ["logistic", { strength: 0.1, rate: 0.2 }],
  ["logistic", { update: "stochastic", rate: 0.1 }],
  ["logistic", { update: "newton", strength: 0.05 }],
  ["softmax", {}],
  ["softmax", { update: "newton", strength: 0.1 }],
  ["halfspace", {}],
  ["halfspace", { intercept: false }],
  ["margin", {}],
  ["margin", { intercept: false }],
  ["svm", {}],
  ["svm", { loss: "squared_hinge", C: 0.5 }],
  ["svm", { intercept: false }],
  ["kernel", {}],
  ["kernel", { kernel: "polynomial", gamma: 0.5 }],
  ["kernel", { kernel: "linear", intercept: false }],
  ["zero-one", {}],
  ["zero-one", { intercept: false }],
];

function sets() {
  const random = makeRandom(12);
  const cloud = (n, gap) => makePoints(Array.from({ length: n }, (_, i) => [Math.round(10 * (4 * random() - 2 + (i % 2 ? gap : -gap))) / 10, Math.round(40 * random() - 20) / 10, i % 2 ? 1 : -1]));
  return { apart: cloud(14, 2.5), mixed: cloud(14, 0.6), many: cloud(240, 2.5) };
}

const mode = process.argv[2];
const out = [];
if (mode === "code") {
  for (const [name, points] of Object.entries(sets())) for (const [kind, options] of name === "many" ? OPTIONS.slice(0, 1) : OPTIONS) out.push(exported(name, points, defaults(kind, { maxUpdates: 60, ...options })));
  for (const story of STORIES) for (const learner of story.learners) out.push(exported(story.id, makePoints(story.points), learner));
} else if (mode === "labels") {
  const points = makePoints(STORIES[0].points);
  for (const labels of [["no", "yes"], ["0", "1"], ["-1", "1"], ["false", "true"], ["3.5", "5"], ['a "b", c', "é"]]) {
    out.push({ csv: pointsCsv(points, ["a", "b"], labels), certificates: certificates(finished(points, defaults("perceptron")), labels) });
  }
} else {
  const random = makeRandom(13);
  for (const story of STORIES) for (const learner of story.learners) out.push(exported(story.id, makePoints(story.points), learner));
  for (let k = 0; k < 160; k++) {
    const scale = [1, 0.1, 1 / 3, 1e-90][k % 4];
    const grid = 1 + (k % 4);
    const rows = Array.from({ length: 1 + (k % 8) }, () => [Math.round((2 * random() - 1) * grid) * scale, Math.round((2 * random() - 1) * grid) * scale, random() < 0.5 ? 1 : -1]);
    if (k % 9 === 0) rows.forEach((row) => (row[1] = 0));
    const options = { intercept: k % 3 !== 0, maxUpdates: 50, update: k % 5 ? "single" : "batch", lift: k % 16 === 7 ? "product" : "none", start: k % 6 ? null : [1, -1, 0.5] };
    out.push(exported(`random ${k}`, makePoints(rows), defaults("perceptron", options)));
  }
}
console.log(JSON.stringify(out));
