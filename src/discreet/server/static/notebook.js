// One notebook: its cells with their stored answers; its author changes them in place.
import { call } from "./api.js";
import { drawChart } from "./chart.js";
import { byId, element, sayProblem, tried, whenSent, whenSure } from "./dom.js";
import { paintedSql } from "./editor/editor.js";
import { answerTable } from "./table.js";
import { amount } from "./words.js";

const place = byId("cells");
const id = place.dataset.notebook;
const mine = place.dataset.mine === "yes";
let cells = [];

const kept = ({ kind, text, sql, epsilon, answer, analyst, view }) => ({ kind, text, sql, epsilon, answer, analyst, view });

async function save() {
  const body = { title: byId("new-title").value.trim() || "Notebook", shared: byId("shared").checked, cells: cells.map(kept) };
  await tried(byId("problem"), async () => {
    await call("PUT", `/notebooks/${id}`, body);
    byId("title").textContent = body.title;
    sayProblem(byId("problem"), null);
  });
}

function show() {
  place.replaceChildren(...cells.map(cellOf));
}

function cellOf(cell, at) {
  const inside = cell.kind === "text" ? textOf(cell, at) : questionOf(cell);
  const part = element("section", { class: "cell", "aria-label": `Cell ${at + 1}` }, ...inside);
  if (mine) part.append(foot(cell, at));
  if (cell.found && cell.view === "chart") drawChart(part.querySelector(".drawn-answer"), cell.found);
  return part;
}

function textOf(cell, at) {
  if (!mine) return [element("p", { class: "prose" }, cell.text)];
  const area = element("textarea", { rows: "3", "aria-label": `Text of cell ${at + 1}` });
  area.value = cell.text;
  area.addEventListener("change", () => {
    cell.text = area.value;
    save();
  });
  return [area];
}

function questionOf(cell) {
  if (!cell.found) return [cell.sql ? paintedSql(cell.sql) : "", element("p", { class: "quiet" }, cell.problem)];
  const { cost, free } = cell.found;
  const price = free ? "free" : `ε ${amount(cost.epsilon)}`;
  const answer = element("div", { class: "drawn-answer" }, ...(cell.view === "table" ? [answerTable(cell.found)] : []));
  return [paintedSql(cell.sql), element("p", { class: "quiet small" }, `${cell.found.provenance.dataset} · ${price}`), answer];
}

function foot(cell, at) {
  const press = (words, act) => element("button", { type: "button", class: "plain", click: act }, words);
  const other = cell.view === "chart" ? "table" : "chart";
  const turn = () => {
    cell.view = other;
    show();
    save();
  };
  const named = cell.analyst ? `&analyst=${encodeURIComponent(cell.analyst)}` : "";
  return element(
    "div",
    { class: "foot" },
    cell.found ? press(`as ${other}`, turn) : null,
    cell.answer ? element("a", { class: "small", href: `/ask?answer=${encodeURIComponent(cell.answer)}${named}` }, "open in Ask") : null,
    at > 0 ? press("move up", () => move(at)) : null,
    press("remove", () => remove(at)),
  );
}

function move(at) {
  [cells[at - 1], cells[at]] = [cells[at], cells[at - 1]];
  show();
  save();
}

function remove(at) {
  cells.splice(at, 1);
  show();
  save();
}

async function drop() {
  await tried(byId("problem"), () => call("DELETE", `/notebooks/${id}`));
  window.location.assign("/notebooks");
}

async function start() {
  ({ cells } = await call("GET", `/notebooks/${id}`));
  show();
}

if (mine) {
  byId("add-text").addEventListener("click", () => {
    cells.push({ kind: "text", text: "", sql: "", epsilon: "", answer: "", analyst: null, view: "table" });
    show();
    place.lastElementChild.querySelector("textarea").focus();
  });
  for (const name of ["new-title", "shared"]) byId(name).addEventListener("change", save);
  whenSent(byId("about"), save);
  whenSure(byId("delete"), "Delete it; answers stay in the history", drop);
}
document.addEventListener("themechange", show);
tried(byId("problem"), start);
