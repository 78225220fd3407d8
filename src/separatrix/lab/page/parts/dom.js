/**
 * Elements and texts. Texts are always set as text: no function here reads markup.
 */

import { pieces } from "../words/markup.js";

/** @typedef {import("../core/types.js").Piece} Piece */

const SVG = "http://www.w3.org/2000/svg";

/**
 * The element with an id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found;
}

/**
 * Make an element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string|boolean|number>} [attributes] `text` sets its text
 * @param {...Node} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = String(value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false) node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
}

/**
 * A button.
 * @param {Record<string, string|boolean|number>} attributes
 * @param {() => void} action
 * @param {...Node} children
 * @returns {HTMLButtonElement}
 */
export function button(attributes, action, ...children) {
  const node = make("button", { type: "button", ...attributes }, ...children);
  node.addEventListener("click", action);
  return node;
}

/**
 * An icon of the page's own symbols.
 * @param {string} name
 * @param {string} [className]
 * @returns {SVGSVGElement}
 */
export function icon(name, className = "") {
  const svg = /** @type {SVGSVGElement} */ (document.createElementNS(SVG, "svg"));
  svg.setAttribute("aria-hidden", "true");
  if (className) svg.setAttribute("class", className);
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#${name}`);
  svg.append(use);
  return svg;
}

/** @type {WeakMap<Node, string>} */
const said = new WeakMap();

/**
 * Set marked-up text, if it changed.
 * @param {HTMLElement} node
 * @param {string} text
 * @param {(piece: Piece) => Node} [shape]
 */
export function say(node, text, shape = shapePiece) {
  if (said.get(node) === text) return;
  said.set(node, text);
  node.replaceChildren(...pieces(text).map(shape));
}

/**
 * One piece of a sentence as an element.
 * @param {Piece} piece
 * @returns {Node}
 */
export function shapePiece(piece) {
  switch (piece.role) {
    case "math": return make("i", { text: piece.text });
    case "plus": case "minus": case "proof": return make("b", { class: piece.role, text: piece.text });
    case "number": return make("span", { class: "num", text: piece.text });
    default: return document.createTextNode(piece.text);
  }
}

/**
 * Set an attribute, if it changed.
 * @param {Element} node
 * @param {string} name
 * @param {string|number|boolean} value
 */
export function put(node, name, value) {
  const text = String(value);
  if (node.getAttribute(name) !== text) node.setAttribute(name, text);
}

/**
 * Whether keys belong to a field that the user types into.
 * @param {EventTarget|null} target
 * @returns {boolean}
 */
export function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  return target.matches("input:not([type=range]):not([type=checkbox]):not([type=file]), textarea, select") || target.isContentEditable;
}
