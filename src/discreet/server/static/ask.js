// The Ask page: what the parts say to each other.
import { call } from "./api.js";
import { drawChart, loadLibrary } from "./chart.js";
import { byId, element, sayProblem } from "./dom.js";
import { downloadPanel, howPanel } from "./how.js";
import { follow, forgetJob, lastJob, startJob } from "./jobs.js";
import { Price } from "./price.js";
import { answerTable, previewTable } from "./table.js";
import { makeTabs } from "./tabs.js";
import { amount } from "./words.js";

const DRAFT = "discreet-draft";
const editor = byId("sql");
const payer = byId("payer");
let answer = null;
let asked = null;
let busy = false;
let drawnFor = null;

const question = () => ({ sql: editor.value, ...(payer ? { analyst: payer.value } : {}) });
const price = new Price(question, explained);
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
    sayLeft(explanation.budget.before.epsilon, explanation.budget.limit.epsilon);
  }
  // Less than a millionth buys nothing: conversions between currencies leave such crumbs.
  const spent = explanation && explanation.budget.limit.epsilon - explanation.budget.before.epsilon < 1e-6;
  if (spent && !explanation.free) showFree();
}

// The catalog: a click inserts the name where the cursor is.
function insert(name) {
  const { selectionStart: start, selectionEnd: end, value } = editor;
  const before = start > 0 && !/[\s(,.]$/.test(value.slice(0, start)) ? " " : "";
  editor.setRangeText(before + name, start, end, "end");
  editor.focus();
  edited();
}

function valuesOf(column) {
  const names = [...document.querySelectorAll(".dataset:not([hidden]) [data-values]")];
  const found = names.find((name) => name.dataset.insert === column);
  return found ? JSON.parse(found.dataset.values) : [];
}

function edited() {
  sessionStorage.setItem(DRAFT, editor.value);
  if (answer && editor.value !== asked?.sql) clearAnswer();
  chooseDataset();
  price.later();
}

function clearAnswer() {
  answer = null;
  forgetJob();
  byId("result").hidden = true;
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
  if (shown.dataset.spent) sayLeft(Number(shown.dataset.spent), Number(shown.dataset.limit));
}

function sayLeft(spent, limit) {
  const left = Math.max(0, limit - spent);
  byId("left").textContent = `${amount(left)} of ${amount(limit)} left`;
  document.querySelector("#strip .gauge .left").setAttribute("width", `${limit ? (100 * left) / limit : 0}%`);
  const shown = document.querySelector(".dataset:not([hidden])");
  if (shown && !payer) Object.assign(shown.dataset, { spent, limit });
}

async function ask() {
  if (busy || byId("go").disabled || !price.epsilon) return;
  const sent = { ...question(), epsilon: price.epsilon.text };
  await work(sent, () => startJob(sent));
}

async function work(sent, start) {
  busy = true;
  answer = null;
  byId("result").hidden = true;
  byId("preview").replaceChildren();
  sayProblem(byId("price-problem"), null);
  byId("go").disabled = true;
  try {
    const found = await follow(await start());
    showAnswer(found, sent);
  } catch (problem) {
    forgetJob();
    const place = problem.kind === "BudgetExceeded" || problem.kind === "Cancelled" || problem.status === 0 ? "price-problem" : "sql-problem";
    price.later();
    await settled();
    sayProblem(byId(place), problem);
    if (problem.kind === "BudgetExceeded") showFree();
  } finally {
    busy = false;
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
  const left = Math.max(0, found.budget.limit.epsilon - found.budget.after.epsilon);
  byId("paid").textContent = found.free
    ? `Free · ${found.provenance.notes.at(-1) ?? "nothing was spent"}`
    : `Used ${amount(found.cost.epsilon)} · leaves ${amount(left)} of ${amount(found.budget.limit.epsilon)}`;
  sayLeft(found.budget.after.epsilon, found.budget.limit.epsilon);
  byId("panel-table").replaceChildren(answerTable(found));
  byId("panel-how").replaceChildren(howPanel(found));
  byId("panel-download").replaceChildren(downloadPanel(found, sent));
  byId("panel-chart").replaceChildren();
  tabs.open("table");
  loadLibrary().catch(() => {});
  price.later();
}

async function showFree() {
  const { answers } = await call("GET", "/answers").catch(() => ({ answers: [] }));
  const { copies } = await call("GET", "/synth").catch(() => ({ copies: [] }));
  const seen = new Map(answers.filter(({ sql }) => /^\s*(select|with)\b/i.test(sql ?? "")).map((paid) => [paid.sql, paid]));
  const list = byId("free-list");
  list.replaceChildren(
    ...copies.slice(0, 6).map(({ id, table, method, epsilon }) =>
      element("li", { class: "copy" }, element("a", { href: `/synthesize/${id}` }, `Synthetic copy of ${table}`), ` (${method}, ε ${epsilon})`)),
    ...[...seen.values()].slice(0, 12).map((paid) => {
      const read = () => again(paid);
      return element("li", {}, element("button", { type: "button", click: read }, paid.sql.replace(/\s+/g, " ")));
    }),
  );
  if (!seen.size && !copies.length) list.replaceChildren(element("li", { class: "quiet" }, "Nothing was paid for yet."));
  byId("free").hidden = false;
}

async function again(paid) {
  editor.value = paid.sql;
  sessionStorage.setItem(DRAFT, paid.sql);
  chooseDataset();
  try {
    showAnswer(await call("GET", `/answers/${encodeURIComponent(paid.request_id)}`), { sql: paid.sql, epsilon: String(paid.epsilon ?? "") });
    byId("paid").textContent = `Free · paid for on ${paid.time.slice(0, 10)}`;
  } catch (problem) {
    sayProblem(byId("price-problem"), problem);
  }
}

async function comeBack() {
  const last = await lastJob().catch(() => null);
  if (!last || busy) return;
  editor.value = last.sql;
  price.set(last.epsilon);
  chooseDataset();
  await work({ sql: last.sql, epsilon: last.epsilon }, async () => last.job);
}

// An address may bring a question; otherwise what was being written, or the question at work.
function begin() {
  if (new URLSearchParams(window.location.search).has("sql")) return;
  const draft = sessionStorage.getItem(DRAFT);
  if (draft) editor.value = draft;
  comeBack();
}

editor.addEventListener("input", edited);
payer?.addEventListener("change", () => price.later(0));
byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
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
begin();
chooseDataset();
