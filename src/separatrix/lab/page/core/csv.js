/**
 * Tables dropped on the stage, and exported tables.
 *
 * A csv is read by its values: the separator is the one that cuts every line alike, a column is numeric if all its cells
 * are numbers (empty ones and a few words for a gap aside), and a class column has two or three different values. Of the
 * pairs of numeric columns those come first along which the class means lie farthest apart, relative to the spread within
 * the classes (Mahalanobis). Cost: one pass, and one per pair of columns.
 */

import { MOST_ROWS, fromColumns } from "./points.js";
import { escape } from "../words/markup.js";
import { counted, num } from "../words/number.js";

/** @typedef {import("./types.js").Table} Table */
/** @typedef {import("./types.js").TableColumn} TableColumn */
/** @typedef {import("./types.js").Offer} Offer */
/** @typedef {import("./types.js").Chosen} Chosen */
/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("./types.js").Derivation} Derivation */

const SEPARATORS = [",", ";", "\t", "|"];
const GAPS = new Set(["", "na", "n/a", "nan", "null", "none", "?", "-", "."]);
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const COMMA_NUMBER = /^[+-]?\d+(?:,\d+)?$/;
const LARGEST_FILE = 30_000_000;
const MOST_COLUMNS = 200;
const MOST_CLASSES = 3;
const MOST_LEVELS = 50;
const PAIR_COLUMNS = 20;
const SCALED = " (standardised)";

/**
 * Read a csv.
 * @param {string} text
 * @param {string} name of the file
 * @returns {Table}
 */
export function readCsv(text, name) {
  /** @type {Table} */
  const table = { name, rows: 0, columns: [], targets: [], problem: null };
  if (text.length > LARGEST_FILE) return { ...table, problem: `${escape(name)} has ${num(Math.round(text.length / 1e6))} MB, more than the lab accepts. Fit it with: separatrix fit FILE --target COLUMN` };
  const separator = findSeparator(text);
  const lines = split(text, separator).filter((cells) => cells.length > 1 || cells[0].trim() !== "");
  if (lines.length < 2) return { ...table, problem: `${escape(name)} has no rows: a line of names and one line per row are needed.` };
  if (lines.length - 1 > MOST_ROWS) return { ...table, problem: `${escape(name)} has ${num(lines.length - 1)} rows, and the lab shows at most ${num(MOST_ROWS)}. Fit them with: separatrix fit FILE --target COLUMN` };
  const names = uniqueNames(lines[0]);
  if (names.length > MOST_COLUMNS) return { ...table, problem: `${escape(name)} has ${num(names.length)} columns; the lab accepts up to ${num(MOST_COLUMNS)}.` };
  const ragged = lines.findIndex((cells) => cells.length !== names.length);
  if (ragged > 0) return { ...table, problem: `Line ${num(ragged + 1)} of ${escape(name)} has ${counted(lines[ragged].length, "cell")}; the first line has ${num(names.length)}.` };
  const columns = names.map((column, j) => readColumn(column, lines.slice(1).map((cells) => cells[j].trim()), separator === ";"));
  const targets = columns.filter(isTarget).map((column) => column.name);
  const numbers = columns.filter((column) => column.type === "number").length;
  const preferred = [...targets].sort((a, b) => rank(columns, a) - rank(columns, b));
  let problem = null;
  if (!targets.length) problem = `No column of ${escape(name)} has two or three different values, so there are no classes to separate.`;
  else if (!numbers) problem = `${escape(name)} has no numeric column; the lab shows two.`;
  return { name, rows: lines.length - 1, columns, targets: preferred, problem };
}

/** Put words before numbers, and later columns before earlier ones. @param {TableColumn[]} columns @param {string} name */
function rank(columns, name) {
  const place = columns.findIndex((column) => column.name === name);
  return (columns[place].type === "number" ? 1000 : 0) - place;
}

/** @param {string} text */
function findSeparator(text) {
  const head = text.slice(0, 20000);
  let [best, most] = [",", 0];
  for (const separator of SEPARATORS) {
    const widths = split(head, separator).slice(0, 20).slice(0, -1).map((cells) => cells.length);
    const width = widths[0] ?? split(head, separator)[0]?.length ?? 0;
    const alike = widths.every((each) => each === width) ? 1000 : 1;
    if (width > 1 && width * alike > most) [best, most] = [separator, width * alike];
  }
  return best;
}

