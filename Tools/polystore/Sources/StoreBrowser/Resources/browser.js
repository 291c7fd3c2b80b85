"use strict";

// Every page works without this script. It adds the keys, the completion of conditions, and what changes while a page is open.

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const setting = "polystore-keys";

// MARK: Keys

function keysAreEnabled() {
  try { return localStorage.getItem(setting) !== "off"; } catch { return true; }
}

function isTyping(target) {
  return target.closest("textarea, select") !== null
    || (target.tagName === "INPUT" && !["checkbox", "button", "submit"].includes(target.type));
}

function focusOn(element) {
  if (!element) return false;
  for (let parent = element.parentElement; parent; parent = parent.parentElement) {
    if (parent.tagName === "DETAILS" && element.tagName !== "SUMMARY") parent.open = true;
  }
  element.focus();
  element.scrollIntoView({ block: "nearest" });
  return true;
}

function moveRow(step) {
  const links = all("#rows tbody th a, #entities tbody th a, #transactions a");
  if (links.length === 0) return false;
  const row = document.activeElement.closest("tr, li");
  const index = row ? links.findIndex((link) => row.contains(link)) : -1;
  const next = index < 0 ? (step > 0 ? 0 : links.length - 1) : index + step;
  return focusOn(links[Math.max(0, Math.min(links.length - 1, next))]);
}

function openDetails(selector) {
  const details = one(selector);
  if (!details) return false;
  details.open = true;
  return focusOn(one("summary", details));
}

const commands = {
  "?": () => { one("#help").showModal(); return true; },
  "d": () => focusOn(one("#diagram")) || follow("/#diagram"),
  "j": () => moveRow(1),
  "k": () => moveRow(-1),
  "r": () => one('body[data-page="rows"]') ? moveRow(1) : false,
  "f": () => focusOn(one("#facet")),
  "l": () => focusOn(one("#links a")) || focusOn(one("#links")) || focusOn(one("#rows tbody td a")),
  "c": () => openDetails("details.cost"),
  "x": () => focusOn(one("#formats a")),
};

function follow(address) {
  location.assign(address);
  return true;
}

// Keys that a page gives a meaning by an element: a field gets the focus, a link is followed.
function runElement(key) {
  const element = all("[data-key]").find((each) => each.dataset.key === key);
  if (!element) return false;
  if (element.tagName === "A") return follow(element.href);
  if (element.tagName === "SUMMARY") {
    element.parentElement.open = true;
    return focusOn(one("input, select", element.parentElement));
  }
  if (element.tagName === "BUTTON") { element.click(); return true; }
  focusOn(element);
  if (element.select) element.select();
  return true;
}

// Sends the form of a change: to show the change, or on that page to commit it.
function sendChange() {
  const button = one('form[method="post"] button[value="preview"], form[method="post"] button[value="commit"]');
  button?.click();
  return button !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.ctrlKey && !event.defaultPrevented && sendChange()) { event.preventDefault(); return; }
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && isTyping(event.target)) { event.target.blur(); return; }
  if (event.key === "Enter" && event.target.tagName === "SELECT" && event.target.form?.method === "get") {
    event.preventDefault();
    event.target.form.requestSubmit();
    return;
  }
  if (isTyping(event.target) || one("dialog[open]") || !keysAreEnabled()) return;
  const command = Object.hasOwn(commands, event.key) ? commands[event.key] : null;
  if ((command && command()) || runElement(event.key)) event.preventDefault();
});

function prepareHelp() {
  one("#help-button").addEventListener("click", commands["?"]);
  const box = one("#keys-enabled");
  box.checked = keysAreEnabled();
  box.addEventListener("change", () => {
    try { localStorage.setItem(setting, box.checked ? "on" : "off"); } catch { /* The setting lasts as long as the page. */ }
  });
}

// MARK: Completion

