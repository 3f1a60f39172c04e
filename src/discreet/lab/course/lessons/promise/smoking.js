// The smoking study twice: with you and without you. The insurer reads the same thing in both.
import { binomial, byRatio, halfWidth, laplace } from "/static/dice.js";
import { byId, drawn } from "/static/dom.js";
import { percent, shown } from "/static/words.js";

const ILL = 0.22;
const EPSILON = 0.5;
const LEFT = 130;
const RIGHT = 620;

const people = () => Math.round(byRatio(byId("smoking-people"), 100, 10000));

// Both worlds share everybody but you; you are a smoker who fell ill.
function studies() {
  const others = people() - 1;
  const ill = binomial(others, ILL);
  const report = (count, of) => ({ share: (count + laplace(EPSILON)) / of, half: halfWidth(EPSILON) / of });
  return [
    { name: "with you", ...report(ill + 1, others + 1) },
    { name: "without you", ...report(ill, others) },
  ];
}

const LOW = 0.1;
const HIGH = 0.35;

const x = (share) => {
  const inside = Math.min(HIGH, Math.max(LOW, share));
  return LEFT + ((inside - LOW) / (HIGH - LOW)) * (RIGHT - LEFT);
};

function draw() {
  const found = studies();
  const parts = [];
  found.forEach(({ name, share, half }, i) => {
    const y = 50 + i * 70;
    parts.push(
      drawn("text", { class: "strong", x: 0, y: y + 5 }, name),
      drawn("line", { class: "interval-line", x1: x(share - half), x2: x(share + half), y1: y, y2: y }),
      ...[share - half, share + half].map((end) =>
        drawn("line", { class: "interval-line", x1: x(end), x2: x(end), y1: y - 6, y2: y + 6 }),
      ),
      drawn("circle", { class: i ? "dot other" : "dot", cx: x(share), cy: y, r: 5 }),
      drawn("text", { x: x(share), y: y - 16, "text-anchor": "middle" }, percent(share, 1)),
    );
  });
  parts.push(drawn("line", { class: "axis", x1: LEFT, x2: RIGHT, y1: 170, y2: 170 }));
  for (const tick of [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]) {
    parts.push(drawn("text", { x: x(tick), y: 194, "text-anchor": "middle" }, percent(tick)));
  }
  byId("smoking-picture").replaceChildren(...parts);
  byId("smoking-people-value").textContent = shown(people());
  const exact = 1 / people();
  byId("smoking-words").textContent =
    `You move the true share by less than ${percent(exact, 2)}, and the noise hides even that. Either way the ` +
    "insurer learns that about one smoker in five falls ill, and sets the same premium: compared with you " +
    "not taking part, nothing has changed for you.";
}

export function startSmoking() {
  byId("smoking-people").addEventListener("input", draw);
  byId("smoking-again").addEventListener("click", draw);
  draw();
}
