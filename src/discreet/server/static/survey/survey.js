// One survey for its owner: estimates with their intervals as reports come in, its link, and closing it.
import { call } from "../api.js";
import { byId, drawn, element, sayProblem, tried, whenSent } from "../dom.js";
import { chosenPair, showCross } from "./cross.js";
import { estimates, isOpen, linesOf, watch, written } from "./watching.js";

const place = byId("survey");
const name = place.dataset.name;
const whole = (number) => number.toLocaleString("en");
const EDGE = 4;
const FEW = 20;

function shown(found) {
  sayProblem(byId("problem"), null);
  byId("reports").textContent = whole(found.reports);
  byId("state").textContent = found.closed ? "· closed" : "· open";
  if (byId("close")) byId("close").hidden = found.closed;
  byId("estimates").replaceChildren(...Object.entries(found.questions).map((each) => part(found, ...each)));
  showCross(found.cross);
  const refused = Object.entries(found.refused).map(([why, times]) => `${whole(times)} ${why}`);
  byId("refused").textContent = refused.length ? `Refused: ${refused.join(", ")}.` : "";
  const { epsilon, delta, assumes } = found.shuffled;
  const better = typeof epsilon === "number" && epsilon < 0.95 * found.epsilon;
  byId("shuffled").textContent = better
    ? `Against somebody who sees the mixed reports only, ε ${epsilon.toPrecision(2)} (δ ${delta}): ${assumes}`
    : copies(found.repeats);
}

const copies = (repeats) =>
  repeats > 1
    ? `A device may have given up to ${whole(repeats)} times: intervals allow for copies, and mixing is not counted on.`
    : "";

function part(found, key, question) {
  const lines = linesOf(question);
  const scale = scaleOf(lines);
  return element(
    "section",
    { class: "question", "data-question": key },
    element("h2", {}, question.text || key),
    element(
      "div",
      { class: "wide" },
      element(
        "table",
        { class: "estimate" },
        element("caption", { class: "unseen" }, question.text || key),
        element("tbody", {}, ...lines.slice(0, FEW).map((line) => row(line, scale))),
      ),
    ),
    lines.length > FEW ? element("p", { class: "quiet small" }, `and ${whole(lines.length - FEW)} more: discreet survey estimate ${name}`) : undefined,
    element("p", { class: "quiet small" }, needs(found, question)),
    question.warning ? element("p", { class: "care" }, element("strong", {}, care(question)), ` ${question.warning}`) : undefined,
  );
}

// An open question without words has nothing to show, however many answered.
const care = ({ answers, estimates }) => (answers && estimates && !Object.keys(estimates).length ? "No words yet." : "Too early.");

function needs(found, question) {
  const more = question.respondents_needed - question.answers;
  const within = question.mean ? `${100 * found.within}% of the range` : `${100 * found.within}%`;
  const words = more > 0 ? `How many more for ± ${within}: ${whole(more)}.` : `Enough for ± ${within}.`;
  const answers = question.answers === 1 ? "1 answer" : `${whole(question.answers)} answers`;
  return `${answers}. ${words} ${liar(question)}Made private by “${question.mechanism}”. ${question.why}`;
}

// How far one fake respondent can move an answer; as many of them move it as many times as far.
function liar({ answers, mean, fake }) {
  if (!answers) return "";
  return `One liar moves it by at most ${mean ? Number(fake.toPrecision(2)) : `${Number((100 * fake).toPrecision(2))}%`}. `;
}

// Shares are drawn from 0 to 100%, a mean from the least to the greatest number that may be answered.
function scaleOf([{ lower, upper } = { lower: 0, upper: 1 }]) {
  return (value) => `${EDGE + ((value - lower) / (upper - lower)) * (100 - 2 * EDGE)}%`;
}

function row(line, at) {
  const between = betweenWords(line);
  return element(
    "tr",
    { "data-answer": line.what },
    element("td", {}, line.what),
    element("td", { class: "right figure" }, isOpen(line) ? "–" : written(line.value, line)),
    element("td", {}, line.value === null ? "" : picture(line, at, between)),
    element("td", { class: "quiet" }, between),
  );
}

function betweenWords(line) {
  if (line.value === null) return "no reports yet";
  if (isOpen(line)) return "could be anything yet";
  return `${written(line.low, line)} to ${written(line.high, line)}`;
}

function picture(line, at, between) {
  const [x1, x2] = [at(line.low), at(line.high)];
  return drawn(
    "svg",
    { class: "interval", role: "img", "aria-label": `${line.what}: ${between} with 95%` },
    drawn("line", { x1, x2, y1: 12, y2: 12 }),
    ...[x1, x2].map((x) => drawn("line", { x1: x, x2: x, y1: 8, y2: 16 })),
    drawn("circle", { cx: at(line.value), cy: 12, r: 4 }),
  );
}

const sure = byId("close-sure");
byId("close")?.addEventListener("click", () => (sure.hidden = false));
byId("close-no")?.addEventListener("click", () => (sure.hidden = true));
byId("close-yes")?.addEventListener("click", () =>
  tried(byId("problem"), async () => {
    await call("POST", `/surveys/${encodeURIComponent(name)}/close`);
    sure.hidden = true;
    shown(await call("GET", `/surveys/${encodeURIComponent(name)}`));
  }),
);

byId("next-wave")?.addEventListener("click", () =>
  tried(byId("problem"), async () => {
    const found = await call("POST", `/surveys/${encodeURIComponent(name)}/wave`);
    window.location.assign(`/surveys/${encodeURIComponent(found.survey)}`);
  }),
);

// Words of open questions that are looked for, by question; they stay on this page.
const lookedFor = {};
function wishes() {
  const cross = chosenPair();
  const some = cross || Object.keys(lookedFor).length;
  return some ? { candidates: lookedFor, ...(cross ? { cross } : {}) } : null;
}
const failed = (problem) => sayProblem(byId("problem"), problem);

for (const form of document.querySelectorAll("form.look")) {
  whenSent(form, async () => {
    const lines = form.querySelector("textarea").value.split("\n");
    lookedFor[form.dataset.question] = lines.map((line) => line.trim()).filter(Boolean);
    await estimates(name, wishes()).then(shown, failed);
  });
}

byId("cross")?.addEventListener("change", () => estimates(name, wishes()).then(shown, failed));

watch(name, shown, failed, wishes);
