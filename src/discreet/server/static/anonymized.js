// One anonymized copy: it can be deleted here, never in the ledger.
import { call } from "./api.js";
import { byId, sayProblem } from "./dom.js";

const button = byId("delete");

// The first press asks, the second deletes.
async function remove() {
  if (!button.dataset.sure) {
    button.dataset.sure = "yes";
    button.textContent = "Delete it";
    byId("delete-words").textContent = "Its files go from this server; that it left stays in the ledger.";
    return;
  }
  try {
    await call("DELETE", `/anonymize/${button.dataset.copy}`);
    window.location.assign("/anonymize");
  } catch (problem) {
    sayProblem(byId("delete-problem"), problem);
  }
}

button.addEventListener("click", remove);
