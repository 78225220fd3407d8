/** Every number that a story claims. */

import assert from "node:assert/strict";
import test from "node:test";

import { advance, derive, modelAt, wrongRows } from "../../src/separatrix/lab/page/core/derive.js";
import { labellings } from "../../src/separatrix/lab/page/core/labellings.js";
import { defaults } from "../../src/separatrix/lab/page/core/learners.js";
import { allOrders } from "../../src/separatrix/lab/page/core/orders.js";
import { addPoint, flipPoint, makePoints, movePoint, pointRows, removePoint } from "../../src/separatrix/lab/page/core/points.js";
import { STORIES, storyById } from "../../src/separatrix/lab/page/stories/index.js";
import { pieces, plain } from "../../src/separatrix/lab/page/words/markup.js";
import { heroWords, statusWords } from "../../src/separatrix/lab/page/words/sentence.js";

function stateOf(story, points = makePoints(story.points), set = {}) {
  const runs = story.learners.map((learner, k) => {
    const run = derive(points, k === 0 ? { ...learner, ...set } : learner);
    while (!advance(run, 1000));
    return run;
  });
  return { points, runs, tick: runs[0].trace.length, guess: null };
}

const wrongOf = (state) => state.runs.map((run) => wrongRows(run, modelAt(run, run.trace.length)));
const won = (story, points, set) => storyById(story).challenge(stateOf(storyById(story), points, set)).won;

