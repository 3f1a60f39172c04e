// Work that the server does for this browser: begun once under an id of its own, found again after leaving the
// page, after a reload, and after the server was gone. The same id is never paid for twice.
import { call, newId, Problem } from "./api.js";
import { byId } from "./dom.js";

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
const STEPS = { queued: 0, running: 0, planning: 0, charging: 1, charged: 2, reading: 2, noise: 3, done: 4 };
const GONE = "The server does not answer. This page tries again until it does. What became of your request is not known before.";
const ANEW = "The server was restarted. Your request was sent again under the same id, so that nothing is charged twice.";
const WAITS = [500, 1000, 2000, 3000, 5000];

// Another person at the same browser must not pay for what the last one began.
const who = document.querySelector('meta[name="me"]')?.content ?? "";

// What this browser has begun, remembered before it is sent.
export function begin(kept, path, body) {
  const work = { kept, id: newId(), path, body, who };
  localStorage.setItem(kept, JSON.stringify(work));
  return work;
}

// What was begun and never seen to its end; null where there is nothing.
export function unfinished(kept) {
  try {
    const work = JSON.parse(localStorage.getItem(kept) ?? "null");
    return work?.id && work.path && work.who === who ? work : null;
  } catch {
    return null;
  }
}

export function forget(kept) {
  localStorage.removeItem(kept);
}

// Wait for the end; the answer, or the problem as an exception. `part` finds where the steps are told.
export async function follow(work, part = byId) {
  const watch = new Watch(part);
  try {
    let job = await find(work, watch);
    for (;;) {
      await listened(job, watch);
      const found = await watch.reach(() => call("GET", `/jobs/${job}`)).catch(unlessForgotten);
      if (!found) job = await again(work, watch);
      else if (found.answer) return found.answer;
      else if (found.problem) throw new Problem(found.problem.status, found.problem);
      else await pause(WAITS[1]); // the stream broke, the work goes on
    }
  } finally {
    watch.end();
  }
}

// A job that is known already. With a path it is asked for again where the server has forgotten it.
export const followJob = (job, path = "") => follow({ job, path });

// A job of this id may be at work already, begun before the page was left.
async function find(work, watch) {
  if (work.job) return work.job;
  const { jobs } = await watch.reach(() => call("GET", "/jobs"));
  const mine = jobs.find((job) => job.request_id === work.id && ["queued", "running", "done"].includes(job.state));
  return mine ? mine.job : sent(work, watch);
}

async function sent(work, watch) {
  const headers = work.id ? { "Idempotency-Key": work.id } : {};
  const { job } = await watch.reach(() => call("POST", work.path, work.body, { headers }));
  return job;
}

async function again(work, watch) {
  if (!work.path) throw new Problem(404, { kind: "UnknownName", detail: "The server was restarted meanwhile and does not know this work any more.", hint: "Reload the page to see whether it was completed before you begin it again." });
  watch.note(ANEW);
  return sent(work, watch);
}

const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

function unlessForgotten(problem) {
  if (problem.status === 404) return null;
  throw problem;
}

// Until the job ends, or the server is gone: either way its state is looked up afterwards.
function listened(job, watch) {
  return new Promise((resolve) => {
    const events = new EventSource(`/api/v1/jobs/${job}/events`);
    const finish = () => {
      events.close();
      resolve();
    };
    events.addEventListener("step", (event) => watch.step(JSON.parse(event.data).step));
    events.addEventListener("progress", (event) => watch.progress(JSON.parse(event.data)));
    events.addEventListener("end", finish);
    events.addEventListener("error", finish);
    watch.stop = () => {
      call("DELETE", `/jobs/${job}`).catch(finish);
    };
    if (watch.stopped) watch.stop(); // asked before the job had a name
  });
}

// The bar, the words beside it, and the button that ends it.
class Watch {
  constructor(part) {
    const [place, bar, words, cancel, notes] = ["work", "steps", "step", "cancel", "anew"].map(part);
    Object.assign(this, { place, bar, words, notes, stopped: false, stop: () => {} });
    if (place) place.hidden = false;
    bar.hidden = false;
    this.step("queued");
    if (!cancel) return;
    cancel.disabled = false;
    cancel.onclick = () => {
      cancel.disabled = true;
      this.words.textContent = "cancelling";
      this.stopped = true;
      this.stop();
    };
  }

  step(step) {
    if (!(step in WORDS)) return;
    this.words.textContent = WORDS[step];
    if (this.bar.max === 4) this.bar.value = STEPS[step];
  }

  progress({ done, of, what }) {
    this.bar.max = of;
    this.bar.value = done;
    this.words.textContent = what;
  }

  note(text) {
    if (this.notes) this.notes.textContent = text;
  }

  // Try until the server answers. While it does not, the page says so and no bar pretends.
  async reach(attempt) {
    for (let tries = 0; ; tries += 1) {
      try {
        const found = await attempt();
        if (tries) this.bar.hidden = false;
        return found;
      } catch (problem) {
        if (problem.status !== 0) throw problem;
        if (this.stopped) throw new Problem(0, { detail: "Waiting for the server was given up.", hint: "What became of your request is not known here. Once the server answers, the history on the Budget page says whether it was charged and answered." });
        this.bar.hidden = true;
        this.words.textContent = GONE;
        await pause(WAITS[Math.min(tries, WAITS.length - 1)]);
      }
    }
  }

  end() {
    if (this.place) this.place.hidden = true;
    this.bar.hidden = true;
    this.words.textContent = "";
  }
}
