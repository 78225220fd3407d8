// What only the browser can do: keys, the clipboard, files to keep, the address of the page.
const TYPING = new Set(["INPUT", "SELECT", "TEXTAREA", "BUTTON"]);

export function render({ model }) {
  const box = document.createElement("div");
  const listen = (event) => {
    const name = named(event);
    if (!model.keys.includes(name) || busy(event, name)) return;
    event.preventDefault();
    model.send_msg({ key: name });
  };
  document.addEventListener("keydown", listen);
  model.on("remove", () => document.removeEventListener("keydown", listen));
  model.on("msg:custom", async (message) => {
    if (message.copy !== undefined) model.send_msg({ copied: await copy(message.copy), what: message.what });
    if (message.keep !== undefined) window.history.replaceState(null, "", address(message.keep));
    if (message.link !== undefined) model.send_msg({ copied: await copy(address(message.link).href), what: "the link" });
    if (message.save !== undefined) save(message.save, new Blob([message.text], { type: message.type }));
    if (message.picture !== undefined) await picture(message.picture, message.figure, message.name);
  });
  return box;
}

function named(event) {
  const special = [event.ctrlKey && "Ctrl", event.altKey && "Alt", event.metaKey && "Meta"].filter(Boolean);
  const key = event.key === " " ? "Space" : event.key;
  const shifted = event.shiftKey && key.length > 1 ? ["Shift"] : [];
  return [...special, ...shifted, key].join("+");
}

// A control in use keeps its own keys: letters and arrows in an input, the space bar on a button.
function busy(event, name) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element) || !TYPING.has(target.tagName)) return target.isContentEditable === true;
  if (target.tagName === "BUTTON") return name === "Space" || name === "Enter";
  const ticked = target.tagName === "INPUT" && (target.type === "checkbox" || target.type === "file");
  return ticked ? name === "Space" : true;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function address(query) {
  const here = new URL(window.location.href);
  here.search = query;
  return here;
}

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function picture(type, figure, name) {
  for (const root of Object.values(window.Bokeh.index)) {
    const view = found(root, figure);
    if (view) return save(`${name}.${type}`, await view.export(type).to_blob());
  }
}

function found(view, id) {
  if (view.model.id === id) return view;
  for (const child of view.children?.() ?? []) {
    const hit = found(child, id);
    if (hit) return hit;
  }
  return null;
}
