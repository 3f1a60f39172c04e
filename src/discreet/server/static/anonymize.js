// The Anonymize page: say what others may know, see what each k leaves and costs, make a copy.
import { call } from "./api.js";
import { byId, element, sayProblem, tried, whenSent } from "./dom.js";
import { followJob } from "./work.js";

const table = byId("table");
const slider = byId("k");
let measured = null;

const rows = () => [...document.querySelectorAll(".roles tbody tr")];
const named = (role) => rows().filter((row) => row.querySelector(".role").value === role).map((row) => row.dataset.column);
const share = (value) => {
  if (value > 0 && value < 0.0001) return "below 0.01%";
  return `${(100 * value).toFixed(value < 0.1 ? 2 : 1)}%`;
};
const whole = (value) => Number(value).toLocaleString("en");

// A hierarchy is used by what is coarsened, and by a distance that goes by it.
const coarsened = (row) => {
  const role = row.querySelector(".role").value;
  return role === "quasi" || (role === "sensitive" && byId("closeness").value.trim() !== "" && byId("distance").value === "hierarchical");
};

async function hierarchies() {
  const found = {};
  for (const row of rows()) {
    const file = row.querySelector(".levels").files[0];
    if (file && coarsened(row)) found[row.dataset.column] = await file.text();
  }
  return found;
}

async function wish(k) {
  const [sensitive, ...more] = named("sensitive");
  if (more.length) throw { message: "One column can be protected at a time.", hint: "Leave the others out, or publish them." };
  if (!named("quasi").length) throw { message: "Say first what others may know of a person.", hint: "Set at least one column to be coarsened." };
  const suppress = Number(byId("suppress").value) / 100;
  if (!(suppress >= 0 && suppress <= 1)) throw { message: "The share of rows to leave out lies between 0 and 100%.", hint: "" };
  const found = { table: table.value, quasi: named("quasi"), keep: named("keep"), redact: named("redact"), suppress, method: byId("method").value, hierarchies: await hierarchies(), k };
  if (sensitive) found.sensitive = sensitive;
  const close = byId("closeness").value.trim();
  if (close !== "") Object.assign(found, { t: Number(close), distance: byId("distance").value });
  if (found.t !== undefined && !(found.t >= 0 && found.t <= 1)) throw { message: "t lies between 0 and 1.", hint: "Leave it empty for no condition." };
  return found;
}

async function work(path, asked) {
  sayProblem(byId("problem"), null);
  for (const id of ["measure", "make"]) byId(id).disabled = true;
  try {
    const { job } = await call("POST", path, asked);
    return await followJob(job);
  } finally {
    for (const id of ["measure", "make"]) byId(id).disabled = false;
  }
}

async function measure() {
  measured = await work("/anonymize/measure", await wish(5));
  slider.max = measured.points.length - 1;
  byId("found").hidden = false;
  show();
  byId("found").scrollIntoView({ block: "nearest" });
}

function show() {
  const point = measured.points[slider.value];
  const before = measured.before;
  slider.setAttribute("aria-valuetext", `k ${point.k}`);
  byId("make").disabled = point.risk === null;
  if (point.risk === null) {
    byId("k-words").textContent = `k ${point.k}: not possible. ${point.why_not}`;
    byId("facts").replaceChildren();
    return;
  }
  const after = point.risk.prosecutor;
  byId("k-words").textContent = `k ${point.k}: who knows these columns names the right row ${share(after.average)} of the time, ${share(before.prosecutor.average)} without it.`;
  const levels = point.levels === null ? "class by class" : Object.entries(point.levels).map(([name, level]) => `${name} ${level}`).join(", ");
  fill({
    "at the worst row": `${share(after.highest)}, before ${share(before.prosecutor.highest)}`,
    "detail that is lost": share(point.loss),
    "rows left out": whole(point.suppressed),
    classes: whole(point.classes),
    "levels (0 is as it was)": levels,
    search: point.optimal ? "nothing cheaper exists" : "the best that was found",
  });
}

function fill(facts) {
  const lines = Object.entries(facts).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  byId("facts").replaceChildren(...lines);
}

async function make() {
  const found = await work("/anonymize", await wish(measured.points[slider.value].k));
  window.location.assign(`/anonymize/${found.release}`);
}

// What was measured is about other columns as soon as one changes.
function forget() {
  measured = null;
  byId("found").hidden = true;
  for (const row of rows()) row.querySelector(".how").classList.toggle("off", !coarsened(row));
}

table?.addEventListener("change", () => window.location.assign(`/anonymize?table=${encodeURIComponent(table.value)}`));
// As it is typed, not when the field is left: hiding the figures then would move the button under the pointer.
byId("anonymize")?.addEventListener("input", (event) => {
  if (event.target !== table) forget();
});
whenSent(byId("anonymize"), () => {});
byId("measure")?.addEventListener("click", () => tried(byId("problem"), measure));
byId("make")?.addEventListener("click", () => tried(byId("problem"), make));
slider?.addEventListener("input", show);
if (table) forget();
