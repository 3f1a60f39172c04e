// A copy's own page: the first press asks, the second deletes. Nothing else there cannot be undone.
import { call } from "./api.js";
import { byId, tried, whenSure } from "./dom.js";

// `words` say what goes and what stays; afterwards the browser is led to `back`.
export function deletes(kind, words, back) {
  const button = byId("delete");
  const say = () => (byId("delete-words").textContent = words);
  const drop = async () => {
    await call("DELETE", `/${kind}/${button.dataset.copy}`);
    window.location.assign(back);
  };
  whenSure(button, "Delete it", () => tried(byId("delete-problem"), drop), say);
}
