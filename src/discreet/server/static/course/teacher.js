// A class in one step: what it may spend is said first, links and QR codes are shown once, all end together.
import { call } from "../api.js";
import { byId, drawn, element, sayProblem, tried, whenSent, whenSure } from "../dom.js";
import { download } from "../how.js";

const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);
const short = (value) => String(Number(value.toPrecision(3)));

function wanted() {
  const days = Number(byId("class-days").value);
  return {
    name: byId("class-name").value.trim(),
    size: Number(byId("class-size").value),
    dataset: byId("class-data").value,
    epsilon: byId("class-epsilon").value.trim(),
    ...(days > 0 ? { expires_days: days } : {}),
  };
}

// What the shares come to, beside what is left of the data set: said before anything is made.
function sayBudget() {
  const { size, dataset, epsilon } = wanted();
  const each = Number(epsilon);
  const left = Number(byId("class-data").selectedOptions[0].dataset.left);
  if (!(size >= 1) || !(each > 0)) {
    byId("class-budget").textContent = "Give a number of students and an ε above 0.";
    return;
  }
  const all = size * each;
  const enough = Math.floor((1000 * left) / size) / 1000;
  const start = `Nothing is spent now. ${size} × ${short(each)} = ${short(all)} if all ask about the same people; ${short(left)} of ${dataset} is left`;
  const less = enough > 0 ? ` With ${enough} each it lasts for everybody.` : "";
  byId("class-budget").textContent =
    all <= left + 1e-9
      ? `${start}, so it lasts for everybody.`
      : `${start}. It limits them together: after about ${Math.floor(left / each + 1e-9)} whole shares on the same people the rest are refused.${less}`;
}

function card({ name, link, qr }, keep) {
  const code = drawn("svg", { viewBox: `0 0 ${qr.side} ${qr.side}`, role: "img", "aria-label": `QR code of ${name}`, class: "qr" });
  code.append(drawn("rect", { width: qr.side, height: qr.side }), drawn("path", { d: qr.path }));
  return element("li", {}, code, element("div", {}, element("strong", {}, name), element("code", {}, link), element("span", { class: "quiet small" }, keep)));
}

function show(made) {
  const print = element("button", { type: "button", click: () => window.print() }, "Print");
  const keep = element("button", { type: "button", click: () => download(`class-${made.name}.html`, "text/html", made.sheet) }, "Save as a file");
  const place = byId("class-sheet");
  place.replaceChildren(
    element("h3", {}, made.title),
    element("p", {}, made.about),
    ...made.notes.map((note) => element("p", { class: "screen-only" }, note)),
    element("p", { class: "screen-only" }, element("strong", {}, "Shown this once."), " Print or save it before you leave this page; whoever has it can sign in as everybody on it."),
    element("p", { class: "row screen-only" }, print, keep),
    element("ol", { class: "cards" }, ...made.students.map((student) => card(student, made.keep))),
  );
  place.hidden = false;
  place.dataset.name = made.name;
  place.closest("article").classList.add("has-sheet");
  place.scrollIntoView({ block: "start" });
}

async function make() {
  const button = byId("new-class").querySelector("button");
  button.disabled = true;
  await tried(byId("class-problem"), async () => {
    sayProblem(byId("class-problem"));
    show(await call("POST", "/classes", wanted()));
    await list();
  });
  button.disabled = false;
}

// Ending is for good, so it asks once more in the same place.
function ending({ name, valid }) {
  const button = element("button", { type: "button", class: "plain", "aria-label": `End the class ${name}` }, "End");
  whenSure(button, `End ${valid} links for good`, () =>
    tried(byId("class-problem"), async () => {
      await call("DELETE", `/classes/${encodeURIComponent(name)}`);
      if (byId("class-sheet").dataset.name === name) byId("class-sheet").hidden = true;
      await list();
    }),
  );
  return button;
}

async function list() {
  const { classes } = await call("GET", "/classes");
  const rows = classes.map((found) => {
    const until = found.valid ? (found.expires ? day(found.expires) : "it is ended") : "ended";
    const cells = [found.name, `${found.valid} of ${found.students} valid`, day(found.created), until];
    return element("tr", {}, ...cells.map((text) => element("td", {}, text)), element("td", {}, found.valid ? ending(found) : ""));
  });
  byId("class-list").hidden = rows.length === 0;
  byId("class-list").querySelector("tbody").replaceChildren(...rows);
}

if (byId("new-class")) {
  whenSent(byId("new-class"), make);
  byId("new-class").addEventListener("input", sayBudget);
  sayBudget();
  tried(byId("class-problem"), list);
}
