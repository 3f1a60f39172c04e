// A copy's own page: the first press asks, the second deletes. Nothing else there cannot be undone.
import { call } from "./api.js";
import { byId, tried } from "./dom.js";

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
    await tried(byId("delete-problem"), async () => {
      await call("DELETE", `/${kind}/${button.dataset.copy}`);
      window.location.assign(back);
    });
  });
}
