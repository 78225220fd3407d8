/** What is carried off and brought in: links, tables, pictures that move, numbers and marks. */

import assert from "node:assert/strict";
import test from "node:test";

import { choose, offers, pointsCsv, readCsv, traceCsv } from "../../src/separatrix/lab/page/core/csv.js";
import { derive } from "../../src/separatrix/lab/page/core/derive.js";
import { LEARNERS, OPTIONS, checkLearner, defaults } from "../../src/separatrix/lab/page/core/learners.js";
import { makePoints, pointRows } from "../../src/separatrix/lab/page/core/points.js";
import { encodeGif, quantise } from "../../src/separatrix/lab/page/parts/gif.js";
import { decodeLink, encodeLink } from "../../src/separatrix/lab/page/state/link.js";
import { STORIES } from "../../src/separatrix/lab/page/stories/index.js";
import { escape, pieces, plain } from "../../src/separatrix/lab/page/words/markup.js";
import { counted, num, percent, vec } from "../../src/separatrix/lab/page/words/number.js";
import { makeRandom } from "../../src/separatrix/lab/page/core/order.js";

test("links come back as they went, and are short", () => {
  for (const story of STORIES) {
    for (const points of [null, story.points]) {
      const state = { story: story.id, learners: story.learners, tick: 7, chapter: 3, points, names: [], labels: [] };
      const link = encodeLink(state);
      assert.ok(link.length < 2048, `${story.id}: ${link.length}`);
      assert.deepEqual(decodeLink(link), { ok: true, state });
    }
  }
  const learner = defaults("perceptron", { rate: 1e-7, start: [0.25, -1e-9, 3], order: "random", seed: 12, margin: 0.5, keep: "vote", schedule: "inverse", tie: "negative", update: "single", intercept: false, maxUpdates: 5 });
  const own = { story: "own", learners: [learner, defaults("kernel", { kernel: "polynomial", gamma: 0.3 })], tick: 0, chapter: 0, points: [[1.234, 5e-7, 1], [-2, 1e11, 2], [0.1, -0.3, -1]], names: ['<img src=x onerror="1">;,#', "☃"], labels: ["a;b", "é,", "</script>"] };
  assert.deepEqual(decodeLink(encodeLink(own)), { ok: true, state: own });
  assert.equal(encodeLink({ ...own, points: Array.from({ length: 5000 }, () => [0, 0, 1]) }), null);
});

test("a link from a newer version says so; damaged and hostile ones are refused whole", () => {
  assert.equal(decodeLink("").reason, "none");
  assert.equal(decodeLink("#v2;anything").reason, "newer");
  assert.match(decodeLink("#v7").message, /newer/);
  const hostile = ["#x", "#v1", "#v1;five-points", "#v1;nowhere;perceptron", "#v1;five-points;perceptron,rate=NaN", "#v1;five-points;perceptron,rate=-1", "#v1;five-points;perceptron,rate=1e999", "#v1;five-points;perceptron,__proto__=1", "#v1;five-points;constructor", "#v1;five-points;perceptron,order=<b>", "#v1;five-points;perceptron+perceptron+perceptron+perceptron+perceptron", "#v1;five-points;perceptron;-1", "#v1;five-points;perceptron;0;5", "#v1;own;perceptron;0;0;", "#v1;own;perceptron;0;0;ap1_zzzzzzzzzzzz", "#v1;own;perceptron;0;0;fp1e300_0", "#v1;own;perceptron;0;0;apa_1;%E0%A4%A", `#v1;own;perceptron;0;0;a${"p1_1~".repeat(2001)}p1_1`, `#v1;${"x".repeat(70000)};perceptron`, "#v1;five-points;perceptron,start=1_2_3_4_5_6_7"];
  for (const hash of hostile) {
    const read = decodeLink(hash);
    assert.equal(read.ok, false, hash.slice(0, 80));
    assert.equal(read.reason, "broken", hash.slice(0, 80));
    assert.match(read.message, /damaged/);
  }
  const random = makeRandom(9);
  const whole = encodeLink({ story: "five-points", learners: STORIES[0].learners, tick: 3, chapter: 1, points: STORIES[0].points, names: [], labels: [] });
  for (let k = 0; k < 3000; k++) {
    const place = Math.floor(random() * whole.length);
    const letter = String.fromCharCode(32 + Math.floor(random() * 95));
    const read = decodeLink(whole.slice(0, place) + letter + whole.slice(place + 1));
    if (read.ok) for (const learner of read.state.learners) assert.equal(checkLearner(learner), null);
  }
});

test("every learner has options with defaults in range", () => {
  for (const { kind } of LEARNERS) {
    assert.equal(checkLearner(defaults(kind)), null, kind);
    for (const field of OPTIONS[kind]) assert.ok(field.label && field.about.endsWith("."), `${kind} ${field.name}`);
  }
  assert.match(checkLearner(defaults("perceptron", { rate: 0 })), /Rate/);
  assert.match(checkLearner(defaults("perceptron", { tie: "both" })), /both/);
});