/** Cut a text into cells, quotes as in RFC 4180. @param {string} text @param {string} separator @returns {string[][]} */
function split(text, separator) {
  /** @type {string[][]} */
  const lines = [];
  /** @type {string[]} */
  let cells = [];
  let cell = "";
  let quoted = false;
  const clean = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  for (let k = 0; k < clean.length; k++) {
    const letter = clean[k];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (clean[k + 1] === '"') cell += clean[++k];
      else quoted = false;
    } else if (letter === '"' && cell.trim() === "") {
      quoted = true;
      cell = "";
    } else if (letter === separator) {
      cells.push(cell);
      cell = "";
    } else if (letter === "\n" || letter === "\r") {
      if (letter === "\r" && clean[k + 1] === "\n") k++;
      lines.push([...cells, cell]);
      cells = [];
      cell = "";
    } else cell += letter;
  }
  if (cell !== "" || cells.length) lines.push([...cells, cell]);
  return lines;
}

/** @param {string[]} cells */
function uniqueNames(cells) {
  const seen = new Map();
  return cells.map((cell, j) => {
    const name = cell.trim() || `column ${j + 1}`;
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return before ? `${name} (${before + 1})` : name;
  });
}

/** @param {string} name @param {string[]} cells @param {boolean} commas whether 1,5 may be a number @returns {TableColumn} */
function readColumn(name, cells, commas) {
  const gaps = cells.map((cell) => GAPS.has(cell.toLowerCase()));
  const filled = cells.filter((_, i) => !gaps[i]);
  const missing = cells.length - filled.length;
  const levels = [...new Set(filled)].slice(0, MOST_LEVELS + 1);
  if (!filled.length) return { name, type: "empty", numbers: null, cells, missing, levels: [] };
  const european = commas && filled.every((cell) => COMMA_NUMBER.test(cell) || NUMBER.test(cell));
  if (european || filled.every((cell) => NUMBER.test(cell))) {
    const numbers = Float64Array.from(cells, (cell, i) => (gaps[i] ? NaN : Number(european ? cell.replace(",", ".") : cell)));
    return { name, type: "number", numbers, cells, missing, levels: levels.length <= MOST_LEVELS ? levels.sort((a, b) => Number(a) - Number(b)) : [] };
  }
  const type = levels.length <= MOST_LEVELS && levels.length < Math.max(3, filled.length) ? "category" : "text";
  return { name, type, numbers: null, cells, missing, levels: type === "category" ? levels.sort() : [] };
}

/** @param {TableColumn} column */
function isTarget(column) {
  if (column.levels.length < 2 || column.levels.length > MOST_CLASSES) return false;
  return column.type === "category" || (column.type === "number" && column.levels.every((level) => Number.isInteger(Number(level))));
}

/** @param {Table} table @param {string} name */
function columnOf(table, name) {
  return table.columns.find((column) => column.name === name) ?? null;
}

/** Return the class of each row of a target, −1 where it has none. @param {TableColumn} target */
function codesOf(target) {
  const places = new Map(target.levels.map((level, code) => [level, code]));
  return Int8Array.from(target.cells, (cell) => places.get(cell) ?? -1);
}

/**
 * Return the pairs of numeric columns, those that separate the classes best first.
 * @param {Table} table
 * @param {string} target
 * @returns {Offer[]}
 */
export function offers(table, target) {
  const column = columnOf(table, target);
  if (!column) return [];
  const codes = codesOf(column);
  const usable = table.columns.filter((each) => each.numbers && each.name !== target);
  const telling = usable.filter((each) => !isRunning(/** @type {Float64Array} */ (each.numbers)));
  const numeric = telling.length ? telling : usable;
  const single = numeric.map((each) => ({ each, score: distance(/** @type {Float64Array} */ (each.numbers), null, codes) }));
  const best = single.sort((a, b) => b.score - a.score).slice(0, PAIR_COLUMNS).map(({ each }) => each);
  if (best.length === 1) return [{ pair: [best[0].name, ""], score: 0 }];
  /** @type {Offer[]} */
  const pairs = [];
  const order = (/** @type {TableColumn} */ each) => table.columns.indexOf(each);
  for (let i = 0; i < best.length; i++) {
    for (let j = i + 1; j < best.length; j++) {
      const [a, b] = order(best[i]) < order(best[j]) ? [best[i], best[j]] : [best[j], best[i]];
      pairs.push({ pair: [a.name, b.name], score: distance(/** @type {Float64Array} */ (a.numbers), b.numbers, codes) });
    }
  }
  return pairs.sort((a, b) => b.score - a.score);
}