class Completion {
  constructor(field) {
    this.field = field;
    this.list = document.createElement("ul");
    this.list.id = field.id + "-choices";
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", "Completions");
    this.list.hidden = true;
    field.parentElement.append(this.list);
    for (const [name, value] of Object.entries({
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.list.id,
    })) field.setAttribute(name, value);
    this.selected = -1;
    this.request = null;
    field.addEventListener("input", () => this.update());
    field.addEventListener("keydown", (event) => this.keydown(event));
    field.addEventListener("blur", () => this.close());
  }

  async update() {
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    const address = new URL(this.field.dataset.complete, location.href);
    address.searchParams.set("text", this.field.value);
    // The position in bytes of UTF-8, as the server counts it.
    const before = this.field.value.slice(0, this.field.selectionStart);
    address.searchParams.set("at", new TextEncoder().encode(before).length);
    try {
      const answer = await fetch(address, { signal: request.signal });
      if (answer.ok) this.show(await answer.json());
    } catch { /* The field was changed, or the server has ended. */ }
  }

  show(answer) {
    this.choices = answer.choices;
    this.range = [answer.start, answer.end];
    this.selected = -1;
    this.list.replaceChildren(...this.choices.map((choice, index) => {
      const item = document.createElement("li");
      item.id = this.list.id + "-" + index;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.dir = "auto";
      item.append(choice.text);
      if (choice.detail) {
        const detail = document.createElement("span");
        detail.className = "type";
        detail.textContent = " " + choice.detail;
        item.append(detail);
      }
      item.addEventListener("mousedown", (event) => { event.preventDefault(); this.accept(index); });
      return item;
    }));
    this.list.hidden = this.choices.length === 0 || document.activeElement !== this.field;
    this.field.setAttribute("aria-expanded", String(!this.list.hidden));
    this.field.removeAttribute("aria-activedescendant");
  }

  keydown(event) {
    if (this.list.hidden) {
      if (event.key === "ArrowDown" || (event.key === " " && event.ctrlKey)) { event.preventDefault(); this.update(); }
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      this.select((this.selected + step + this.choices.length) % this.choices.length);
    } else if ((event.key === "Enter" || event.key === "Tab") && this.selected >= 0) {
      event.preventDefault();
      this.accept(this.selected);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.close();
    }
  }

  select(index) {
    this.selected = index;
    [...this.list.children].forEach((item, each) => {
      item.setAttribute("aria-selected", String(each === index));
      if (each === index) item.scrollIntoView({ block: "nearest" });
    });
    this.field.setAttribute("aria-activedescendant", this.list.children[index].id);
  }

  accept(index) {
    const bytes = new TextEncoder().encode(this.field.value);
    const text = (from, to) => new TextDecoder().decode(bytes.slice(from, to));
    const before = text(0, this.range[0]) + this.choices[index].text;
    this.field.value = before + text(this.range[1]);
    this.field.setSelectionRange(before.length, before.length);
    this.close();
  }

  close() {
    this.request?.abort();
    this.list.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
    this.field.removeAttribute("aria-activedescendant");
  }
}

// The caret of a field is put where the server found the mistake.
function showMistake(field) {
  const bytes = new TextEncoder().encode(field.value).slice(0, Number(field.dataset.caret));
  const position = new TextDecoder().decode(bytes).length;
  field.focus();
  field.setSelectionRange(position, position);
}

// MARK: What changes while a page is open

function say(text) {
  const status = one("#live-status");
  status.textContent = text;
  status.hidden = false;
}

// A browser has few connections to one server: a page that is not visible gives its own back.
// Returns a function that ends the events.
function followWhileVisible(open) {
  let source = null;
  let ended = false;
  const close = () => { source?.close(); source = null; };
  const update = () => { if (ended || document.hidden) close(); else source ??= open(); };
  document.addEventListener("visibilitychange", update);
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", update);
  update();
  return () => { ended = true; close(); };
}

function followChanges(address) {
  const url = new URL(address, location.href);
  const end = followWhileVisible(() => changes(url, () => end()));
}

