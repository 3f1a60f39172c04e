// One survey for a room: large numbers that settle as reports come in.
import { byId, drawn, element, sayProblem } from "../dom.js";
import { isOpen, linesOf, noiseOf, watch, written } from "./watching.js";

const place = byId("survey");
const DOTS = 8;
const LARGEST = 4;

function shown(found) {
  sayProblem(byId("problem"), null);
  byId("reports").textContent = found.reports.toLocaleString("en");
  byId("state").textContent = found.closed ? "· closed" : "· open";
  byId("estimates").replaceChildren(...Object.entries(found.questions).map((each) => part(...each)));
}

function part(key, question) {
  const lines = linesOf(question);
  const yesNo = question.kind === "yes-no";
  const chosen = yesNo ? lines.slice(0, 1) : [...lines].sort((one, other) => other.value - one.value).slice(0, LARGEST);
  if (!chosen.length) return ""; // an open question that no words are looked for in
  return element(
    "section",
    { class: chosen.length > 1 ? "one several" : "one", "data-question": key },
    element("h2", {}, question.text || key),
    ...chosen.map((line) => big(line, question.mean ? "" : line.what)),
    settling(question),
  );
}

function big(line, what) {
  const noise = isOpen(line) ? "" : noiseOf(line);
  return element(
    "p",
    { class: "big", "data-answer": line.what },
    what ? element("span", { class: "what" }, what) : undefined,
    isOpen(line) ? "–" : written(line.value, line),
    noise ? element("span", { class: "noise" }, `± ${noise}`) : undefined,
  );
}

// As many dots are filled as answers have come in, of those that make the interval narrow enough.
function settling({ answers, respondents_needed: needed }) {
  const filled = Math.min(DOTS, Math.floor((DOTS * answers) / Math.max(1, needed)));
  const words = filled === DOTS ? "settled" : `settling: ${filled} of ${DOTS}`;
  return drawn(
    "svg",
    { class: "dots", viewBox: `0 0 ${24 * DOTS} 20`, role: "img", "aria-label": words },
    drawn("title", {}, words),
    ...Array.from({ length: DOTS }, (_, i) => drawn("circle", { cx: 12 + 24 * i, cy: 10, r: 8, class: i < filled ? "filled" : "open" })),
  );
}

watch(place.dataset.name, shown, (problem) => sayProblem(byId("problem"), problem));
