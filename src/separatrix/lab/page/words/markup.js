/**
 * Sentences with a few marks and no markup: *mathematics*, [+class 1], [-class 2], [=proved], [#live number].
 *
 * A backslash makes the next character literal. Anything else is plain text, so no text can break out.
 */

/** @typedef {import("../core/types.js").Piece} Piece */

/** @type {Record<string, Piece["role"]>} */
const ROLES = { "+": "plus", "-": "minus", "=": "proof", "#": "number" };

/**
 * Cut marked-up text into pieces.
 * @param {string} text
 * @returns {Piece[]}
 */
export function pieces(text) {
  /** @type {Piece[]} */
  const cut = [];
  let role = /** @type {Piece["role"]} */ ("plain");
  let piece = "";
  const next = (/** @type {Piece["role"]} */ to) => {
    if (piece) cut.push({ text: piece, role });
    piece = "";
    role = to;
  };
  for (let k = 0; k < text.length; k++) {
    const letter = text[k];
    if (letter === "\\" && k + 1 < text.length) piece += text[++k];
    else if (letter === "*" && (role === "plain" || role === "math")) next(role === "plain" ? "math" : "plain");
    else if (letter === "[" && role === "plain" && text[k + 1] in ROLES) next(ROLES[text[++k]]);
    else if (letter === "]" && role !== "plain" && role !== "math") next("plain");
    else piece += letter;
  }
  next("plain");
  return cut;
}

/** Return the text without its marks. @param {string} text */
export function plain(text) {
  return pieces(text).map((piece) => piece.text).join("");
}

/** Return text of users such that it is shown as it is. @param {string} text */
export function escape(text) {
  return text.replace(/[\\*[\]]/g, "\\$&");
}