function changes(url, end) {
  const source = new EventSource(url);
  source.addEventListener("transaction", (event) => {
    // The point from which a page that was hidden continues.
    url.searchParams.set("since", event.lastEventId);
    const transaction = JSON.parse(event.data);
    const kinds = new Map(transaction.changes.map((change) => [change.object, change.kind]));
    const shown = all("[data-object]");
    const changed = shown.filter((element) => kinds.has(element.dataset.object));
    for (const element of changed) {
      element.classList.add("changed");
      if (kinds.get(element.dataset.object) === "deleted") element.classList.add("deleted");
    }
    // The event of a very large transaction does not name all objects.
    const further = transaction.count - transaction.changes.length;
    if (changed.length > 0) {
      const least = further > 0 && changed.length < shown.length ? "At least " : "";
      say(`${least}${changed.length} of the objects on this page changed. Load the page again to see them.`);
    } else if (further > 0 && shown.length > 0) {
      say(`${transaction.count} objects changed, and some of them can be on this page. Load the page again to see them.`);
    }
    const list = one("#transactions");
    if (list && transaction.markup && one("#live").checked) showTransaction(list, transaction.markup);
  });
  source.addEventListener("unknown", (event) => say(event.data));
  source.addEventListener("ended", (event) => { end(); say(event.data); });
  return source;
}

// The markup was made by the template of the page itself, with its values escaped.
function showTransaction(list, markup) {
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  const item = one("li", parsed);
  if (!item) return;
  item.classList.add("changed");
  list.prepend(document.adoptNode(item));
  while (list.children.length > 200) list.lastElementChild.remove();
  say("A transaction was committed.");
}

// The count of a page that was hidden begins again.
function followFacet(section) {
  const progress = one(".progress", section);
  const stop = one("[data-stop]", section);
  const finish = (text) => { end(); progress.textContent = text; stop.hidden = true; };
  const end = followWhileVisible(() => facetValues(section, progress, finish));
  stop.addEventListener("click", () => finish(progress.textContent + " Stopped."));
}

function facetValues(section, progress, finish) {
  const source = new EventSource(section.dataset.events);
  source.addEventListener("values", (event) => {
    const parsed = new DOMParser().parseFromString(event.data, "text/html");
    one("#facet-values", section).replaceChildren(...[...parsed.body.childNodes].map((node) => document.adoptNode(node)));
  });
  source.addEventListener("progress", (event) => { progress.textContent = event.data; });
  source.addEventListener("ended", (event) => finish(event.data));
  source.addEventListener("error", () => finish("The server ended the count."));
  return source;
}

// MARK: Start

function filterEntities(field) {
  field.addEventListener("input", () => {
    const text = field.value.toLocaleLowerCase();
    for (const row of all("#entities tbody tr")) row.hidden = !row.dataset.name.toLocaleLowerCase().includes(text);
  });
}

// Empty fields stay out of the address of the view, and columns if all of the entity are chosen in its order.
function shortenAddress(form) {
  form.addEventListener("submit", () => {
    const columns = all('[name="column"]', form);
    if (one("fieldset[data-all]", form) && columns.every((box) => box.checked)) for (const box of columns) box.disabled = true;
    for (const field of all("input, select", form)) {
      if (field.value === "" && field.name && !("keep" in field.dataset)) field.disabled = true;
    }
  });
}

prepareHelp();
for (const field of all("[data-complete]")) new Completion(field);
for (const field of all("[data-caret]")) showMistake(field);
for (const form of all('form[method="get"]')) shortenAddress(form);
// A value that is typed is meant instead of null.
for (const box of all("[data-null]")) {
  one("#" + box.dataset.null)?.addEventListener("input", () => { box.checked = false; });
}
for (const field of all("#entity-filter")) filterEntities(field);
for (const section of all("[data-events]")) followFacet(section);
if (document.body.dataset.live) followChanges(document.body.dataset.live);
for (const link of all("[data-copy]")) {
  link.addEventListener("click", (event) => {
    if (!navigator.clipboard) return;
    event.preventDefault();
    navigator.clipboard.writeText(link.href).then(() => say("The address was copied."), () => follow(link.href));
  });
}
window.addEventListener("pageshow", () => { for (const field of all("[disabled][name]")) field.disabled = false; });