/** Tell whether a column only numbers the rows: whole numbers, each one more than the last. @param {Float64Array} numbers */
function isRunning(numbers) {
  return numbers.length > 2 && numbers.every((value, i) => Number.isInteger(value) && (i === 0 || value === numbers[i - 1] + 1));
}

/**
 * Return the squared distances of the class means relative to the spread within, summed over pairs of classes.
 * @param {Float64Array} x @param {Float64Array|null} y @param {Int8Array} codes
 */
function distance(x, y, codes) {
  const sums = [0, 1, 2].map(() => ({ n: 0, x: 0, y: 0 }));
  for (let i = 0; i < x.length; i++) {
    if (codes[i] < 0 || !Number.isFinite(x[i]) || (y && !Number.isFinite(y[i]))) continue;
    const sum = sums[codes[i]];
    sum.n++;
    sum.x += x[i];
    sum.y += y ? y[i] : 0;
  }
  const present = sums.filter((sum) => sum.n).map((sum) => ({ x: sum.x / sum.n, y: sum.y / sum.n }));
  if (present.length < 2) return 0;
  let [xx, xy, yy, n] = [0, 0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    if (codes[i] < 0 || !Number.isFinite(x[i]) || (y && !Number.isFinite(y[i]))) continue;
    const { n: count, x: sx, y: sy } = sums[codes[i]];
    const [dx, dy] = [x[i] - sx / count, y ? y[i] - sy / count : 0];
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
    n++;
  }
  [xx, xy, yy] = [xx / n + 1e-12, xy / n, yy / n + (y ? 1e-12 : 1)];
  const determinant = xx * yy - xy * xy;
  let total = 0;
  for (let i = 0; i < present.length; i++) {
    for (let j = i + 1; j < present.length; j++) {
      const [dx, dy] = [present[i].x - present[j].x, present[i].y - present[j].y];
      total += (yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / determinant;
    }
  }
  return Number.isFinite(total) ? total : 0;
}

/**
 * Return the points of two columns and a target; rows with a gap are left out and counted.
 * @param {Table} table
 * @param {string} target
 * @param {[string, string]} pair the second may be "", for one numeric column
 * @param {boolean} standardise
 * @returns {Chosen}
 */
export function choose(table, target, pair, standardise) {
  const column = columnOf(table, target);
  const [first, second] = pair.map((name) => columnOf(table, name)?.numbers ?? null);
  /** @type {Chosen} */
  const nothing = { points: fromColumns(new Float64Array(0), new Float64Array(0), new Int8Array(0)), names: pair, labels: [], leftOut: 0, why: "", scales: [null, null], problem: null };
  if (!column || column.levels.length < 2 || column.levels.length > MOST_CLASSES) return { ...nothing, problem: `"${escape(target)}" is not a column with two or three classes.` };
  if (!first || (pair[1] !== "" && !second)) return { ...nothing, problem: `"${escape(first ? pair[1] : pair[0])}" is not a numeric column.` };
  const codes = codesOf(column);
  const rows = [];
  let [noClass, noNumber] = [0, 0];
  for (let i = 0; i < table.rows; i++) {
    if (codes[i] < 0) noClass++;
    else if (!Number.isFinite(first[i]) || (second && !Number.isFinite(second[i]))) noNumber++;
    else rows.push(i);
  }
  const x1 = Float64Array.from(rows, (i) => first[i]);
  const x2 = Float64Array.from(rows, (i) => (second ? second[i] : 0));
  const label = Int8Array.from(rows, (i) => [-1, 1, 2][codes[i]]);
  const scales = [x1, x2].map((x) => (standardise ? standardised(x) : null));
  const names = /** @type {[string, string]} */ (pair.map((name, k) => (scales[k] ? `${name}${SCALED}` : name)));
  const why = leftOutWords(noClass, noNumber, target, pair) + (standardise ? scaledWords(pair.filter((_, k) => scales[k]), second ? 2 : 1) : "");
  return { ...nothing, points: fromColumns(x1, x2, label), names, labels: column.levels, leftOut: noClass + noNumber, why, scales, problem: rows.length ? null : "No row has both numbers and a class." };
}

/** @param {number} noClass @param {number} noNumber @param {string} target @param {[string, string]} pair */
function leftOutWords(noClass, noNumber, target, pair) {
  const parts = [];
  if (noNumber) parts.push(`${counted(noNumber, "row")} without ${pair[1] ? `"${escape(pair[0])}" or "${escape(pair[1])}"` : `"${escape(pair[0])}"`}`);
  if (noClass) parts.push(`${counted(noClass, "row")} without "${escape(target)}"`);
  return parts.length ? `Left out: ${parts.join(", and ")}.` : "Every row is shown.";
}

/**
 * Standardise a column in place: mean 0, standard deviation 1. A constant column, or one of which rounding would make
 * two values equal, is not changed: null. Powers of two keep squares in range and change no digit.
 * @param {Float64Array} x @returns {{mean: number, spread: number}|null}
 */
function standardised(x) {
  const most = x.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
  if (!(most > 0)) return null;
  const unit = 2 ** Math.floor(Math.log2(most));
  let mean = 0;
  for (const value of x) mean += value / unit / x.length;
  let square = 0;
  for (const value of x) square += ((value / unit - mean) * (value / unit - mean)) / x.length;
  const spread = Math.sqrt(square);
  const scaled = x.map((value) => (value / unit - mean) / spread);
  if (!(spread > 0) || !scaled.every(Number.isFinite) || new Set(scaled).size < new Set(x).size) return null;
  x.set(scaled);
  return { mean: mean * unit, spread: spread * unit };
}

/** Say which columns are shown standardised. @param {string[]} names those that are @param {number} columns */
function scaledWords(names, columns) {
  if (!names.length) return " No column could be standardised.";
  return names.length === columns ? " Columns are standardised: mean 0, standard deviation 1." : ` Only "${escape(names[0])}" is standardised: mean 0, standard deviation 1.`;
}

/** Write a cell: quoted where it must be, and never such that a spreadsheet takes it for a formula. @param {string} text */
function cellText(text) {
  const safe = /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Return the points as csv.
 * @param {Points} points @param {string[]} [names] @param {string[]} [labels] of −1, +1 and 2
 */
export function pointsCsv(points, names = ["x1", "x2"], labels = ["-1", "1", "2"]) {
  const lines = [[names[0] ?? "x1", names[1] || "x2", "class"].map(cellText).join(",")];
  for (let i = 0; i < points.n; i++) {
    const code = points.label[i] === -1 ? 0 : points.label[i];
    lines.push([String(points.x1[i]), String(points.x2[i]), cellText(labels[code] ?? String(points.label[i]))].join(","));
  }
  return `${lines.join("\n")}\n`;
}

/**
 * Return the trace as csv: one line per tick, with row, score, mistake, and the weights after it.
 * @param {Derivation} derivation
 */
export function traceCsv(derivation) {
  const { trace, learner } = derivation;
  const weights = Array.from({ length: trace.p }, (_, j) => (learner.kind === "softmax" ? `w${j}` : learner.intercept ? (j ? `w${j}` : "b") : `w${j + 1}`));
  const more = [...(trace.objective ? ["objective"] : []), ...(trace.gradientNorm ? ["gradient_norm"] : [])];
  const lines = [[trace.byRow ? "visit" : "step", "row", "score", "mistake", ...weights, "squared_norm", ...more].join(",")];
  for (let k = 0; k < trace.length; k++) {
    const version = trace.version[k];
    const w = Array.from({ length: trace.p }, (_, j) => String(trace.weights[version * trace.p + j]));
    const values = [trace.objective, trace.gradientNorm].filter(Boolean).map((array) => String(/** @type {Float64Array} */ (array)[version]));
    const row = trace.row[k] < 0 ? "" : String(trace.row[k] + 1);
    const score = Number.isNaN(trace.score[k]) ? "" : String(trace.score[k]);
    lines.push([String(k + 1), row, score, String(trace.wrong[k]), ...w, trace.p ? String(trace.squaredNorm[version]) : "", ...values].join(","));
  }
  return `${lines.join("\n")}\n`;
}
