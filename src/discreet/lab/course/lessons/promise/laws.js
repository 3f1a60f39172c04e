// Two overlapping laws: the count without you and with you, moving with epsilon.
import { byRatio } from "/static/dice.js";
import { byId, drawn } from "/static/dom.js";
import { atMost, evenAtMost, percent, shown, times } from "/static/words.js";

const WITHOUT = 100;
const LOW = 88;
const HIGH = 113;
const BASE = 260;
const TOP = 20;
const WIDTH = 640;

const x = (value) => ((value - LOW) / (HIGH - LOW)) * WIDTH;
const density = (value, centre, epsilon) => Math.exp(-epsilon * Math.abs(value - centre));

function curve(centre, epsilon, height) {
  const points = [];
  for (let value = LOW; value <= HIGH + 1e-9; value += 0.125) {
    points.push(`${x(value).toFixed(1)},${(BASE - height * density(value, centre, epsilon)).toFixed(1)}`);
  }
  return points;
}

function overlap(epsilon, height) {
  const points = [];
  for (let value = LOW; value <= HIGH + 1e-9; value += 0.125) {
    const low = Math.min(density(value, WITHOUT, epsilon), density(value, WITHOUT + 1, epsilon));
    points.push(`${x(value).toFixed(1)},${(BASE - height * low).toFixed(1)}`);
  }
  return `M0,${BASE} L${points.join(" L")} L${WIDTH},${BASE} Z`;
}

function draw() {
  const epsilon = byRatio(byId("laws-epsilon"), 0.05, 5);
  const seen = Number(byId("laws-seen").value);
  // Taller for larger epsilon, as the areas are the same; the root keeps flat curves visible.
  const height = (BASE - TOP) * Math.min(1, Math.sqrt(epsilon / 5) * 0.8 + 0.2);
  byId("laws-picture").replaceChildren(
    drawn("path", { class: "overlap", d: overlap(epsilon, height) }),
    drawn("polyline", { class: "without", points: curve(WITHOUT, epsilon, height).join(" ") }),
    drawn("polyline", { class: "with", points: curve(WITHOUT + 1, epsilon, height).join(" ") }),
    drawn("line", { class: "axis", x1: 0, x2: WIDTH, y1: BASE, y2: BASE }),
    drawn("line", { class: "seen", x1: x(seen), x2: x(seen), y1: TOP - 10, y2: BASE }),
    ...[90, 95, 100, 105, 110].map((value) =>
      drawn("text", { x: x(value), y: BASE + 24, "text-anchor": "middle" }, String(value)),
    ),
  );
  byId("laws-seen-value").textContent = shown(seen);
  byId("laws-epsilon").setAttribute("aria-valuetext", `epsilon ${epsilon}`);
  const ratio = density(seen, WITHOUT + 1, epsilon) / density(seen, WITHOUT, epsilon);
  const belief = ratio / (1 + ratio);
  byId("laws-words").textContent =
    `ε ${epsilon}: no number is more than ${times(epsilon)} as likely with you as without you. Somebody who thought ` +
    `it an even chance that you are counted and then sees ${shown(seen)} believes it with ${percent(belief)}. No number ` +
    `can move them above ${atMost(evenAtMost(epsilon))}.`;
}

export function startLaws() {
  for (const id of ["laws-epsilon", "laws-seen"]) byId(id).addEventListener("input", draw);
  draw();
}