test("a csv is read by its values", () => {
  const table = readCsv('\ufeffname;"a ""b""";c;grade\r\nx;1,5;2;yes\r\ny;2;;no\r\nz;3;4;yes\r\nu;4;5;\r\nv;5;3;no\r\n', "t.csv");
  assert.equal(table.problem, null);
  assert.deepEqual(table.columns.map((column) => [column.name, column.type]), [["name", "text"], ['a "b"', "number"], ["c", "number"], ["grade", "category"]]);
  assert.deepEqual(table.targets, ["grade"]);
  const chosen = choose(table, "grade", ['a "b"', "c"], false);
  assert.deepEqual(pointRows(chosen.points), [[1.5, 2, 1], [3, 4, 1], [5, 3, -1]]);
  assert.equal(plain(chosen.why), 'Left out: 1 row without "a "b"" or "c", and 1 row without "grade".');
  const scaled = choose(table, "grade", ['a "b"', "c"], true);
  assert.ok(Math.abs(scaled.points.x1.reduce((sum, x) => sum + x, 0)) < 1e-12);
  assert.ok(Math.abs(scaled.points.x1.reduce((sum, x) => sum + x * x, 0) / 3 - 1) < 1e-12);
});

test("the two columns that separate best are offered first", () => {
  const random = makeRandom(10);
  const lines = ["noise,a,b,kind"];
  for (let i = 0; i < 60; i++) lines.push(`${random()},${(i % 2) * 3 + random()},${random() - (i % 2)},${i % 2 ? "yes" : "no"}`);
  const table = readCsv(lines.join("\n"), "t");
  assert.deepEqual(offers(table, "kind")[0].pair, ["a", "b"]);
  assert.equal(offers(table, "kind").length, 3);
});

test("tables that cannot be shown say why and what would work", () => {
  assert.match(readCsv("", "e").problem, /no rows/);
  assert.match(readCsv("a,b\n1,2\n3\n", "r").problem, /Line 3/);
  assert.match(readCsv("a,b\n1,2\n3,4\n5,6\n7,8\n", "n").problem, /two or three/);
  assert.match(readCsv("a,b\nx,yes\ny,no\nz,yes\n", "n").problem, /numeric/);
  assert.match(readCsv(`a,b\n${"1,2\n".repeat(50001)}`, "big").problem, /50\u202f000.*separatrix fit/);
});

test("tables and traces written are read again", () => {
  const points = makePoints(STORIES[0].points);
  const table = readCsv(pointsCsv(points, ['x,"1"', "=cmd"], ["no", "yes"]), "p");
  assert.deepEqual(table.columns.map((column) => column.name), ['x,"1"', "'=cmd", "class"]);
  assert.deepEqual(pointRows(choose(table, "class", ['x,"1"', "'=cmd"], false).points), STORIES[0].points);
  const lines = traceCsv(derive(points, STORIES[0].learners[0])).trim().split("\n");
  assert.equal(lines[0], "visit,row,score,mistake,w1,w2,squared_norm");
  assert.equal(lines[3], "3,3,0,1,1,3,10");
  assert.equal(lines.filter((line) => line.split(",")[3] === "1").length, 5);
});

test("GIF: the frames decode to what went in", () => {
  const [width, height] = [37, 23];
  const palette = Uint8Array.from({ length: 96 }, (_, k) => (k * 53) % 256);
  const random = makeRandom(11);
  const frames = [0, 1, 2].map((f) => Uint8Array.from({ length: width * height }, (_, k) => (f ? Math.floor(random() * 32) : k % 5)));
  const bytes = encodeGif(width, height, palette, frames, [4, 5, 6]);
  assert.equal(String.fromCharCode(...bytes.slice(0, 6)), "GIF89a");
  assert.deepEqual(decodeGif(bytes).map((frame) => Array.from(frame)), frames.map((frame) => Array.from(frame)));
  const rgba = Uint8Array.from(Array.from(frames[1]).flatMap((place) => [...palette.slice(3 * place, 3 * place + 3), 255]));
  const again = quantise(rgba, palette);
  again.forEach((place, k) => assert.deepEqual([...palette.slice(3 * place, 3 * place + 3)], [...palette.slice(3 * frames[1][k], 3 * frames[1][k] + 3)]));
});

/** A plain decoder, for the test alone. */
function decodeGif(bytes) {
  let at = 13 + 3 * 2 ** ((bytes[10] & 7) + 1);
  const frames = [];
  const blocks = () => {
    const data = [];
    while (bytes[at]) {
      data.push(...bytes.slice(at + 1, at + 1 + bytes[at]));
      at += bytes[at] + 1;
    }
    at++;
    return data;
  };
  while (bytes[at] !== 0x3b) {
    if (bytes[at] === 0x21) {
      at += 2;
      blocks();
    } else {
      at += 10;
      const depth = bytes[at++];
      frames.push(unpack(blocks(), depth));
    }
  }
  return frames;
}

