/**
 * One picture to save: the stage with its verdict, the class key, and the first figure
 * of the evidence, on any pen.
 */

import { learnerName } from "../core/learners.js";
import { mark } from "../views/marks.js";
import { drawPlane } from "../views/plane.js";
import { stroke, write } from "../views/pen.js";
import { plain } from "../words/markup.js";
import { verdictWords } from "../words/sentence.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../views/palette.js").Palette} Palette */
/** @typedef {import("../views/pen.js").Pen} Pen */
/** @typedef {import("./stage.js").Stage} Stage */
/** @typedef {import("./evidence.js").Evidence} Evidence */

export const PICTURE = { width: 1120, height: 640 };
const HEAD = 84;
const FOOT = 44;
const SIDE = 400;

/**
 * @typedef {object} Subject the subject of the picture
 * @property {Store} store
 * @property {Stage} stage
 * @property {Evidence} evidence
 */

/**
 * Draw the picture.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Subject} subject
 */
export function drawPicture(pen, palette, subject) {
  const { store } = subject, { run } = store;
  pen.fillStyle = palette.paper;
  pen.fillRect(0, 0, PICTURE.width, PICTURE.height);
  if (!run) return;
  const words = verdictWords(run, store.state.labels);
  write(pen, palette, plain(words.title), 28, 40, { colour: palette.ink, size: 27, weight: 600, serif: true });
  write(pen, palette, plain(words.why), 28, 66, { colour: palette.soft, size: 15 });
  const figure = [...subject.evidence.figures.values()].find((each) => each.sheet);
  const wide = PICTURE.width - 56 - (figure ? SIDE + 28 : 0), high = PICTURE.height - HEAD - FOOT;
  drawPanes(pen, palette, subject, wide, high);
  if (figure && subject.evidence.seen) {
    const seen = subject.evidence.seen, left = PICTURE.width - 28 - SIDE;
    wrapped(pen, palette, plain(figure.words(seen)), left, HEAD + 22, SIDE);
    inside(pen, left, HEAD + 64, SIDE, high - 64, () => figure.paint(pen, palette, { width: SIDE, height: high - 64 }, seen));
  }
  drawKey(pen, palette, store);
}

/**
 * Draw in a rectangle of its own.
 * @param {Pen} pen
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {() => void} draw
 */
function inside(pen, x, y, width, height, draw) {
  pen.save();
  pen.translate(x, y);
  pen.beginPath();
  pen.rect(0, 0, width, height);
  pen.clip();
  draw();
  pen.restore();
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Subject} subject
 * @param {number} wide
 * @param {number} high
 */
function drawPanes(pen, palette, subject, wide, high) {
  const { stage } = subject, count = stage.panes.length, across = count > 1 ? 2 : 1, down = Math.ceil(count / across);
  const { proof, radius } = stage.glide.now;
  stage.panes.forEach((pane, k) => {
    const width = wide / across, height = high / down, x = 28 + (k % across) * width, y = HEAD + Math.floor(k / across) * height;
    const scene = pane.scene(palette, { box: stage.camera, proof, radius, compact: count > 1, room: false, hint: "" });
    if (!scene) return;
    inside(pen, x, y, width, height, () => {
      pen.fillStyle = palette.card;
      pen.fillRect(0, 0, width, height);
      drawPlane(pen, palette, { width, height }, { ...scene, hover: -1, selected: -1, held: -1, bitmap: scene.bitmap && "drawImage" in pen ? scene.bitmap : null });
      if (count > 1) write(pen, palette, learnerName(scene.run.learner.kind), 14, 28, { colour: palette.ink, size: 16, weight: 600, halo: palette.card });
    });
    stroke(pen, [[x, y], [x + width, y], [x + width, y + height], [x, y + height], [x, y]], palette.hair, 1);
  });
}

/**
 * A title on as many lines as it needs.
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} width
 */
function wrapped(pen, palette, text, x, y, width) {
  const style = { colour: palette.ink, size: 19, weight: 600, serif: true };
  write(pen, palette, "", x, y, style);
  let line = "", row = y;
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && pen.measureText(longer).width > width) {
      write(pen, palette, line, x, row, style);
      line = word;
      row += 24;
    } else line = longer;
  }
  write(pen, palette, line, x, row, style);
}

/**
 * @param {Pen} pen
 * @param {Palette} palette
 * @param {Store} store
 */
function drawKey(pen, palette, store) {
  const { state, run } = store, y = PICTURE.height - 20;
  let x = 36;
  /** @type {[number, string][]} */
  const entries = [[1, state.labels[1] ?? "blue: y = +1"], [-1, state.labels[0] ?? "orange: y = −1"]];
  if (state.points.classes === 3) entries.push([2, state.labels[2] ?? "green: third class"]);
  for (const [label, text] of entries) {
    const shown = text.length > 28 ? `${text.slice(0, 27)}…` : text;
    mark(pen, palette, x, y - 5, 7, label);
    write(pen, palette, shown, x + 14, y, { colour: palette.soft, size: 14 });
    x += 40 + pen.measureText(shown).width;
  }
  write(pen, palette, "hollow: wrong side", x, y, { colour: palette.soft, size: 14 });
  const maker = `${run ? learnerName(run.learner.kind) : ""} · separatrix lab`;
  write(pen, palette, maker, PICTURE.width - 28, y, { colour: palette.soft, size: 14, align: "right" });
}
