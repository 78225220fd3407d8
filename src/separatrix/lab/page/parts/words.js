// Text and tables that the server has written; of a live one only the parts that changed are read out.
export function render({ model }) {
  const box = document.createElement("div");
  box.className = `words ${model.look}`;
  if (model.title) box.setAttribute("aria-label", model.title);
  if (model.live) { box.setAttribute("role", "status"); box.setAttribute("aria-live", "polite"); box.setAttribute("aria-atomic", "false"); }
  const show = () => {
    const made = document.createElement("template");
    made.innerHTML = model.html;
    const now = [...made.content.children];
    const old = [...box.children];
    now.forEach((part, place) => {
      if (place >= old.length) box.append(part);
      else if (old[place].outerHTML !== part.outerHTML) old[place].replaceWith(part);
    });
    for (const part of old.slice(now.length)) part.remove();
    const frame = box.querySelector(".scroll");
    const row = box.querySelector("tr.now");
    if (frame && row) frame.scrollTop = row.offsetTop - frame.clientHeight / 2;
  };
  model.on("html", show);
  show();
  return box;
}
