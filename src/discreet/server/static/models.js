// The Models page: pick what to predict, see what it costs, train, come back.
import { call, Problem } from "./api.js";
import { byId, element, sayProblem } from "./dom.js";
import { readEpsilon } from "./epsilon.js";
import { begin, follow, forget, unfinished } from "./work.js";
import { amount, oddsSentence } from "./words.js";

const KEY = "discreet-model";
const WAIT = 300;
const table = byId("table");
const target = byId("target");
const field = byId("epsilon");
let timer = 0;
let busy = false;
let running = null;

function body() {
  const found = {
    table: table.value,
    target: target.value,
    model: document.querySelector('input[name="model"]:checked').value,
    epsilon: readEpsilon(field.value)?.text,
  };
  if (byId("payer")?.value) found.analyst = byId("payer").value;
  return found;
}

function later(wait = WAIT) {
  clearTimeout(timer);
  running?.abort();
  timer = setTimeout(explain, wait);
}

function read() {
  const found = readEpsilon(field.value);
  field.setAttribute("aria-invalid", found ? "false" : "true");
  byId("odds").textContent = found ? oddsSentence(found.value) : "epsilon is a number greater than 0, such as 1";
  later();
}

async function explain() {
  const wanted = body();
  if (!wanted.epsilon) {
    show(null);
    return;
  }
  running = new AbortController();
  try {
    show(await call("POST", "/models/explain", wanted, { signal: running.signal }));
  } catch (problem) {
    if (problem.name === "AbortError") return;
    if (problem.status === 429) later(1000);
    else show(null, problem);
  }
}

function show(found, problem = null) {
  sayProblem(byId("price-problem"), problem, { word: "Not like this." });
  const button = byId("go");
  button.disabled = found === null || busy;
  button.textContent = "Train a model";
  byId("from").textContent = "";
  if (!found) return;
  const left = found.budget.limit.epsilon - found.budget.after.epsilon;
  const leaves = left > -1e-12 ? `, leaves ${amount(Math.max(0, left))}` : "; more than is left";
  button.textContent = `Train a model · uses ${amount(found.cost.epsilon)}${leaves}`;
  byId("from").textContent = `${found.model}, from ${found.features.join(", ")}. From about ${found.rows_needed.toLocaleString("en")} rows on it sees more than noise. ${found.notices.join(" ")}`;
}

async function work(begun) {
  busy = true;
  byId("go").disabled = true;
  sayProblem(byId("price-problem"), null);
  try {
    await follow(begun, { place: byId("work"), bar: byId("steps"), words: byId("step"), cancel: byId("cancel"), notes: byId("anew") });
    forget(KEY);
    window.location.reload();
  } catch (problem) {
    forget(KEY);
    busy = false;
    clearTimeout(timer);
    await explain();
    sayProblem(byId("price-problem"), problem instanceof Problem ? problem : { message: String(problem), hint: "" });
  }
}

async function train() {
  if (busy || byId("go").disabled) return;
  await work(begin(KEY, "/models", body()));
}

// A model that this browser started and left: watched to its end, also where the server was gone meanwhile.
function comeBack() {
  const left = unfinished(KEY);
  if (left) work(left);
}

function targets() {
  const names = table.selectedOptions[0].dataset.targets.split("\n");
  target.replaceChildren(...names.map((name) => element("option", {}, name)));
}

if (table) {
  table.addEventListener("change", () => {
    targets();
    later(0);
  });
  target.addEventListener("change", () => later(0));
  field.addEventListener("input", read);
  byId("payer")?.addEventListener("change", () => later(0));
  for (const choice of document.querySelectorAll('input[name="model"]')) choice.addEventListener("change", () => later(0));
  byId("train").addEventListener("submit", (event) => {
    event.preventDefault();
    train();
  });
  for (const button of document.querySelectorAll(".delete")) {
    button.addEventListener("click", async () => {
      await call("DELETE", `/models/${button.dataset.model}`);
      window.location.reload();
    });
  }
  targets();
  read();
  comeBack();
}
