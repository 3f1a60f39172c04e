// Randomized response with two fair coins: one person, then a crowd.
import { uniform } from "/static/dice.js";
import { byId, drawn } from "/static/dom.js";
import { percent } from "/static/words.js";

const PEOPLE = 1000;
const ACROSS = 50;
const SIZE = 640 / ACROSS;

// What somebody says whose truth is `truth`, and what the coins were.
function respond(truth) {
  const first = uniform() < 0.5;
  const second = uniform() < 0.5;
  return { first, second, said: first ? truth : second };
}

function flip() {
  const truth = document.querySelector('input[name="truth"]:checked').value === "yes";
  const { first, second, said } = respond(truth);
  const coins = first ? "Heads: you tell the truth." : `Tails, then ${second ? "heads" : "tails"}: the coin speaks.`;
  const word = said ? "yes" : "no";
  byId("coins-words").textContent =
    `${coins} You say “${word}”. Whoever hears it knows little: people whose truth is ${word} say ` +
    `${word} 3 times in 4, the others 1 time in 4. That is ε = ln 3, about 1.1.`;
}

function share() {
  return Number(byId("coins-share").value) / 100;
}

function crowd() {
  const answers = Array.from({ length: PEOPLE }, (_, i) => respond(i < share() * PEOPLE).said);
  draw(answers);
  const yes = answers.filter(Boolean).length / PEOPLE;
  const estimate = 2 * yes - 0.5;
  const half = 2 * 1.96 * Math.sqrt((yes * (1 - yes)) / PEOPLE);
  byId("coins-crowd-words").textContent =
    `${percent(yes, 1)} said yes. Twice that, less one half: an estimated ${percent(estimate, 1)} cheated, ` +
    `noise ± ${percent(half, 1)}. The truth here is ${percent(share())}, and nobody's secret was told.`;
}

function draw(answers) {
  const squares = answers.map((said, i) =>
    drawn("rect", {
      class: said ? "yes" : "no",
      x: (i % ACROSS) * SIZE + 1.5,
      y: Math.floor(i / ACROSS) * SIZE + 1.5,
      width: SIZE - 4,
      height: SIZE - 4,
    }),
  );
  byId("coins-picture").replaceChildren(...squares);
}

export function startCoins() {
  byId("coins-flip").addEventListener("click", flip);
  byId("coins-crowd").addEventListener("click", crowd);
  byId("coins-share").addEventListener("input", () => {
    byId("coins-share-value").textContent = percent(share());
    crowd();
  });
  crowd();
}
