// A new survey: what it would promise and need, before it begins.
import { call } from "../api.js";
import { byId, element, sayProblem, tried, whenSent } from "../dom.js";

const stated = () => ({ name: byId("name").value.trim() || byId("name").placeholder, toml: byId("toml").value });

function show(found) {
  const rows = Object.entries(found.questions).map(([name, each]) =>
    element(
      "tr",
      {},
      element("td", {}, name),
      element("td", {}, each.mechanism),
      element("td", { class: "right" }, each.respondents_needed.toLocaleString("en")),
      element("td", { class: "right" }, each.expected_error === null ? "" : `± ${Number(each.expected_error.toPrecision(2))}`),
      element("td", { class: "right" }, String(Number(each.poisoning_gain.toPrecision(3)))),
      element("td", { class: "quiet" }, each.why),
    ),
  );
  const heads = ["question", "randomizer", `respondents for ± ${100 * found.within}%`, "noise ± expected", "one liar weighs", "why"];
  byId("planned").replaceChildren(
    ...found.promise.map((sentence) => element("p", {}, sentence)),
    element("p", {}, `It takes at most ${found.most_reports.toLocaleString("en")} reports and ${found.most_mb.toLocaleString("en")} MB.`),
    element(
      "div",
      { class: "wide" },
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
        element("tbody", {}, ...rows),
      ),
    ),
  );
}

async function doing(work) {
  sayProblem(byId("problem"), null);
  if (!(await tried(byId("problem"), work))) byId("planned").replaceChildren();
}

byId("look").addEventListener("click", () => doing(async () => show(await call("POST", "/surveys/plan", stated()))));
const begin = async () => {
  const found = await call("POST", "/surveys", stated());
  window.location.assign(`/surveys/${encodeURIComponent(found.survey)}`);
};
whenSent(byId("new"), () => doing(begin));
