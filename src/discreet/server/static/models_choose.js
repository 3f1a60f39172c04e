// Choices and recommenders on the Models page: a price before it is paid, then the choice, or a viewer to recommend to.
import { call } from "./api.js";
import { byId, element, sayProblem, tried, whenSent } from "./dom.js";
import { PricedForm } from "./priced_form.js";
import { amount } from "./words.js";

function fill(select, names) {
  const before = select.value;
  select.replaceChildren(...names.filter(Boolean).map((name) => element("option", {}, name)));
  if (names.includes(before)) select.value = before;
}

const partOf = (name) => (what) => byId(`${name}-${what}`);
const lines = (table, what) => table.selectedOptions[0].dataset[what].split("\n");

function choosing() {
  const [table, kind, column] = ["table", "kind", "column"].map((part) => byId(`choose-${part}`));
  const form = new PricedForm("choose", {
    key: "discreet-choose",
    part: partOf("choose"),
    path: "/choices",
    word: "Choose",
    ask: () => ({ table: table.value, kind: kind.value, column: column.value }),
    said: (found) => {
      byId("choose-said").textContent = found
        ? `One of ${found.candidates.toLocaleString("en")}. 95 times in 100 its ${kind.value === "price" ? "revenue" : "count"} lies at most ${Math.ceil(found.loss95).toLocaleString("en")} below that of the best.`
        : "";
    },
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
  form.comeBack();
}

function recommending() {
  const [table, item, rating] = ["table", "item", "rating"].map((part) => byId(`recommend-${part}`));
  const form = new PricedForm("recommend", {
    key: "discreet-recommend",
    part: partOf("recommend"),
    path: "/recommenders",
    word: "Learn to recommend",
    ask: () => ({ table: table.value, item: item.value, rating: rating.value }),
    said: (found) => {
      byId("recommend-said").textContent = found
        ? `${found.items.toLocaleString("en")} items; which of them go together is learned for the most rated.`
        : "";
    },
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
  form.comeBack();
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
  await tried(problem, async () => {
    const { recommended } = await call("POST", `/recommenders/${form.dataset.recommender}/for`, { ratings });
    list.replaceChildren(...recommended.map((each) => element("li", {}, `${each.item} `, element("span", { class: "number quiet" }, each.rating.toFixed(2)))));
  });
}

if (byId("choose")) choosing();
if (byId("recommend")) recommending();
for (const form of document.querySelectorAll("form.viewer")) whenSent(form, () => recommendTo(form));
for (const button of document.querySelectorAll(".delete, .delete-recommender")) {
  const { model, recommender } = button.dataset;
  button.addEventListener("click", async () => {
    await call("DELETE", model ? `/models/${model}` : `/recommenders/${recommender}`);
    window.location.reload();
  });
}
