// The Ask page: what the parts say to each other.
import { addressed, answerId, leaveAddress, remember, showFree, stored } from "./answers.js";
import { drawChart, loadLibrary } from "./chart.js";
import { byId, sayProblem, tried, whenSent } from "./dom.js";
import { Editor } from "./editor/editor.js";
import { quoted } from "./editor/tokens.js";
import { sayLeft } from "./gauge.js";
import { downloadPanel, howPanel } from "./how.js";
import { keepPanel } from "./keeping.js";
import { Price } from "./price.js";
import { answerTable, previewTable } from "./table.js";
import { makeTabs } from "./tabs.js";
import { amount } from "./words.js";
import { begin, follow, forget, unfinished } from "./work.js";

const DRAFT = "discreet-draft";
const KEY = "discreet-question";
const editor = byId("sql");
const payer = byId("payer");
let answer = null;
let asked = null;
let busy = false;
let drawnFor = null;

const question = () => ({ sql: editor.value, ...(payer?.value ? { analyst: payer.value } : {}) });
const painted = new Editor(editor, catalogOf);
const price = new Price(question, explained, (problem) => painted.mark(problem));
const tabs = makeTabs(document.querySelector('[role="tablist"]'), (name) => {
  if (name === "chart" && answer && drawnFor !== answer) draw();
});

function draw() {
  drawnFor = answer;
  drawChart(byId("panel-chart"), answer);
}

function explained(explanation) {
  const preview = byId("preview");
  if (explanation && !answer && !busy) preview.replaceChildren(previewTable(explanation, valuesOf));
  else preview.replaceChildren();
  if (explanation) {
    showDataset(explanation.dataset); // the server knows which data set a question is about
    keepLeft(explanation.budget.before.epsilon, explanation.budget.limit.epsilon);
  }
  // Less than a millionth buys nothing: conversions between currencies leave such crumbs.
  const spent = explanation && explanation.budget.limit.epsilon - explanation.budget.before.epsilon < 1e-6;
  if (spent && !explanation.free) showFree(read);
}

