// A copy's own page: the first press asks, the second deletes. Nothing else there cannot be undone.
import { call } from "./api.js";
import { byId, sayProblem } from "./dom.js";

// `words` say what goes and what stays; afterwards the browser is led to `back`.
export function deletes(kind, words, back) {
  const button = byId("delete");
  button.addEventListener("click", async () => {
    if (!button.dataset.sure) {
      button.dataset.sure = "yes";
      button.textContent = "Delete it";
      byId("delete-words").textContent = words;
      return;
    }
    try {
      await call("DELETE", `/${kind}/${button.dataset.copy}`);
      window.location.assign(back);
    } catch (problem) {
      sayProblem(byId("delete-problem"), problem);
    }
  });
}
