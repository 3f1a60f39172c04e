// One copy: the owner may compare it with the real rows, which is recorded; it can be deleted.
import { call } from "./api.js";
import { deletes } from "./deleting.js";
import { byId, sayProblem, tried } from "./dom.js";
import { followJob } from "./work.js";

const button = byId("compare");

async function compare() {
  button.disabled = true;
  sayProblem(byId("compare-problem"), null);
  button.disabled = await tried(byId("compare-problem"), async () => {
    const { job } = await call("POST", `/synth/${button.dataset.copy}/compare`);
    await followJob(job);
    window.location.reload();
  });
}

button?.addEventListener("click", compare);
deletes("synth", "Its files go; what it cost stays spent.", "/synthesize");