test("there are ten stories, each with five chapters, a question whose truth is a choice, and a challenge not yet won", () => {
  assert.equal(STORIES.length, 10);
  for (const story of STORIES) {
    assert.deepEqual(story.chapters.map((chapter) => chapter.id), ["predict", "watch", "why", "break", "challenge"]);
    assert.ok(story.question.choices.some((choice) => choice.id === story.question.truth), story.id);
    const state = stateOf(story);
    assert.equal(story.challenge(state).won, false, story.id);
    for (const chapter of story.chapters) {
      for (const tick of [0, 1, state.tick]) {
        const { title, text } = chapter.say({ ...state, tick });
        assert.ok(plain(title).length > 5 && plain(text).length > 5, `${story.id} ${chapter.id}`);
        assert.ok(!/undefined|NaN|\[object/.test(title + text), `${story.id} ${chapter.id}: ${title} ${text}`);
        assert.ok(pieces(title + text).every((piece) => !/[*[\]\\]/.test(piece.text.replace(/[[\]] and [[\]]/, ""))), `${story.id} ${chapter.id}: ${title} ${text}`);
      }
    }
  }
});

test("five points: 5 mistakes under 17; (1, 4) moved to (−1, 4) allows 170", () => {
  const state = stateOf(storyById("five-points"));
  const [{ trace, bound }] = state.runs;
  assert.equal(trace.updates, 5);
  assert.deepEqual(Array.from(trace.kept), [5, 1]);
  assert.equal(bound.most, 17);
  assert.equal(plain(heroWords(state.runs[0], state.tick)), "5 mistakes; the theorem allows at most 17.");
  const moved = stateOf(storyById("five-points"), movePoint(state.points, 0, -1, 4));
  assert.equal(moved.runs[0].bound.most, 170);
  assert.ok(won("five-points", movePoint(state.points, 0, -1, 4)));
  assert.ok(!won("five-points", movePoint(movePoint(state.points, 0, -1, 4), 1, 1, -2.1)));
});

test("no line: after visit 650 the weights are those after 605; deleting point 3, 4 or 5 lets it stop", () => {
  const story = storyById("no-line");
  const [{ trace, verdict }] = stateOf(story).runs;
  assert.deepEqual(trace.cycle, { from: 605, to: 650 });
  assert.equal(verdict.kind, "overlap");
  assert.equal(verdict.witness.shape, "segments");
  assert.deepEqual([0, 1, 2, 3, 4].filter((i) => won("no-line", removePoint(makePoints(story.points), i))), [2, 3, 4]);
  assert.match(statusWords(stateOf(story).runs[0]).text, /650.*605/);
});

test("margin: 3, 5, 10, 14 mistakes under 13, 41, 241, 949", () => {
  const story = storyById("margin");
  const runs = [1, 0.5, 0.2, 0.1].map((gamma) => stateOf(story, makePoints(story.atMargin(gamma))).runs[0]);
  assert.deepEqual(runs.map((run) => run.trace.updates), [3, 5, 10, 14]);
  assert.deepEqual(runs.map((run) => run.bound.most), [13, 41, 241, 949]);
  runs.forEach((run, k) => assert.ok(Math.abs(run.bound.gamma - [1, 0.5, 0.2, 0.1][k]) < 1e-12));
  assert.ok(won("margin", movePoint(makePoints(story.points), 8, 3, 4.5)));
});

test("which line: of 120 orders 40 make 1 mistake, 15 make 3, 65 make 5; two lines; all 24 with point 5 first make 1", () => {
  const story = storyById("which-line");
  const points = makePoints(story.points);
  const all = allOrders(points, story.learners[0]);
  assert.equal(all.orders.length, 120);
  assert.deepEqual([...all.counts], [[1, 40], [3, 15], [5, 65]]);
  assert.equal(all.lines, 2);
  const first = all.orders.map((order, k) => [order, all.mistakes[k]]).filter(([order]) => order[0] === 4);
  assert.ok(first.length === 24 && first.every(([, mistakes]) => mistakes === 1));
  const rows = pointRows(points);
  assert.ok(won("which-line", makePoints([rows[4], rows[0], rows[1], rows[2], rows[3]])));
  assert.ok(!won("which-line", points));
});

test("far point: at (8, 3) least mean squares has (1, 2) wrong and the perceptron nothing; 6.9 is the last tenth", () => {
  const story = storyById("far-point");
  const at = (x) => stateOf(story, movePoint(makePoints(story.points), 3, x, 3));
  assert.deepEqual(wrongOf(at(2)), [0, 0]);
  assert.deepEqual(wrongOf(at(8)), [1, 0]);
  const state = at(8);
  const wrong = new Uint8Array(8);
  wrongRows(state.runs[0], modelAt(state.runs[0], state.runs[0].trace.length), wrong);
  assert.deepEqual(Array.from(wrong), [0, 1, 0, 0, 0, 0, 0, 0]);
  assert.ok(won("far-point", movePoint(makePoints(story.points), 3, 6.9, 3)));
  assert.ok(!won("far-point", movePoint(makePoints(story.points), 3, 7.1, 3)));
  assert.ok(!won("far-point", movePoint(makePoints(story.points), 3, 5, 3)));
});

test("runs off: no maximum; −1 moved to 1.5 gives slope 1.415", () => {
  const story = storyById("runs-off");
  assert.equal(stateOf(story).runs[0].trace.status, "runs off");
  const moved = movePoint(makePoints(story.points), 2, 1.5, 0);
  assert.ok(Math.abs(stateOf(story, moved, { update: "newton" }).runs[0].trace.kept[1] - 1.4152) < 1e-4);
  assert.ok(won("runs-off", moved, { update: "newton" }));
  assert.ok(!won("runs-off", movePoint(makePoints(story.points), 2, 1, 0)));
});

test("XOR: 14 of 16 labellings; all with the product; fewer with three points on a line", () => {
  const story = storyById("xor");
  const points = makePoints(story.points);
  assert.equal(labellings(points.x1, points.x2).filter((each) => each.separable).length, 14);
  for (let code = 1; code < 15; code++) {
    const rows = story.points.map(([x, y], i) => [x, y, (code >> i) & 1 ? 1 : -1]);
    assert.equal(derive(makePoints(rows), defaults("perceptron", { lift: "product" })).verdict.kind, "separable");
  }
  assert.ok(won("xor", makePoints([[0, 0, 1], [1, 1, -1], [2, 2, 1], [2, 0, 1]])));
});

test("interval: a threshold exists exactly for |μ| < ½", () => {
  const story = storyById("interval");
  const kind = (centre) => stateOf(story, undefined, { centre }).runs[0].verdict.kind;
  for (const centre of [-0.49, -0.2, 0, 0.3, 0.49]) assert.equal(kind(centre), "separable");
  for (const centre of [-0.5, 0.5]) assert.equal(kind(centre), "quasi");
  for (const centre of [-1, -0.51, 0.6, 2]) assert.equal(kind(centre), "overlap");
  assert.ok(won("interval", movePoint(makePoints(story.points), 5, -0.5, 0)));
  assert.ok(!won("interval", movePoint(makePoints(story.points), 5, 1.9, 0)));
});

test("rings: 9 mistakes on 8 points with the kernel, 8 with the lift; one point moved beats the lift alone", () => {
  const story = storyById("rings");
  const [kernel, lifted] = stateOf(story).runs;
  assert.equal(kernel.trace.updates, 9);
  assert.equal(kernel.trace.alpha.filter(Boolean).length, 8);
  assert.equal(lifted.trace.updates, 8);
  assert.ok(won("rings", movePoint(makePoints(story.points), 8, 0.2, 0)));
});

test("one outlier: least squares 3, logistic 3, hinge 2, 0–1 1", () => {
  const story = storyById("outlier");
  assert.deepEqual(wrongOf(stateOf(story)), [3, 3, 2, 1]);
  const eight = removePoint(makePoints(story.points), 4);
  assert.ok(won("outlier", addPoint(eight, -9, -3, 1)));
  assert.ok(!won("outlier", addPoint(eight, 4, 4, 1)));
  assert.ok(!won("outlier", flipPoint(eight, 0)));
});
