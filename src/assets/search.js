// The search of a pair: a combobox over the known pairs. Without it, the browser's own list does.

import { byId, make, plain } from "./format.js";

const SHOWN_MAX = 40;

/** Ranks the pairs that fit what was typed: those that begin so come first. */
export function fitting(pairs, typed) {
  const plainly = (text) => text.toUpperCase().replace(/[^A-Z0-9]/g, "");
  const want = plainly(typed);
  const rank = (pair) => (plainly(pair).startsWith(want) ? 0 : plainly(pair).includes(want) ? 1 : 2);
  return pairs.map((pair) => [rank(pair), pair]).filter(([rank]) => rank < 2).sort(([a], [b]) => a - b).map(([, pair]) => pair);
}

/** Prepares the search; `choose` is told the pair. */
export function prepare(loadPairs, choose) {
  const [form, input, list] = ["search", "asked", "choices"].map(byId);
  let pairs = null;
  let at = -1;

  input.removeAttribute("list");
  for (const [name, value] of Object.entries({ role: "combobox", "aria-controls": "choices", "aria-expanded": "false", "aria-autocomplete": "list" })) {
    input.setAttribute(name, value);
  }

  function close() {
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function open(typed) {
    const found = fitting(pairs ?? [], typed).slice(0, SHOWN_MAX);
    list.replaceChildren(...found.map((pair, index) => make("li", { role: "option", id: `choice-${index}`, "aria-selected": "false" }, plain(pair, 40))));
    at = -1;
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    input.removeAttribute("aria-activedescendant");
  }

  function move(by) {
    if (list.hidden) open("");
    const options = [...list.children];
    if (options.length === 0) return;
    at = (at + by + options.length) % options.length;
    options.forEach((option, index) => option.setAttribute("aria-selected", String(index === at)));
    options[at].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", options[at].id);
  }

  input.addEventListener("focus", async () => {
    input.select();
    pairs ??= await loadPairs();
    if (document.activeElement === input) open("");
  });
  input.addEventListener("input", () => open(input.value));
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Escape") {
      if (list.hidden) input.blur();
      close();
    }
  });
  // A click would take the focus, and the list with it, before it is a click.
  list.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const option = event.target.closest("li");
    if (option) choose(option.textContent);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = list.children[at]?.textContent ?? input.value.trim();
    if (chosen) choose(chosen);
  });
  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || writing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
}