// The catalog: a click inserts the name where the cursor is.
function insert(name) {
  const { selectionStart: start, selectionEnd: end, value } = editor;
  const before = start > 0 && !/[\s(,.]$/.test(value.slice(0, start)) ? " " : "";
  painted.replace(start, end, before + quoted(name));
}

// What the catalog beside the editor lists, the data set in sight first.
function catalogOf() {
  const tables = [...document.querySelectorAll(".catalog .table")];
  const shownFirst = [...tables].sort((one, two) => one.closest(".dataset").hidden - two.closest(".dataset").hidden);
  return shownFirst.map((table) => ({
    table: table.dataset.table,
    columns: [...table.querySelectorAll("[data-values]")].map((column) => ({
      name: column.dataset.insert,
      values: JSON.parse(column.dataset.values),
      short: column.nextElementSibling.textContent,
    })),
  }));
}

function valuesOf(column) {
  const names = [...document.querySelectorAll(".dataset:not([hidden]) [data-values]")];
  const found = names.find((name) => name.dataset.insert === column);
  return found ? JSON.parse(found.dataset.values) : [];
}

function edited() {
  sessionStorage.setItem(DRAFT, editor.value);
  if (answer) sayAsked();
  chooseDataset();
  price.later();
}

// An answer stays in sight while the next question is written, under the question that it answers.
function sayAsked() {
  const other = editor.value !== asked?.sql;
  byId("answered").hidden = !other;
  byId("answered-sql").textContent = asked?.sql.replace(/\s+/g, " ") ?? "";
  if (other) leaveAddress();
}

// The strip and the catalog follow the first table that the question names.
function chooseDataset() {
  const words = new Set(editor.value.toLowerCase().match(/[a-z_][a-z0-9_]*/g) ?? []);
  const tables = [...document.querySelectorAll(".catalog .table")];
  const named = tables.find((table) => words.has(table.dataset.table.toLowerCase()));
  if (named) showDataset(named.closest(".dataset").dataset.dataset);
}

function showDataset(name) {
  for (const part of document.querySelectorAll(".dataset")) part.hidden = part.dataset.dataset !== name;
  const shown = document.querySelector(`.dataset[data-dataset="${CSS.escape(name)}"]`);
  const chooser = byId("dataset");
  if (chooser.tagName === "SELECT") chooser.value = name;
  byId("protects").textContent = shown.dataset.unit;
  if (shown.dataset.spent) keepLeft(Number(shown.dataset.spent), Number(shown.dataset.limit));
}

function keepLeft(spent, limit) {
  sayLeft(spent, limit);
  const shown = document.querySelector(".dataset:not([hidden])");
  if (shown && !payer) Object.assign(shown.dataset, { spent, limit });
}

async function ask() {
  if (busy || byId("go").disabled || !price.epsilon) return;
  await work(begin(KEY, "/jobs", { ...question(), epsilon: price.epsilon.text }));
}

async function work(begun) {
  busy = price.busy = true;
  answer = null;
  byId("result").hidden = true;
  byId("panel-table").replaceChildren();
  byId("preview").replaceChildren();
  sayProblem(byId("price-problem"), null);
  byId("go").disabled = true;
  try {
    const found = await follow(begun);
    showAnswer(found, begun.body);
    remember(found, begun.body.analyst);
  } catch (problem) {
    const place = problem.kind === "BudgetExceeded" || problem.kind === "Cancelled" || problem.kind === "AnswerLost" || problem.status === 0 ? "price-problem" : "sql-problem";
    price.later();
    await settled();
    sayProblem(byId(place), problem);
    if (problem.kind === "BudgetExceeded") showFree(read);
  } finally {
    forget(KEY);
    busy = price.busy = false;
    byId("go").disabled = false;
  }
}

// The price is asked for anew after a failure; its own words must not wipe away the failure's.
function settled() {
  clearTimeout(price.timer);
  return price.explain();
}

function showAnswer(found, sent) {
  answer = found;
  asked = sent;
  byId("preview").replaceChildren();
  byId("result").hidden = false;
  byId("answered").hidden = true;
  const left = Math.max(0, found.budget.limit.epsilon - found.budget.after.epsilon);
  byId("paid").textContent = found.free
    ? `Free · ${found.provenance.notes.at(-1) ?? "nothing was spent"}`
    : `Used ${amount(found.cost.epsilon)} · leaves ${amount(left)} of ${amount(found.budget.limit.epsilon)}`;
  byId("panel-table").replaceChildren(answerTable(found));
  byId("panel-how").replaceChildren(howPanel(found));
  byId("panel-keep").replaceChildren(keepPanel(found, sent));
  byId("panel-download").replaceChildren(downloadPanel(found, sent));
  byId("panel-chart").replaceChildren();
  tabs.open("table");
  loadLibrary().catch(() => {});
  price.later();
}

// A stored answer, opened again: its question in the editor, nothing paid.
function reopen({ answer: found, asked: sent, paid }) {
  write(sent.sql || editor.value);
  if (sent.epsilon) price.set(sent.epsilon);
  if (payer) payer.value = sent.analyst ?? "";
  showAnswer(found, { ...sent, sql: editor.value });
  byId("paid").textContent = `Free to read again · asked on ${paid}`;
}

async function read(id) {
  await open(() => stored(id, payer?.value));
  if (answer) remember(answer, payer?.value);
}

function open(found) {
  return tried(byId("price-problem"), async () => {
    const kept = await found();
    if (kept) reopen(kept);
  });
}

function write(sql) {
  painted.write(sql);
  sessionStorage.setItem(DRAFT, sql);
  chooseDataset();
}

// A question that this browser asked and whose answer it has not seen: watched, or asked for under the same id.
function comeBack(left) {
  write(left.body.sql);
  price.set(left.body.epsilon);
  if (payer) payer.value = left.body.analyst ?? "";
  work(left);
}

// An address may bring a question or an answer; otherwise the question at work, or what was being written.
function start() {
  const brought = new URLSearchParams(window.location.search);
  const left = unfinished(KEY);
  if (answerId()) open(addressed);
  else if (brought.has("sql")) return;
  else if (left) comeBack(left);
  else if (sessionStorage.getItem(DRAFT)) painted.write(sessionStorage.getItem(DRAFT));
}

window.addEventListener("popstate", () => {
  if (busy) return;
  if (answerId()) open(addressed);
  else byId("result").hidden = true;
});
editor.addEventListener("input", edited);
payer?.addEventListener("change", () => price.later(0));
whenSent(byId("ask"), ask);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    ask();
  }
});
byId("catalog").addEventListener("click", (event) => {
  const name = event.target.closest("[data-insert]")?.dataset.insert;
  if (name) insert(name);
});
byId("dataset").addEventListener("change", (event) => showDataset(event.target.value));
document.addEventListener("themechange", () => {
  if (answer && drawnFor === answer) draw();
});
if (matchMedia("(max-width: 720px)").matches) byId("catalog").open = false;
start();
chooseDataset();
