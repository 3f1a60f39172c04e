// The Data page: bring a file, say who is protected, review, confirm. Nothing is public before.
import { call } from "./api.js";
import { ColumnForm } from "./data_columns.js";
import { startManage } from "./data_manage.js";
import { byId, element, sayProblem, tried, whenSent } from "./dom.js";
import { readEpsilon } from "./epsilon.js";
import { startLimits } from "./limits.js";
import { startTokens } from "./tokens.js";
import { sendFile } from "./upload.js";
import { promiseWords } from "./words.js";
const WAIT = 700;
let upload = null;
let columns = [];
let timer = 0;
let round = 0;
let stillOpen = 1;

async function bring() {
  const [file] = byId("file").files;
  sayProblem(byId("bring-problem"), file ? null : { message: "Choose a file first.", hint: "" });
  if (!file) return;
  const bar = byId("sending");
  bar.hidden = false;
  await tried(byId("bring-problem"), async () => {
    const { id } = await sendFile("/data/uploads", file, (part) => {
      bar.value = part;
      if (part === 1) byId("waiting").textContent = "Looking at it. Only you will see what is found.";
    });
    await open(id);
  });
  bar.hidden = true;
  byId("waiting").textContent = "";
}
async function open(id) {
  byId("waiting").textContent = "Looking at it. Only you will see what is found.";
  const { proposal, upload: facts } = await call("GET", `/data/uploads/${id}/proposal`);
  byId("waiting").textContent = "";
  upload = id;
  byId("review").hidden = false;
  byId("dataset-name").value = proposal.dataset;
  byId("table-name").value = proposal.table;
  byId("max-rows").value = proposal.suggested_max_rows ?? "";
  columns = proposal.columns.map((column) => new ColumnForm(column, later));
  byId("columns").replaceChildren(...columns.map(({ node }) => node));
  showWho(proposal);
  showEncoding(facts);
  byId("who-title").scrollIntoView({ block: "start" });
  byId("who").querySelector("input")?.focus();
}
// A guess about letters is for the owner to confirm.
function showEncoding({ encoding, words }) {
  const said = encoding && `The text is not UTF-8; it was read as ${encoding}. Are these words right? ${words.join(", ")}`;
  byId("encoding").replaceChildren(...(said ? [element("p", { class: "care" }, element("strong", {}, "Check."), ` ${said}`)] : []));
}
function showWho(proposal) {
  const radio = (value, ...words) => {
    const input = element("input", { type: "radio", name: "who", value });
    input.addEventListener("change", () => answered(value));
    return element("label", {}, input, " ", ...words);
  };
  const likely = new Set(proposal.who.columns);
  const others = proposal.columns.map(({ name }) => name).filter((name) => !likely.has(name));
  const chooser = element("select", { "aria-label": "Column that says whose row it is" }, ...[...likely, ...others].map((name) => element("option", {}, name)));
  const person = radio("column", "All rows with the same value of one column are one person's: ", chooser);
  chooser.addEventListener("change", () => {
    person.querySelector("input").checked = true;
    answered("column");
  });
  chooser.id = "who-column";
  byId("who").replaceChildren(byId("who").querySelector("legend"), radio("row", "Every row is another person."), person);
  byId("who-warnings").replaceChildren(...proposal.who.warnings.map((words) => element("p", { class: "care" }, element("strong", {}, "Care."), ` ${words}`)));
}

function answered(value) {
  byId("rows-line").hidden = value !== "column";
  byId("who-warnings").hidden = value !== "row";
  byId("rest").disabled = false;
  for (const column of columns) column.node.hidden = column.proposed.name === unit();
  later();
}

function unit() {
  const chosen = document.querySelector('input[name="who"]:checked')?.value;
  if (!chosen) return null;
  return chosen === "row" ? "row" : byId("who-column").value;
}

function review() {
  const found = { unit: unit(), columns: {} };
  if (found.unit === null) return found;
  const rows = Number(byId("max-rows").value.replaceAll(",", ""));
  if (found.unit !== "row" && Number.isInteger(rows) && rows > 0) found.max_rows = rows;
  for (const column of columns) {
    const { name } = column.proposed;
    const { trim, empty } = column.proposed.settings;
    found.columns[name] = name === found.unit ? { type: "identifier", public: true, trim, empty } : column.declared();
  }
  const limit = byId("limit").value.trim();
  if (limit) found.epsilon = limit;
  const delta = byId("delta").value.trim();
  if (delta) found.delta = delta;
  for (const key of ["dataset", "table"]) {
    const name = byId(`${key}-name`).value.trim();
    if (name) found[key] = name;
  }
  found.analysts = Object.fromEntries(shares());
  return found;
}

function shares() {
  return [...document.querySelectorAll(".share")].flatMap((line) => {
    const [name, share] = [...line.querySelectorAll("input")].map((input) => input.value.trim());
    return name ? [[name, { epsilon: share || "0" }]] : [];
  });
}

