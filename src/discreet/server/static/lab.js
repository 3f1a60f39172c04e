// One attack: sliders beside their numbers, a run that can be left, and the page of its outcome.
import { call, Problem } from "./api.js";
import { byId, sayProblem, tried, whenSent } from "./dom.js";
import { begin, follow, followJob, forget, unfinished } from "./work.js";

const form = byId("lab");
const attack = form.dataset.attack;
const KEY = `discreet-lab-${attack}`;
const STEPS = 100;
const FACTOR = 20;

// Far-apart ends move in equal ratios, near ones in equal steps.
function scale({ dataset }) {
  const [low, high] = [Number(dataset.low), Number(dataset.high)];
  const step = Number(dataset.step) || 0;
  const ratio = low > 0 && high / low > FACTOR;
  const snap = (value) => {
    const near = step ? low + Math.round((value - low) / step) * step : value;
    return Math.min(high, Math.max(low, Number(near.toPrecision(6))));
  };
  return {
    at: (place) => snap(ratio ? low * (high / low) ** (place / STEPS) : low + ((high - low) * place) / STEPS),
    place: (value) => {
      const part = ratio ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
      return Math.round(STEPS * Math.min(1, Math.max(0, part)));
    },
  };
}

for (const slider of document.querySelectorAll(".slide")) {
  const field = byId(slider.dataset.for);
  const { at, place } = scale(field);
  slider.max = STEPS;
  slider.value = place(Number(field.value));
  slider.addEventListener("input", () => {
    field.value = String(at(Number(slider.value)));
  });
  field.addEventListener("input", () => {
    const value = Number(field.value);
    if (Number.isFinite(value)) slider.value = place(value);
  });
}

function settings() {
  const found = {};
  for (const field of form.querySelectorAll("[name]")) {
    const number = Number(field.value);
    found[field.name] = field.tagName === "SELECT" || !field.value.trim() || Number.isNaN(number) ? field.value : number;
  }
  return found;
}

async function work(begun) {
  if (byId("go")) byId("go").disabled = true;
  sayProblem(byId("lab-problem"), null);
  try {
    const found = await follow(begun);
    window.location.assign(form.dataset.back ?? `/lab/${attack}?result=${found.result}`);
  } catch (problem) {
    sayProblem(byId("lab-problem"), problem instanceof Problem ? problem : { message: String(problem), hint: "" });
    if (byId("go")) byId("go").disabled = false;
  } finally {
    forget(KEY);
  }
}

// A run that this browser started and left: watched again if it is still at work.
// Where there is no result yet, one is made: the town is made up, and nothing is spent.
function comeBack() {
  const left = unfinished(KEY);
  if (left) work(left);
  else if (form.dataset.run) work(begin(KEY, `/lab/${attack}`, { settings: settings() }));
}

// The owner's own files: sent for one run, with the knobs as they stand and the names of columns.
async function attackOwn(own) {
  const sent = new FormData(own);
  const words = Object.fromEntries([...own.querySelectorAll("[data-word]")].map((field) => [field.dataset.word, field.value]));
  sent.append("settings", JSON.stringify({ ...settings(), ...words }));
  byId("own-go").disabled = true;
  sayProblem(byId("own-problem"), null);
  byId("own-go").disabled = await tried(byId("own-problem"), async () => {
    const { job } = await call("POST", `/lab/${attack}/own`, sent);
    const found = await followJob(job);
    window.location.assign(`/lab/${attack}?result=${found.result}`);
  });
}

whenSent(byId("own"), () => attackOwn(byId("own")));
whenSent(form, () => work(begin(KEY, `/lab/${attack}`, { settings: settings() })));
comeBack();
