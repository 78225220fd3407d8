/**
 * Keys of the whole page, except in text fields.
 */

import { isTyping } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */

/**
 * @typedef {object} Page the actions of keys on the page
 * @property {() => void} theme
 * @property {() => void} link
 * @property {(section: string) => void} drawer
 * @property {() => void} close
 */

/**
 * @param {Store} store
 * @param {Actions} actions
 * @param {Page} page
 */
export function listenToKeys(store, actions, page) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || isTyping(event.target) || event.altKey) return;
    const act = event.ctrlKey || event.metaKey ? chord(event, store) : single(event, store, actions, page);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/**
 * @param {KeyboardEvent} event
 * @param {Store} store
 * @returns {(() => void)|null}
 */
function chord(event, store) {
  const key = event.key.toLowerCase();
  if (key === "z") return event.shiftKey ? () => store.redo() : () => store.undo();
  return key === "y" ? () => store.redo() : null;
}

/** @type {Record<string, [number, number]>} */
const NUDGES = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };

/**
 * @param {KeyboardEvent} event
 * @param {Store} store
 * @param {Actions} actions
 * @param {Page} page
 * @returns {(() => void)|null}
 */
function single(event, store, actions, page) {
  const { key, target } = event, { state } = store;
  if (event.shiftKey && NUDGES[key]) return state.selected >= 0 ? () => actions.nudge(...NUDGES[key]) : null;
  if (key === " ") return target instanceof HTMLElement && target.closest("button, summary, a, input, pre") ? null : () => actions.toggle();
  if (target instanceof HTMLInputElement && target.type === "range") return null;
  switch (key) {
    case "ArrowLeft": return () => actions.step("mistake", -1);
    case "ArrowRight": return () => actions.step("mistake", 1);
    case ",": return () => actions.step("visit", -1);
    case ".": return () => actions.step("visit", 1);
    case "Home": return () => actions.seek(0);
    case "End": return () => actions.seek(store.length);
    case "[": return () => actions.select(-1);
    case "]": return () => actions.select(1);
    case "f": return () => actions.flip(state.selected);
    case "Delete": case "Backspace": return () => actions.remove(state.selected);
    case "a": return () => addBeside(store, actions);
    case "p": return () => store.set({ proof: !state.proof });
    case "b": return () => actions.setLearner(state.pane, { intercept: !state.learners[state.pane].intercept, start: null });
    case "t": return page.theme;
    case "l": return page.link;
    case "s": return () => page.drawer("carry");
    case "o": return () => page.drawer("learner");
    case "?": return () => page.drawer("keys");
    case "Escape": return page.close;
    default: return null;
  }
}

/**
 * A new point beside the selected one, of the class of the tool or of that point.
 * @param {Store} store
 * @param {Actions} actions
 */
function addBeside(store, actions) {
  const { points, selected, tool } = store.state, beside = selected >= 0 && selected < points.n;
  const label = tool === "minus" ? -1 : tool === "third" ? 2 : tool === "plus" ? 1 : beside ? points.label[selected] : 1;
  actions.add(beside ? points.x1[selected] + 0.5 : 0.5, beside ? points.x2[selected] + 0.5 : 0.5, label);
}