function addAnalyst() {
  const field = (words, kind) => element("label", {}, words, element("br"), element("input", { type: "text", class: kind, change: later }));
  const remove = element("button", { type: "button", class: "plain", click: () => { line.remove(); later(); } }, "Remove");
  const line = element("div", { class: "row share" }, field("Name", ""), field("share of ε", "short"), remove);
  byId("analysts").append(line);
  line.querySelector("input").focus();
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(check, WAIT);
}

// Ask what is still open, and say each thing where it belongs.
async function check() {
  const limit = readEpsilon(byId("limit").value);
  byId("limit-words").textContent = limit ? `Over all answers together: ${promiseWords(limit.value, "add-remove", Number(byId("delta").value) || 0)}` : "";
  if (!upload || unit() === null) return;
  await tried(byId("confirm-problem"), async () => {
    const found = await call("POST", `/data/uploads/${upload}/proposal`, review());
    const suggested = found.proposal.suggested_max_rows;
    if (suggested && !byId("max-rows").value) {
      byId("max-rows").value = suggested;
      later();
    }
    sayOpen(found.open);
    await showLosses();
  });
}

// How many cells each declaration would drop, before anything is confirmed.
async function showLosses() {
  const mine = ++round;
  byId("confirm").disabled = true;
  const seen = await call("POST", `/data/uploads/${upload}/losses`, asDeclared());
  if (mine !== round) return;
  const byName = new Map(seen.columns.map((column) => [column.name, column]));
  for (const column of columns) column.sayLoss(byName.get(column.proposed.name));
  byId("rows-warnings").replaceChildren(...seen.warnings.map((words) => element("p", { class: "care" }, element("strong", {}, "Care."), ` ${words}`)));
  const safe = columns.filter((column) => column.safe && !column.verdict && column.proposed.name !== unit());
  byId("accept-safe").hidden = !safe.length;
  byId("accept-safe").textContent = safe.length === 1 ? "Declare the 1 safe column" : `Declare the ${safe.length} safe columns`;
  const lost = seen.columns.filter((column) => column.lost && byId("columns")).length;
  byId("lost-words").textContent = lost ? `${lost} of the declarations read some filled cells as missing; each says which.` : "No declaration loses a filled cell.";
  byId("confirm").disabled = stillOpen > 0;
}

// A draft in which every column counts, also those without a verdict: that is when one wants to know.
function asDeclared() {
  const found = review();
  for (const column of Object.values(found.columns)) column.public = true;
  delete found.epsilon;
  delete found.delta;
  found.analysts = {};
  return found;
}

function acceptSafe() {
  for (const column of columns) if (column.safe && !column.verdict) column.decide("public");
  check();
}

function sayOpen(open) {
  sayProblem(byId("confirm-problem"), null);
  for (const place of document.querySelectorAll(".open")) place.replaceChildren();
  const undecided = columns.filter((column) => !column.verdict && column.proposed.name !== unit());
  for (const { step, column, detail } of open) {
    const form = columns.find(({ proposed }) => proposed.name === column);
    if (form && undecided.includes(form)) continue;
    const place = form?.problem ?? document.querySelector(`.open[data-step="${CSS.escape(step)}"]`) ?? byId("confirm-problem");
    place.append(element("p", { class: "care" }, element("strong", {}, "Open."), ` ${detail}`));
  }
  stillOpen = open.length;
  byId("confirm").disabled = open.length > 0;
  const rest = undecided.length
    ? ` ${undecided.length} of ${columns.length} columns wait for your word.`
    : " What is open is said above, where it belongs.";
  byId("summary").textContent = open.length
    ? `Nothing is public yet.${rest}`
    : `Everything is answered. After confirming, analysts can ask about ${byId("table-name").value}.`;
}

async function confirm() {
  const button = byId("confirm");
  button.disabled = true;
  button.disabled = await tried(byId("confirm-problem"), async () => {
    await call("POST", `/data/uploads/${upload}/confirm`, review());
    const table = byId("table-name").value.trim();
    window.location.assign(`/ask?sql=${encodeURIComponent(`SELECT COUNT(*) AS n\nFROM ${table}`)}`);
  });
}

async function discard() {
  await call("DELETE", `/data/uploads/${upload}`);
  window.location.reload();
}

// Files that were brought and not confirmed wait here for their review.
async function showWaiting() {
  const { uploads } = await call("GET", "/data/uploads");
  const waiting = uploads.filter(({ dataset }) => !dataset).reverse();
  byId("waiting-list").replaceChildren(
    ...waiting.map(({ id, file }) => {
      const go = () => tried(byId("bring-problem"), () => open(id));
      return element("li", {}, `${file} waits for your review. `, element("button", { type: "button", class: "plain", click: go }, "Review it"));
    }),
  );
}

tried(byId("bring-problem"), showWaiting);
whenSent(byId("bring"), bring);
whenSent(byId("review"), confirm);
byId("discard").addEventListener("click", () => tried(byId("confirm-problem"), discard));
byId("add-analyst").addEventListener("click", addAnalyst);
byId("accept-safe").addEventListener("click", acceptSafe);
for (const id of ["limit", "delta", "max-rows", "dataset-name", "table-name"]) byId(id).addEventListener("input", later);
byId("confirm").disabled = true;
startLimits();
startManage();
startTokens();