function unpack(data, depth) {
  const clear = 1 << depth;
  let [table, width, bit, previous] = [[], depth + 1, 0, null];
  const out = [];
  const reset = () => {
    table = Array.from({ length: clear + 2 }, (_, k) => [k]);
    width = depth + 1;
    previous = null;
  };
  reset();
  for (;;) {
    let code = 0;
    for (let k = 0; k < width; k++, bit++) code |= ((data[bit >> 3] >> (bit & 7)) & 1) << k;
    if (code === clear + 1) return out;
    if (code === clear) {
      reset();
      continue;
    }
    const entry = table[code] ?? [...previous, previous[0]];
    out.push(...entry);
    if (previous && table.length < 4096) table.push([...previous, entry[0]]);
    if (table.length === 1 << width && width < 12) width++;
    previous = entry;
  }
}

test("numbers as they are written", () => {
  const pairs = [[5, "5"], [-2.5, "−2.5"], [17 / 3, "5.667"], [1234, "1234"], [12345, "12\u202f345"], [1234567.8, "1\u202f234\u202f568"], [0, "0"], [-0, "0"], [1e-19, "0"], [Infinity, "∞"], [-Infinity, "−∞"], [NaN, "—"], [2.5e-7, "2.5·10⁻⁷"], [0.1 + 0.2, "0.3"], [3e20, "3·10²⁰"]];
  for (const [value, text] of pairs) assert.equal(num(value), text);
  assert.equal(vec([5, 1]), "(5, 1)");
  assert.equal(vec([1, 1e-17]), "(1, 0)");
  assert.equal(counted(1, "mistake"), "1 mistake");
  assert.equal(counted(0, "mistake"), "0 mistakes");
  assert.equal(percent(0.125), "12.5\u202f%");
});

test("marks cut text into pieces, and text of users stays text", () => {
  assert.deepEqual(pieces("a *w* [+b] [=c]"), [{ text: "a ", role: "plain" }, { text: "w", role: "math" }, { text: " ", role: "plain" }, { text: "b", role: "plus" }, { text: " ", role: "plain" }, { text: "c", role: "proof" }]);
  for (const hostile of ["<b>*x*</b>", "[=proved]", "\\*", "]]", "[+", "</script>"]) {
    assert.deepEqual(pieces(`"${escape(hostile)}"`), [{ text: `"${hostile}"`, role: "plain" }]);
    assert.equal(plain(escape(hostile)), hostile);
  }
});

test("columns of any size are standardised, or left as they are", () => {
  for (const size of [1, 1e300, 1e-300, 5e-324, 1.7e308]) {
    const rows = [[-1, 0, "a"], [-1, 1, "a"], [1, 0, "b"], [1, 1, "b"]].map(([x, y, kind]) => `${x * size},${y * size},${kind}`);
    const table = readCsv(`x,y,kind\n${rows.join("\n")}\n`, "t");
    const chosen = choose(table, "kind", ["x", "y"], true);
    assert.deepEqual(pointRows(chosen.points), [[-1, -1, -1], [-1, 1, -1], [1, -1, 1], [1, 1, 1]], String(size));
    assert.deepEqual(chosen.names, ["x (standardised)", "y (standardised)"]);
    assert.match(chosen.why, /standardised/);
    assert.equal(derive(chosen.points, defaults("perceptron")).verdict.kind, "separable");
    assert.ok(pointsCsv(chosen.points, chosen.names, chosen.labels).startsWith("x (standardised),y (standardised),class\n"));
  }
  const flat = choose(readCsv("x,y,kind\n7,1e-20,a\n7,2e-20,b\n7,1e9,b\n7,3,a\n", "t"), "kind", ["x", "y"], true);
  assert.deepEqual(flat.names, ["x", "y"]); // no spread; and values that rounding would make one
  assert.deepEqual(pointRows(flat.points)[0], [7, 1e-20, -1]);
  assert.match(flat.why, /No column could be standardised/);
});

test("what links say is counted as elsewhere", () => {
  assert.match(decodeLink("#v1").message, /it has 1 field\./);
  assert.match(decodeLink("#v1;five-points;perceptron;5000000").message, /up to 4\u202f000\u202f000/);
  const long = { story: "own", learners: [defaults("perceptron")], tick: 0, chapter: 0, points: [[1, 2, 1]], names: [`${"n".repeat(200)} (standardised)`, "y"], labels: [] };
  assert.match(decodeLink(encodeLink(long)).state.names[0], /^n{60,}… \(standardised\)$/);
});
