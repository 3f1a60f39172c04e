// The Models page: pick what to predict, see what it costs, train, come back.
import { byId, element } from "./dom.js";
import { PricedForm } from "./priced_form.js";
import { promiseTyped } from "./words.js";

const table = byId("table");
const target = byId("target");

function training() {
  return new PricedForm("train", {
    key: "discreet-model",
    part: (what) => byId(what === "problem" ? "price-problem" : what),
    path: "/models",
    word: "Train a model",
    ask: () => ({ table: table.value, target: target.value, model: document.querySelector('input[name="model"]:checked').value }),
    typed: (found) => {
      byId("odds").textContent = found ? promiseTyped(found.value, byId("odds")) : "epsilon is a number greater than 0, such as 1";
    },
    said: (found) => {
      if (found) byId("odds").textContent = found.words;
      byId("from").textContent = found
        ? `${found.model}, from ${found.features.join(", ")}. From about ${found.rows_needed.toLocaleString("en")} rows on it sees more than noise. ${found.notices.join(" ")}`
        : "";
    },
    done: () => {
      window.location.reload();
      return true;
    },
  });
}

function targets() {
  const names = table.selectedOptions[0].dataset.targets.split("\n");
  target.replaceChildren(...names.map((name) => element("option", {}, name)));
}

if (table) {
  const form = training();
  table.addEventListener("change", () => {
    targets();
    form.later(0);
  });
  target.addEventListener("change", () => form.later(0));
  for (const choice of document.querySelectorAll('input[name="model"]')) choice.addEventListener("change", () => form.later(0));
  targets();
  form.read();
  form.comeBack();
}
