// A form of native controls from a plain list of fields. What a person does is sent as {name, value}; nothing is evaluated.
const SLOWEST = 60; // milliseconds between the messages of one sliding control

export function render({ model }) {
  const form = document.createElement("div");
  form.setAttribute("role", "group");
  let parts = new Map();
  let built = "";

  function shape(field) {
    return [field.name, field.kind, field.sign ? null : field.label, field.options ?? null, field.hint ?? null, field.step ?? null, field.more ?? null];
  }

  function show() {
    form.setAttribute("aria-label", model.title);
    form.className = `form ${model.look}`;
    const now = JSON.stringify(model.fields.map(shape));
    if (now !== built) {
      built = now;
      const made = model.fields.map((field) => [field.name, make(field, (value) => model.send_msg({ name: field.name, value }))]);
      parts = new Map(made);
      form.replaceChildren(...arranged(model.fields, made.map(([, part]) => part.box), form));
    }
    for (const field of model.fields) parts.get(field.name).set(field);
  }

  model.on("fields", show);
  model.on("msg:custom", ({ unchanged }) => {
    const field = model.fields.find((each) => each.name === unchanged);
    if (field) parts.get(unchanged).set(field, true);
  });
  show();
  return form;
}

// Fields marked "more" lie behind a fold, which stays open if it was.
function arranged(fields, boxes, form) {
  const plain = boxes.filter((_, place) => !fields[place].more);
  const behind = boxes.filter((_, place) => fields[place].more);
  if (!behind.length) return plain;
  const fold = element("details", { class: "more" }, element("summary", {}, "more options"), element("div", { class: "behind" }, ...behind));
  fold.open = Boolean(form.querySelector("details")?.open);
  return [...plain, fold];
}

function element(kind, attributes = {}, ...children) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function make(field, send) {
  const part = MAKERS[field.kind](field, send);
  part.box.dataset.field = field.name;
  part.box.classList.add("field", field.kind);
  if (field.hint) part.box.title = field.hint;
  return part;
}

const MAKERS = { select, range, number, text, button, radio, check, file, note };

let made = 0; // controls so far: each has an id that its label names

function labelled(field, control, ...shown) {
  control.id = `control-${++made}`;
  return element("div", {}, element("label", { class: "label", for: control.id }, field.label), ...shown, control);
}

function select(field, send) {
  const control = element("select", {}, ...field.options.map(([value, label]) => element("option", { value }, label)));
  control.addEventListener("change", () => send(control.value));
  return {
    box: labelled(field, control),
    set: (told) => { control.value = String(told.value); control.disabled = Boolean(told.disabled); },
  };
}

function range(field, send) {
  const control = element("input", { type: "range", min: field.min, max: field.max, step: field.step });
  const shown = element("output", {}, field.shown ?? "");
  let held = false, last = 0, waiting = null;
  const tell = () => { waiting = null; last = Date.now(); send(Number(control.value)); };
  control.addEventListener("pointerdown", () => { held = true; });
  for (const end of ["pointerup", "pointercancel", "change"]) control.addEventListener(end, () => { held = false; });
  control.addEventListener("input", () => {
    if (waiting === null) waiting = setTimeout(tell, Math.max(0, SLOWEST - (Date.now() - last)));
  });
  return {
    box: labelled(field, control, shown),
    set: (told) => {
      control.min = told.min; control.max = told.max;
      if (!held && waiting === null) control.value = told.value;
      shown.textContent = told.shown ?? String(told.value);
      control.setAttribute("aria-valuetext", shown.textContent);
      control.disabled = Boolean(told.disabled);
    },
  };
}

function entry(type, read) {
  return (field, send) => {
    const control = element("input", { type, min: field.min, max: field.max, step: field.step ?? (type === "number" ? "any" : null),
      placeholder: field.placeholder, spellcheck: "false", autocomplete: "off" });
    control.addEventListener("change", () => { const value = read(control); if (value !== null) send(value); });
    return {
      box: labelled(field, control),
      set: (told, refused) => {
        if (refused || control.getRootNode().activeElement !== control) control.value = told.value ?? "";
        control.disabled = Boolean(told.disabled);
      },
    };
  };
}

function number(field, send) {
  return entry("number", (control) => (control.value === "" ? null : Number(control.value)))(field, send);
}

function text(field, send) {
  return entry("text", (control) => control.value)(field, send);
}

// Signs of the time buttons, drawn here: fonts differ in which of them they have.
const SIGNS = {
  first: "M3 3h2v12H3zM15 3v12L6 9z", back: "M13 3v12L4 9z", play: "M5 3v12l10-6z", pause: "M4 3h4v12H4zM10 3h4v12h-4z",
  step: "M4 3v12l8-6zM13 3h2v12h-2z", last: "M3 3v12l9-6zM13 3h2v12h-2z",
};

function sign(name) {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  for (const [key, value] of Object.entries({ viewBox: "0 0 18 18", width: 16, height: 16, "aria-hidden": "true" })) drawn.setAttribute(key, value);
  path.setAttribute("d", SIGNS[name]);
  path.setAttribute("fill", "currentColor");
  drawn.append(path);
  return drawn;
}

function button(field, send) {
  const control = element("button", { type: "button", "aria-keyshortcuts": field.keys }, field.label);
  control.addEventListener("click", () => send(true));
  return {
    box: control,
    set: (told) => {
      control.disabled = Boolean(told.disabled);
      if (told.pressed !== undefined) control.setAttribute("aria-pressed", String(Boolean(told.pressed)));
      if (told.sign) { control.replaceChildren(sign(told.sign)); control.setAttribute("aria-label", told.label); }
    },
  };
}

function radio(field, send) {
  const group = `${field.name}-${Math.random().toString(36).slice(2)}`;
  const choices = field.options.map(([value, label, hint]) => {
    const control = element("input", { type: "radio", name: group, value });
    control.addEventListener("change", () => send(value));
    return { value, control, box: element("label", { title: hint }, control, element("span", {}, label)) };
  });
  const legend = element("legend", { class: "label" }, field.label);
  return {
    box: element("fieldset", {}, legend, element("div", { class: "choices" }, ...choices.map((each) => each.box))),
    set: (told) => { for (const each of choices) each.control.checked = String(told.value) === each.value; },
  };
}

function check(field, send) {
  const control = element("input", { type: "checkbox" });
  control.addEventListener("change", () => send(control.checked));
  return {
    box: element("label", {}, control, element("span", {}, field.label)),
    set: (told) => { control.checked = Boolean(told.value); control.disabled = Boolean(told.disabled); },
  };
}

function file(field, send) {
  const control = element("input", { type: "file", accept: field.accept });
  control.addEventListener("change", async () => {
    const chosen = control.files[0];
    if (!chosen) return;
    if (chosen.size > field.most) {
      send({ name: chosen.name, size: chosen.size });
    } else {
      const bytes = new Uint8Array(await chosen.arrayBuffer());
      let written = "";
      for (let from = 0; from < bytes.length; from += 32768) written += String.fromCharCode(...bytes.subarray(from, from + 32768));
      send({ name: chosen.name, size: chosen.size, content: btoa(written) });
    }
    control.value = "";
  });
  return { box: labelled(field, control), set: () => {} };
}

function note(field) {
  const box = element("p", {});
  return { box, set: (told) => { box.textContent = told.value; } };
}
