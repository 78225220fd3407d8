/**
 * The colours and fonts of the page as plain strings, for canvases.
 *
 * Tokens may be system colours (forced colours), so each is resolved through an element
 * whose computed colour is always "rgb(…)".
 */

/** @typedef {"paper"|"card"|"ink"|"soft"|"edge"|"hair"|"plus"|"plus-text"|"plus-tint"|"minus"|"minus-text"|"minus-tint"|"third"|"third-text"|"third-tint"|"proof"|"proof-tint"|"proof-mid"} Token */
/** @typedef {Record<Token, string> & {serif: string, sans: string, mono: string, scale: number}} Palette */

/** @type {Token[]} */
const TOKENS = ["paper", "card", "ink", "soft", "edge", "hair", "plus", "plus-text", "plus-tint", "minus", "minus-text", "minus-tint", "third", "third-text", "third-tint", "proof", "proof-tint", "proof-mid"];

/**
 * Read the palette that is in force now.
 * @param {HTMLElement} root element on which the tokens are declared
 * @param {number} scale factor for marks and type (1.5 on a projector)
 * @returns {Palette}
 */
export function readPalette(root, scale) {
  const style = getComputedStyle(root);
  const probe = document.createElement("i");
  probe.hidden = true;
  root.append(probe);
  /** @type {Record<string, any>} */
  const palette = { scale };
  for (const token of TOKENS) {
    probe.style.color = style.getPropertyValue(`--${token}`).trim();
    palette[token] = getComputedStyle(probe).color;
  }
  probe.remove();
  for (const font of ["serif", "sans", "mono"]) palette[font] = style.getPropertyValue(`--${font}`).trim();
  return /** @type {Palette} */ (palette);
}

/**
 * Token of a class: +1 is blue, −1 is orange, 2 is the third class.
 * @param {number} label
 * @returns {"plus"|"minus"|"third"}
 */
export function classToken(label) {
  if (label === 2) return "third";
  return label > 0 ? "plus" : "minus";
}
