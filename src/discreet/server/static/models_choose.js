// Choices and recommenders on the Models page: a price before it is paid, then the choice, or a viewer to recommend to.
import { call, Problem } from "./api.js";
import { byId, element, sayProblem } from "./dom.js";
import { readEpsilon } from "./epsilon.js";
import { begin, follow, forget, unfinished } from "./work.js";
import { amount } from "./words.js";

const WAIT = 300;

// A form with its price on the button. `name` begins the ids of its parts; `ask` is what is sent beside epsilon.
class PricedForm {
  constructor(name, { path, word, ask, said, done }) {
    Object.assign(this, { name, path, word, ask, said, done, timer: 0, busy: false, running: null });
    this.key = `discreet-${name}`;
    this.part = (what) => byId(`${name}-${what}`);
    this.part("epsilon").addEventListener("input", () => this.later());
    byId("payer")?.addEventListener("change", () => this.later(0));
    byId(name).addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.busy && !this.part("go").disabled) this.work(begin(this.key, this.path, this.body()));
    });
  }

  body() {
    const found = { ...this.ask(), epsilon: readEpsilon(this.part("epsilon").value)?.text };
    if (byId("payer")?.value) found.analyst = byId("payer").value;
    return found;
  }

  later(wait = WAIT) {
    clearTimeout(this.timer);
    this.running?.abort();
    this.timer = setTimeout(() => this.explain(), wait);
  }

  async explain() {
    const wanted = this.body();
    this.part("epsilon").setAttribute("aria-invalid", wanted.epsilon ? "false" : "true");
    if (!wanted.epsilon) {
      this.show(null);
      return;
    }
    this.running = new AbortController();
    try {
      this.show(await call("POST", `${this.path}/explain`, wanted, { signal: this.running.signal }));
    } catch (problem) {
      if (problem.name === "AbortError") return;
      if (problem.status === 429) this.later(1000);
      else this.show(null, problem);
    }
  }

  show(found, problem = null) {
    sayProblem(this.part("problem"), problem, { word: "Not like this." });
    const button = this.part("go");
    button.disabled = found === null || this.busy;
    button.textContent = this.word;
    this.part("said").textContent = found ? this.said(found) : "";
    if (!found) return;
    const left = found.budget.limit.epsilon - found.budget.after.epsilon;
    const leaves = left > -1e-12 ? `, leaves ${amount(Math.max(0, left))}` : "; more than is left";
    button.textContent = `${this.word} · uses ${amount(found.cost.epsilon)}${leaves}`;
  }

  async work(begun) {
    this.busy = true;
    this.part("go").disabled = true;
    sayProblem(this.part("problem"), null);
    let failed = null;
    try {
      const view = { place: this.part("work"), bar: this.part("steps"), words: this.part("step"), cancel: this.part("cancel"), notes: this.part("anew") };
      this.done(await follow(begun, view));
    } catch (problem) {
      failed = problem instanceof Problem ? problem : { message: String(problem), hint: "" };
    }
    forget(this.key);
    this.busy = false;
    await this.explain();
    if (failed) sayProblem(this.part("problem"), failed);
  }

  // What this browser began and left is watched to its end.
  start() {
    this.later(0);
    const left = unfinished(this.key);
    if (left) this.work(left);
  }
}

function fill(select, names) {
  const before = select.value;
  select.replaceChildren(...names.filter(Boolean).map((name) => element("option", {}, name)));
  if (names.includes(before)) select.value = before;
}

const lines = (table, what) => table.selectedOptions[0].dataset[what].split("\n");

function choosing() {
  const [table, kind, column] = ["table", "kind", "column"].map((part) => byId(`choose-${part}`));
  const form = new PricedForm("choose", {
    path: "/choices",
    word: "Choose",
    ask: () => ({ table: table.value, kind: kind.value, column: column.value }),
    said: ({ candidates, loss95 }) =>
      `One of ${candidates.toLocaleString("en")}. 95 times in 100 its ${kind.value === "price" ? "revenue" : "count"} lies at most ${Math.ceil(loss95).toLocaleString("en")} below that of the best.`,
    done: ({ choice, loss95, cost }) => {
      byId("chosen").textContent = `${choice} (at most ${Math.ceil(loss95).toLocaleString("en")} below the best, 95 times in 100; used ${amount(cost.epsilon)}).`;
    },
  });
  const columns = () => {
    fill(column, lines(table, kind.value));
    form.later(0);
  };
  for (const each of [table, kind]) each.addEventListener("change", columns);
  column.addEventListener("change", () => form.later(0));
  columns();
  form.start();
}

function recommending() {
  const [table, item, rating] = ["table", "item", "rating"].map((part) => byId(`recommend-${part}`));
  const form = new PricedForm("recommend", {
    path: "/recommenders",
    word: "Learn to recommend",
    ask: () => ({ table: table.value, item: item.value, rating: rating.value }),
    said: ({ items }) => `${items.toLocaleString("en")} items; which of them go together is learned for the most rated.`,
    done: () => window.location.reload(),
  });
  const columns = () => {
    fill(rating, lines(table, "ratings"));
    fill(item, lines(table, "items").filter((name) => name !== rating.value));
    form.later(0);
  };
  table.addEventListener("change", columns);
  rating.addEventListener("change", columns);
  item.addEventListener("change", () => form.later(0));
  columns();
  form.start();
}

// "12=5, 40=1" as an object; null where it is written otherwise.
function ratingsOf(text) {
  const found = {};
  for (const part of text.split(",").filter((each) => each.trim())) {
    const at = part.lastIndexOf("=");
    const value = Number(part.slice(at + 1));
    if (at < 1 || !part.slice(at + 1).trim() || Number.isNaN(value)) return null;
    found[part.slice(0, at).trim()] = value;
  }
  return Object.keys(found).length ? found : null;
}

async function recommendTo(form) {
  const [problem, list] = [form.querySelector(".viewer-problem"), form.querySelector(".recommended")];
  const ratings = ratingsOf(form.querySelector("input").value);
  sayProblem(problem, ratings ? null : { message: "Write ratings as ITEM=RATING, such as 12=5, 40=1.", hint: "" });
  list.replaceChildren();
  if (!ratings) return;
  try {
    const { recommended } = await call("POST", `/recommenders/${form.dataset.recommender}/for`, { ratings });
    list.replaceChildren(...recommended.map((each) => element("li", {}, `${each.item} `, element("span", { class: "number quiet" }, each.rating.toFixed(2)))));
  } catch (failed) {
    sayProblem(problem, failed);
  }
}

if (byId("choose")) choosing();
if (byId("recommend")) recommending();
for (const form of document.querySelectorAll("form.viewer")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    recommendTo(form);
  });
}
for (const button of document.querySelectorAll(".delete-recommender")) {
  button.addEventListener("click", async () => {
    await call("DELETE", `/recommenders/${button.dataset.recommender}`);
    window.location.reload();
  });
}
