// A job with public steps: a bar that tells how far it is, until its end.
import { call, Problem } from "./api.js";

const WORDS = { queued: "waiting for its turn", planning: "planning", charging: "paying", charged: "paid", done: "done" };

// Wait for the end of a job; its answer, or its problem as an exception.
export async function followJob(job, { place, bar, words, cancel }) {
  if (place) place.hidden = false;
  bar.hidden = false;
  words.textContent = WORDS.queued;
  if (cancel) {
    cancel.disabled = false;
    cancel.onclick = () => {
      cancel.disabled = true;
      words.textContent = "cancelling";
      call("DELETE", `/jobs/${job}`).catch(() => {});
    };
  }
  try {
    await ended(job, bar, words);
    const found = await call("GET", `/jobs/${job}`);
    if (found.answer) return found.answer;
    throw new Problem(found.problem?.status ?? 0, found.problem ?? {});
  } finally {
    if (place) place.hidden = true;
    bar.hidden = true;
    words.textContent = "";
  }
}

function ended(job, bar, words) {
  return new Promise((resolve) => {
    const events = new EventSource(`/api/v1/jobs/${job}/events`);
    const finish = () => {
      events.close();
      resolve();
    };
    events.addEventListener("step", (event) => {
      const { step } = JSON.parse(event.data);
      if (step in WORDS) words.textContent = WORDS[step];
    });
    events.addEventListener("progress", (event) => {
      const { done, of, what } = JSON.parse(event.data);
      bar.max = of;
      bar.value = done;
      words.textContent = what;
    });
    events.addEventListener("end", finish);
    events.addEventListener("error", () => {
      if (events.readyState === EventSource.CLOSED) finish();
    });
  });
}
