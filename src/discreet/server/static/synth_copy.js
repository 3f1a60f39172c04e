// One copy: the owner may compare it with the real rows, which is recorded; it can be deleted.
import { call } from "./api.js";
import { deletes } from "./deleting.js";
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

button?.addEventListener("click", compare);
deletes("synth", "Its files go; what it cost stays spent.", "/synthesize");
