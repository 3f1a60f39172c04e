// Questions at work: started once, watched by events, found again after leaving the page.
import { call, newId, Problem } from "./api.js";
import { byId } from "./dom.js";

const STEPS = { queued: 0, running: 0, planning: 0, charging: 1, charged: 2, reading: 2, noise: 3, done: 4 };
const WORDS = {
  queued: "waiting for its turn",
  running: "planning",
  planning: "planning",
  charging: "paying",
  charged: "paid",
  reading: "reading the data",
  noise: "adding noise",
  done: "done",
};
const KEY = "discreet-job";

export async function startJob(question) {
  const id = newId();
  const headers = { "Idempotency-Key": id };
  const { job } = await call("POST", "/jobs", question, { headers });
  localStorage.setItem(KEY, JSON.stringify({ job, sql: question.sql, epsilon: question.epsilon }));
  return job;
}

// Wait for the end of a job; the answer, or the problem as an exception.
export async function follow(job) {
  const work = byId("work");
  const cancel = byId("cancel");
  work.hidden = false;
  say("queued");
  cancel.disabled = false;
  cancel.onclick = () => {
    cancel.disabled = true;
    byId("step").textContent = "cancelling";
    call("DELETE", `/jobs/${job}`).catch(() => {});
  };
  try {
    await ended(job);
    const found = await call("GET", `/jobs/${job}`);
    if (found.answer) return found.answer;
    throw new Problem(found.problem?.status ?? 0, found.problem ?? {});
  } finally {
    work.hidden = true;
  }
}

function say(step) {
  if (!(step in STEPS)) return;
  byId("steps").value = STEPS[step];
  byId("step").textContent = WORDS[step];
}

function ended(job) {
  return new Promise((resolve) => {
    const events = new EventSource(`/api/v1/jobs/${job}/events`);
    const finish = () => {
      events.close();
      resolve();
    };
    events.addEventListener("step", (event) => say(JSON.parse(event.data).step));
    events.addEventListener("end", finish);
    events.addEventListener("error", () => {
      if (events.readyState === EventSource.CLOSED) finish();
    });
  });
}

// The job that this browser last started, with its question; null if it is not worth showing.
export async function lastJob() {
  const kept = JSON.parse(localStorage.getItem(KEY) ?? "null");
  if (!kept) return null;
  const { jobs } = await call("GET", "/jobs");
  const mine = jobs.find(({ job }) => job === kept.job);
  if (mine && ["queued", "running", "done"].includes(mine.state)) return kept;
  forgetJob(); // another person's, or lost with the server
  return null;
}

export function forgetJob() {
  localStorage.removeItem(KEY);
}
