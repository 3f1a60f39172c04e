// A rehearsal: the noise of a seed, on rows that were declared public. Nothing of it is kept, all of it is marked.
import { call } from "./api.js";
import { drawChart } from "./chart.js";
import { byId, element, sayProblem, tried } from "./dom.js";
import { csvOf, download } from "./how.js";
import { answerTable } from "./table.js";

function show(answer, seed) {
  const chart = element("div");
  const save = () => download(`rehearsal-${seed}.csv`, "text/csv", csvOf(answer));
  const mark = element("p", { class: "care", role: "note" }, element("strong", {}, answer.watermark), ` · seed ${seed}, ε ${byId("epsilon").value} · everybody with this seed sees these numbers; nothing was spent`);
  const buttons = element("p", { class: "row" }, element("button", { type: "button", click: () => drawChart(chart, answer) }, "Chart"), element("button", { type: "button", click: save }, "CSV"));
  byId("rehearsal").replaceChildren(mark, answerTable(answer), buttons, chart);
  byId("rehearsal").hidden = false;
}

async function rehearse() {
  const [place, button] = [byId("rehearse-problem"), byId("rehearse-go")];
  const seed = Number(byId("seed").value);
  if (!/^\d{1,15}$/.test(byId("seed").value.trim())) {
    sayProblem(place, { message: "A seed is a whole number, such as 1.", hint: "" });
    return;
  }
  button.disabled = true;
  sayProblem(place);
  const done = await tried(place, async () => {
    show(await call("POST", "/rehearse", { sql: byId("sql").value, epsilon: byId("epsilon").value, seed }), seed);
  });
  if (!done) byId("rehearsal").hidden = true;
  button.disabled = false;
}

byId("rehearse-go")?.addEventListener("click", rehearse);
