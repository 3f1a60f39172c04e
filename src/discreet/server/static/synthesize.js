// The Synthesize page: pick a table, see how it is treated and what it costs, make a copy, come back.
import { call, Problem } from "./api.js";
import { byId, element, sayProblem } from "./dom.js";
import { nearest, readEpsilon, stepsUpTo } from "./epsilon.js";
import { begin, follow, forget, unfinished } from "./work.js";
import { amount, oddsSentence } from "./words.js";

const KEY = "discreet-copy";
const WAIT = 300;
const table = byId("table");
const payer = byId("payer");
const slider = byId("slider");
const field = byId("epsilon");
let steps = stepsUpTo(1);
let timer = 0;
let busy = false;
let running = null;
let touched = false;

const method = () => {
  const { value, dataset } = document.querySelector('input[name="method"]:checked');
  return value ? { method: value } : { choose: dataset.among.split(",") };
};
const rows = () => byId("rows").value.trim().replaceAll(",", "");

function wish() {
  const found = { table: table.value, ...method(), epsilon: readEpsilon(field.value)?.text };
  if (rows()) found.rows = Number(rows());
  if (payer?.value) found.analyst = payer.value;
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
  if (found) {
    slider.value = nearest(steps, found.value);
    slider.setAttribute("aria-valuetext", `epsilon ${found.text}`);
  }
  later();
}

function resize(limit) {
  steps = stepsUpTo(limit);
  slider.max = steps.length - 1;
  const found = readEpsilon(field.value);
  if (found) slider.value = nearest(steps, found.value);
}

async function explain() {
  const wanted = wish();
  const whole = /^\d{0,8}$/.test(rows());
  byId("rows").setAttribute("aria-invalid", whole ? "false" : "true");
  if (!wanted.epsilon || !whole) {
    show(null, whole ? null : { message: "rows is a whole number.", hint: "Leave it empty for about as many as there are." });
    return;
  }
  running = new AbortController();
  try {
    show(await call("POST", "/synth/explain", wanted, { signal: running.signal }));
  } catch (problem) {
    if (problem.name === "AbortError") return;
    if (problem.status === 429) later(1000);
    else show(null, problem);
  }
}

function show(found, problem = null) {
  sayProblem(byId("price-problem"), problem, { word: "Not like this." });
  sayButton(found);
  if (!found) return;
  resize(found.budget.limit.epsilon);
  if (found.free) byId("odds").textContent = "no row is read for this, so nobody's odds change";
  else byId("odds").textContent = oddsSentence(found.cost.epsilon);
  byId("columns").replaceChildren(...found.columns.map(treated));
  const learned = found.learns > 0 ? [`${Math.round(100 * found.learns)}% of the budget learns what is not declared.`] : [];
  const notices = [...found.notices, ...learned, ...found.rules.map((rule) => `Kept in every row: ${rule}`)];
  byId("notices").replaceChildren(...notices.map((text) => element("li", {}, text)));
  byId("needs").textContent = found.rows_needed
    ? `From about ${found.rows_needed.toLocaleString("en")} rows on, a column of such a copy is right but for a tenth; patterns among columns need more. How many rows there are is not told for free.`
    : "\u00a0";
  sayLeft(found.budget.before.epsilon, found.budget.limit.epsilon);
  sayOver(found);
}

const treated = ({ name, treated: words }) =>
  element("li", {}, element("span", { class: "name", title: name }, name), element("span", { class: "quiet small", title: words }, words));

function sayButton(found) {
  const button = byId("go");
  button.disabled = found === null || busy;
  if (!found) {
    button.textContent = "Make a copy";
    return;
  }
  const left = found.budget.limit.epsilon - found.budget.after.epsilon;
  const leaves = left > -1e-12 ? `, leaves ${amount(Math.max(0, left))}` : "";
  button.textContent = found.free ? "Make a copy · free" : `Make a copy · uses ${amount(found.cost.epsilon)}${leaves}`;
}

function sayOver({ cost, budget, free }) {
  if (free || budget.after.epsilon <= budget.limit.epsilon + 1e-12) return;
  const left = Math.max(0, budget.limit.epsilon - budget.before.epsilon);
  const message = `This uses ${amount(cost.epsilon)}, more than is left. Asked like this it is refused, and nothing is spent.`;
  sayProblem(byId("price-problem"), { message, hint: "Copies that exist stay free to use." }, { word: "Too much.", kind: "care" });
  if (left < 1e-6) return;
  const use = () => {
    field.value = String(Math.floor(left * 1e6) / 1e6);
    read();
  };
  byId("price-problem").append(element("button", { type: "button", click: use }, `Use what is left: ${amount(left)}`));
}

// The strip follows the table that is chosen.
function showDataset() {
  const name = table.selectedOptions[0].dataset.dataset;
  const shown = document.querySelector(`.dataset[data-dataset="${CSS.escape(name)}"]`);
  const chooser = byId("dataset");
  if (chooser.tagName === "SELECT") chooser.value = name;
  byId("protects").textContent = shown.dataset.unit;
  sayLeft(Number(shown.dataset.spent), Number(shown.dataset.limit));
  if (!touched) field.value = shown.dataset.start; // a part of what is left, never all of it
}

function sayLeft(spent, limit) {
  const left = Math.max(0, limit - spent);
  byId("left").textContent = `${amount(left)} of ${amount(limit)} left`;
  document.querySelector("#strip .gauge .left").setAttribute("width", `${limit ? (100 * left) / limit : 0}%`);
}

async function make() {
  if (busy || byId("go").disabled) return;
  await work(begin(KEY, "/synth", wish()));
}

async function work(begun) {
  busy = true;
  byId("go").disabled = true;
  sayProblem(byId("price-problem"), null);
  try {
    const found = await follow(begun, { place: byId("work"), bar: byId("steps"), words: byId("step"), cancel: byId("cancel"), notes: byId("anew") });
    forget(KEY);
    window.location.assign(`/synthesize/${found.copy}`);
  } catch (problem) {
    forget(KEY);
    busy = false;
    clearTimeout(timer);
    await explain();
    sayProblem(byId("price-problem"), problem instanceof Problem ? problem : { message: String(problem), hint: "" });
  }
}

// A copy that this browser started and left: watched to its end, also where the server was gone meanwhile.
function comeBack() {
  const left = unfinished(KEY);
  if (left) work(left);
}

slider.addEventListener("input", () => {
  field.value = String(steps[slider.value]);
});
for (const input of [field, slider]) {
  input.addEventListener("input", () => {
    touched = true;
    read();
  });
}
byId("rows").addEventListener("input", () => later());
table.addEventListener("change", () => {
  showDataset();
  later(0);
});
payer?.addEventListener("change", () => later(0));
for (const choice of document.querySelectorAll('input[name="method"]')) choice.addEventListener("change", () => later(0));
byId("dataset").addEventListener("change", (event) => {
  const first = [...table.options].find((option) => option.dataset.dataset === event.target.value);
  if (first) table.value = first.value;
  showDataset();
  later(0);
});
byId("synth").addEventListener("submit", (event) => {
  event.preventDefault();
  make();
});
if (matchMedia("(max-width: 720px)").matches) byId("treated").open = false;
showDataset();
read();
comeBack();
