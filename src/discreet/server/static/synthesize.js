// The Synthesize page: pick a table, see how it is treated and what it costs, make a copy, come back.
import { byId, element, sayProblem } from "./dom.js";
import { nearest, stepsUpTo } from "./epsilon.js";
import { sayLeft } from "./gauge.js";
import { PricedForm } from "./priced_form.js";
import { amount, promiseTyped } from "./words.js";

const table = byId("table");
const slider = byId("slider");
const field = byId("epsilon");
let steps = stepsUpTo(1);
let touched = false;

const method = () => {
  const { value, dataset } = document.querySelector('input[name="method"]:checked');
  return value ? { method: value } : { choose: dataset.among.split(",") };
};
const rows = () => byId("rows").value.trim().replaceAll(",", "");

function wish() {
  const found = { table: table.value, ...method() };
  if (rows()) found.rows = Number(rows());
  return found;
}

function wrongRows() {
  const whole = /^\d{0,8}$/.test(rows());
  byId("rows").setAttribute("aria-invalid", whole ? "false" : "true");
  return whole ? null : { message: "rows is a whole number.", hint: "Leave it empty for about as many as there are." };
}

function typed(found) {
  byId("odds").textContent = found ? promiseTyped(found.value, byId("odds")) : "epsilon is a number greater than 0, such as 1";
  if (!found) return;
  slider.value = nearest(steps, found.value);
  slider.setAttribute("aria-valuetext", `epsilon ${found.text}`);
}

function resize(limit) {
  steps = stepsUpTo(limit);
  slider.max = steps.length - 1;
  if (form.epsilon) slider.value = nearest(steps, form.epsilon.value);
}

function said(found) {
  if (!found) return;
  resize(found.budget.limit.epsilon);
  byId("odds").textContent = found.words;
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

function sayOver({ cost, budget, free }) {
  if (free || budget.after.epsilon <= budget.limit.epsilon + 1e-12) return;
  const left = Math.max(0, budget.limit.epsilon - budget.before.epsilon);
  const message = `This uses ${amount(cost.epsilon)}, more than is left. Asked like this it is refused, and nothing is spent.`;
  sayProblem(byId("price-problem"), { message, hint: "Copies that exist stay free to use." }, { word: "Too much.", kind: "care" });
  if (left < 1e-6) return;
  const use = () => {
    field.value = String(Math.floor(left * 1e6) / 1e6);
    form.read();
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

const form = new PricedForm("synth", {
  key: "discreet-copy",
  part: (what) => byId(what === "problem" ? "price-problem" : what),
  path: "/synth",
  word: "Make a copy",
  over: "",
  ask: wish,
  check: wrongRows,
  typed,
  said,
  done: ({ copy }) => {
    window.location.assign(`/synthesize/${copy}`);
    return true;
  },
});

slider.addEventListener("input", () => {
  field.value = String(steps[slider.value]);
  form.read();
});
for (const input of [field, slider]) input.addEventListener("input", () => (touched = true));
byId("rows").addEventListener("input", () => form.later());
table.addEventListener("change", () => {
  showDataset();
  form.later(0);
});
for (const choice of document.querySelectorAll('input[name="method"]')) choice.addEventListener("change", () => form.later(0));
byId("dataset").addEventListener("change", (event) => {
  const first = [...table.options].find((option) => option.dataset.dataset === event.target.value);
  if (first) table.value = first.value;
  showDataset();
  form.later(0);
});
if (matchMedia("(max-width: 720px)").matches) byId("treated").open = false;
showDataset();
form.read();
form.comeBack();
