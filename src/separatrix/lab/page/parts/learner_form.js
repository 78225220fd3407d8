/**
 * The drawer's first section: which learner a pane has, and every option of it.
 */

import { checkOption, LEARNERS, learnerName, OPTIONS } from "../core/learners.js";
import { button, make } from "./dom.js";

/** @typedef {import("../state/store.js").Store} Store */
/** @typedef {import("../state/actions.js").Actions} Actions */
/** @typedef {import("../core/types.js").Kind} Kind */
/** @typedef {import("../core/types.js").Learner} Learner */
/** @typedef {import("../core/types.js").OptionField} OptionField */

/**
 * @param {Store} store
 * @param {Actions} actions
 * @param {(text: string) => void} toast
 * @returns {import("./drawer.js").Section}
 */
export function learnerSection(store, actions, toast) {
  return {
    id: "learner",
    name: "Learner and options",
    key: () => JSON.stringify([store.state.pane, store.state.learners.map((learner) => ({ ...learner, draws: null }))]),
    build: () => {
      const pane = Math.min(store.state.pane, store.state.learners.length - 1), learner = store.state.learners[pane];
      return [
        ...paneTabs(store, pane),
        kindField(actions, pane, learner),
        make("p", { text: `${capital(LEARNERS.find((each) => each.kind === learner.kind)?.about ?? "")}.` }),
        ...OPTIONS[learner.kind].filter((field) => needed(field, learner)).map((field) => optionField(actions, pane, learner, field, toast)),
      ];
    },
  };
}

/**
 * @param {Store} store
 * @param {number} pane
 * @returns {Node[]}
 */
function paneTabs(store, pane) {
  const { learners } = store.state;
  if (learners.length < 2) return [];
  return [make("div", { class: "buttons", role: "group", "aria-label": "Pane" }, ...learners.map((learner, k) => button({ class: "button", text: `${k + 1}. ${learnerName(learner.kind)}`, "aria-pressed": String(k === pane), "data-key": `pane ${k}` }, () => store.set({ pane: k }))))];
}

/**
 * @param {Actions} actions
 * @param {number} pane
 * @param {Learner} learner
 * @returns {Node}
 */
function kindField(actions, pane, learner) {
  const select = make("select", { "data-key": "kind" }, ...LEARNERS.map(({ kind, name }) => make("option", { value: kind, text: name, selected: kind === learner.kind })));
  select.addEventListener("change", () => actions.setKind(pane, /** @type {Kind} */ (select.value)));
  return make("label", { class: "field" }, make("span", { text: "Learner" }), select);
}

/**
 * Whether an option matters for the present choice of the others.
 * @param {OptionField} field
 * @param {Learner} learner
 * @returns {boolean}
 */
function needed(field, learner) {
  switch (field.name) {
    case "centre": return learner.lift === "distance";
    case "seed": return learner.order !== "cyclic";
    case "degree": case "shift": return learner.kernel === "polynomial";
    case "gamma": return learner.kernel !== "linear";
    case "order": return learner.update !== "batch" && learner.update !== "newton";
    default: return true;
  }
}

/**
 * @param {Actions} actions
 * @param {number} pane
 * @param {Learner} learner
 * @param {OptionField} field
 * @param {(text: string) => void} toast
 * @returns {Node}
 */
function optionField(actions, pane, learner, field, toast) {
  const value = /** @type {Record<string, any>} */ (learner)[field.name];
  /** @param {unknown} next */
  const set = (next) => {
    const wrong = checkOption(field, next);
    if (wrong) toast(wrong);
    else actions.setLearner(pane, { [field.name]: next });
  };
  const id = `option-${field.name}`;
  return make("div", { class: "field" }, make("label", { for: id, text: field.label }), control(field, value, set, id), make("small", { text: field.about }));
}

/**
 * @param {OptionField} field
 * @param {any} value
 * @param {(next: unknown) => void} set
 * @param {string} id
 * @returns {HTMLElement}
 */
function control(field, value, set, id) {
  if (field.type === "choice") {
    const select = make("select", { id, "data-key": field.name }, ...(field.choices ?? []).map((choice) => make("option", { value: choice.value, text: choice.label, selected: choice.value === value })));
    select.addEventListener("change", () => set(select.value));
    return select;
  }
  if (field.type === "flag") {
    const box = make("input", { id, type: "checkbox", checked: Boolean(value), "data-key": field.name });
    box.addEventListener("change", () => set(box.checked));
    return box;
  }
  const vector = field.type === "vector";
  const input = make("input", { id, type: "text", inputmode: "decimal", value: vector ? (value ?? []).map(String).join(", ") : String(value), "data-key": field.name, autocomplete: "off" });
  input.addEventListener("change", () => set(vector ? readVector(input.value) : readNumber(input.value)));
  return input;
}

/**
 * @param {string} text
 * @returns {number}
 */
function readNumber(text) {
  return text.trim() === "" ? NaN : Number(text.replace("−", "-"));
}

/**
 * @param {string} text
 * @returns {number[]|null}
 */
function readVector(text) {
  const cells = text.split(/[\s,;]+/).filter(Boolean);
  return cells.length ? cells.map(readNumber) : null;
}

/**
 * @param {string} text
 * @returns {string}
 */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
