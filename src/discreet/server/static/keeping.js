// Keep an answer: into a notebook that exists, or into a new one.
import { call } from "./api.js";
import { byId, element, sayProblem, tried } from "./dom.js";

export function keepPanel(answer, asked) {
  const choice = element("select", { id: "keep-in", class: "bare" }, element("option", { value: "" }, "a new notebook"));
  const title = element("input", { id: "keep-title", type: "text", value: "My questions", autocomplete: "off", "aria-label": "Title of the new notebook" });
  const told = element("p", { class: "small", role: "status" });
  const problem = element("div", { id: "keep-problem", "aria-live": "polite" });
  let chosen = false; // by the reader, which the list of notebooks does not undo when it comes
  choice.addEventListener("change", () => {
    chosen = true;
    title.hidden = choice.value !== "";
  });
  title.addEventListener("input", () => {
    chosen = true;
  });
  const cell = { kind: "question", sql: asked.sql, epsilon: String(asked.epsilon ?? ""), answer: answer.request_id, view: "chart", ...(asked.analyst ? { analyst: asked.analyst } : {}) };
  const keep = () =>
    tried(byId("keep-problem"), async () => {
      const id = choice.value || (await call("POST", "/notebooks", { title: title.value.trim() || "Notebook", cells: [cell] })).notebook;
      if (choice.value) await call("POST", `/notebooks/${id}/cells`, cell);
      told.replaceChildren("Kept in ", element("a", { href: `/notebooks/${id}` }, "the notebook"), ".");
      sayProblem(byId("keep-problem"), null);
    });
  fill(choice, title, () => chosen);
  return element(
    "div",
    {},
    element("p", {}, "The question stays with its answer, free to read again, and can be shared."),
    element("div", { class: "row" }, element("label", { class: "inline", for: "keep-in" }, "Keep it in"), choice, title, element("button", { id: "keep", type: "button", click: keep }, "Keep")),
    told,
    problem,
    element("p", { class: "small" }, element("a", { href: "/notebooks" }, "All notebooks")),
  );
}

async function fill(choice, title, chosen) {
  const { notebooks } = await call("GET", "/notebooks").catch(() => ({ notebooks: [] }));
  const mine = notebooks.filter((each) => each.mine);
  choice.prepend(...mine.map((each) => element("option", { value: each.id }, each.title)));
  if (chosen() || !mine.length) return;
  choice.value = mine[0].id;
  title.hidden = true;
}
