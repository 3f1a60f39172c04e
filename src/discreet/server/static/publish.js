// The Publish pages: keep a draft, rehearse it for nothing, approve it, release it once and for all.
import { call } from "./api.js";
import { byId, sayProblem, tried, whenSent } from "./dom.js";
import { followJob } from "./work.js";

const form = byId("publish");
const release = form?.dataset.release;
const JOB = "discreet-release";
const spec = () => ({ spec: byId("spec").value });
const buttons = () => document.querySelectorAll("#publish button");

// One thing at a time; what goes wrong is said below the spec.
async function doing(act) {
  for (const button of buttons()) button.disabled = true;
  sayProblem(byId("problem"), null);
  const done = await tried(byId("problem"), async () => window.location.assign(`/publish/${encodeURIComponent(await act())}`));
  for (const button of buttons()) button.disabled = done;
}

async function draft() {
  return (await call("POST", "/publish", spec())).release;
}

async function rehearse() {
  const { job } = await call("POST", "/publish/rehearse", spec());
  return (await followJob(job)).release;
}

// What is approved is what was shown here, whatever became of the draft since.
async function approve() {
  return (await call("POST", `/publish/${release}/approve`, { digest: form.dataset.digest })).release;
}

// What is released is what is written: a changed spec is a new draft first.
async function publish() {
  const { release: name } = await call("POST", "/publish", spec());
  const { job } = await call("POST", `/publish/${name}/release`);
  localStorage.setItem(JOB, JSON.stringify({ job, release: name }));
  try {
    return (await followJob(job, `/publish/${name}/release`)).release; // the same release again is free
  } finally {
    localStorage.removeItem(JOB);
  }
}

async function withdraw() {
  return (await call("POST", `/publish/${release}/withdraw`, { reason: byId("reason").value })).release;
}

// A release that this browser started and left is watched again.
async function comeBack() {
  const kept = JSON.parse(localStorage.getItem(JOB) ?? "null");
  if (!kept || kept.release !== release) return;
  const { jobs } = await call("GET", "/jobs").catch(() => ({ jobs: [] }));
  const mine = jobs.find(({ job }) => job === kept.job);
  if (mine && ["queued", "running"].includes(mine.state)) await doing(async () => (await followJob(kept.job)).release);
  else localStorage.removeItem(JOB);
}

const ACTS = { draft, rehearse, approve, release: publish, withdraw };
for (const [id, act] of Object.entries(ACTS)) byId(id)?.addEventListener("click", () => doing(act));
whenSent(form, () => {});
if (release) comeBack();
