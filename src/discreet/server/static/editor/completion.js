// What could be meant: tables, columns, declared values, words of SQL; offered below the cursor.
import { element } from "../dom.js";
import { bare, functions, keywords, pieces, quoted } from "./tokens.js";

const MOST = 8;

export class Completion {
  constructor(editor, catalog) {
    this.editor = editor;
    this.catalog = catalog;
    this.found = [];
    this.chosen = 0;
    this.list = element("ul", { class: "offers", id: "offers", role: "listbox", "aria-label": "What could be meant", hidden: "" });
    const { area } = editor;
    area.setAttribute("aria-autocomplete", "list");
    area.setAttribute("aria-controls", "offers");
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the cursor stays in the text
      const place = [...this.list.children].indexOf(event.target.closest("li"));
      if (place >= 0) this.take(place);
    });
  }

  get open() {
    return !this.list.hidden;
  }

  key(event) {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      this.offer({ all: true });
      return;
    }
    if (!this.open || event.ctrlKey || event.metaKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.choose((this.chosen + step + this.found.length) % this.found.length);
    else if (event.key === "Enter" || event.key === "Tab") this.take(this.chosen);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Look what could stand where the cursor is; an exact word needs no offer.
  offer({ all = false } = {}) {
    const { value, selectionStart: at, selectionEnd } = this.editor.area;
    const here = at === selectionEnd ? wordAt(value, at) : null;
    if (!here || here.kind === "comment" || (!all && !here.typed)) {
      this.close();
      return;
    }
    const wanted = here.typed.toLowerCase();
    const fits = this.candidates(value, here).filter(({ name }) => name.toLowerCase().startsWith(wanted));
    this.found = fits.slice(0, MOST);
    this.here = here;
    if (!fits.length || (fits.length === 1 && fits[0].name.toLowerCase() === wanted)) this.close();
    else this.show();
  }

  candidates(sql, here) {
    const tables = this.catalog();
    const named = tablesIn(sql, tables);
    if (here.kind === "string") return valuesBefore(sql, here.start, named.length ? named : tables);
    if (here.table) return columnsOf(tables.filter(({ table }) => table === aliases(sql, tables).get(here.table.toLowerCase())));
    const columns = columnsOf(named.length ? named : tables.slice(0, 1));
    const words = tables.map(({ table }) => ({ name: table, text: quoted(table), what: "table" }));
    const first = /\b(from|join)\s+$/i.test(sql.slice(0, here.start)) ? [...words, ...columns] : [...columns, ...words];
    return [
      ...first,
      ...functions.map((name) => ({ name, text: `${name}(`, what: "function" })),
      ...keywords.map((name) => ({ name, text: name, what: "" })),
    ];
  }

  show() {
    this.list.replaceChildren(
      ...this.found.map(({ name, what }, place) =>
        element("li", { role: "option", id: `offer-${place}` }, element("span", { class: "name" }, name), element("span", { class: "quiet small" }, what)),
      ),
    );
    const { left, top } = this.editor.spot(this.here.start);
    this.list.hidden = false;
    this.list.style.left = `${Math.max(0, Math.min(left, this.editor.paint.clientWidth - this.list.offsetWidth))}px`;
    this.list.style.top = `${top}px`;
    this.choose(0);
  }

  choose(place) {
    this.chosen = place;
    [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === place)));
    this.list.children[place]?.scrollIntoView({ block: "nearest" });
    this.editor.area.setAttribute("aria-activedescendant", `offer-${place}`);
  }

  take(place) {
    const { text } = this.found[place];
    this.editor.replace(this.here.start, this.here.end, text);
  }

  close() {
    this.list.hidden = true;
    this.editor.area.removeAttribute("aria-activedescendant");
  }
}

// The word that ends where the cursor is, and the table that stands before its dot.
function wordAt(sql, at) {
  const here = pieces(sql).find(({ start, end }) => start < at && at <= end);
  if (!here || !["word", "keyword", "function", "name", "string"].includes(here.kind)) {
    const kind = here?.kind === "comment" && !here.text.endsWith("*/") ? "comment" : "";
    return { typed: "", start: at, end: at, kind, table: tableBefore(sql, at) };
  }
  const closed = ["name", "string"].includes(here.kind) && at === here.end && here.text.length > 1 && here.text.endsWith(here.text[0]);
  const typed = sql.slice(here.start, at).replace(/^['"]/, "");
  return closed ? null : { typed, start: here.start, end: here.kind === "string" || here.kind === "name" ? here.end : at, kind: here.kind, table: tableBefore(sql, here.start) };
}

const tableBefore = (sql, at) => /([\p{L}_][\p{L}\p{N}_]*|"[^"]+")\.$/u.exec(sql.slice(0, at))?.[1] ?? "";

function tablesIn(sql, tables) {
  const names = new Set(pieces(sql).filter(({ kind }) => kind === "word" || kind === "name").map(({ text }) => bare(text).toLowerCase()));
  return tables.filter(({ table }) => names.has(table.toLowerCase()));
}

// Tables by the names that a question gives them.
function aliases(sql, tables) {
  const found = new Map(tables.map(({ table }) => [table.toLowerCase(), table]));
  for (const [, name, alias] of sql.matchAll(/\b(?:from|join)\s+([\p{L}_][\p{L}\p{N}_]*|"[^"]+")\s+(?:as\s+)?([\p{L}_][\p{L}\p{N}_]*)/giu)) {
    const known = found.get(bare(name).toLowerCase());
    if (known) found.set(alias.toLowerCase(), known);
  }
  return found;
}

const columnsOf = (tables) =>
  tables.flatMap(({ columns }) => columns.map(({ name, short }) => ({ name, text: quoted(name), what: short })));

// Inside a text: the values of the column that it is compared with.
function valuesBefore(sql, start, tables) {
  const before = /([\p{L}_][\p{L}\p{N}_]*|"(?:[^"]|"")+")\s*(?:=|<>|!=|(?:not\s+)?in\s*\([^()]*)\s*$/iu.exec(sql.slice(0, start));
  if (!before) return [];
  const name = bare(before[1]).toLowerCase();
  const column = tables.flatMap(({ columns }) => columns).find((each) => each.name.toLowerCase() === name);
  return (column?.values ?? []).map((value) => ({ name: String(value), text: `'${String(value).replaceAll("'", "''")}'`, what: "" }));
}
