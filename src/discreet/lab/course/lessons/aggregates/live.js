// The differencing attack on two counts: always right on exact ones, a coin's luck on private ones.
import { byRatio, halfWidth, laplace, uniform } from "/static/dice.js";
import { byId } from "/static/dom.js";
import { shown } from "/static/words.js";

const FIRST = 202;
const ROUNDS = 1000;

const epsilon = () => byRatio(byId("differencing-epsilon"), 0.01, 10);

// One round: somebody with or without the secret leaves; the attacker sees both noisy counts.
function round(has, size) {
  const first = FIRST + laplace(size);
  const next = FIRST - (has ? 1 : 0) + laplace(size);
  const difference = first - next;
  // 0.5 is the best threshold: differences above it are likelier when the pupil has the secret.
  return { first, next, difference, says: difference > 0.5 };
}

function attack() {
  const size = epsilon();
  const half = halfWidth(size);
  const shownRound = round(true, size);
  let right = 0;
  for (let i = 0; i < ROUNDS; i += 1) {
    const has = uniform() < 0.5;
    if (round(has, size).says === has) right += 1;
  }
  const cells = byId("differencing-noisy").querySelectorAll("td");
  const verdict = shownRound.says ? "has the secret: right, this time" : "has no secret: wrong, this time";
  [shownRound.first, shownRound.next, shownRound.difference, verdict].forEach((value, i) => {
    cells[i].textContent = shown(value);
  });
  byId("differencing-words").textContent =
    `On exact numbers the attacker is right 100 times in 100. On private ones, over ${shown(ROUNDS)} ` +
    `attacks: right ${Math.round(right / 10)} times in 100; guessing would give 50. Each number ` +
    `carries noise ± ${shown(half)}: ${half < FIRST / 2 ? "still of use" : "too much to be of use"}.`;
}

function startDifferencing() {
  const slider = byId("differencing-epsilon");
  const moved = () => {
    byId("differencing-epsilon-value").textContent = String(epsilon());
    slider.setAttribute("aria-valuetext", `epsilon ${epsilon()}`);
    attack();
  };
  slider.addEventListener("input", moved);
  byId("differencing-go").addEventListener("click", attack);
  moved();
}

startDifferencing();
