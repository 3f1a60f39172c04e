// One copy: the owner may compare it with the real rows, which is recorded; it can be deleted.
import { call } from "./api.js";
import { byId, sayProblem } from "./dom.js";
import { followJob } from "./work.js";

const button = byId("compare");

async function compare() {
  button.disabled = true;
  sayProblem(byId("compare-problem"), null);
  try {
    const { job } = await call("POST", `/synth/${button.dataset.copy}/compare`);
    await followJob(job, { bar: byId("steps"), words: byId("step") });
    window.location.reload();
  } catch (problem) {
    sayProblem(byId("compare-problem"), problem);
    button.disabled = false;
  }
}

// The first press asks, the second deletes: nothing else on this page cannot be undone.
async function remove() {
  const gone = byId("delete");
  if (!gone.dataset.sure) {
    gone.dataset.sure = "yes";
    gone.textContent = "Delete it";
    byId("delete-words").textContent = "Its files go; what it cost stays spent.";
    return;
  }
  try {
    await call("DELETE", `/synth/${gone.dataset.copy}`);
    window.location.assign("/synthesize");
  } catch (problem) {
    sayProblem(byId("delete-problem"), problem);
  }
}

button?.addEventListener("click", compare);
byId("delete").addEventListener("click", remove);
