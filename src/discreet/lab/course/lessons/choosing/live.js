// Three choices by one mechanism: a price, a vote, the most common of 10,000 names.
import { Stage, bars } from "/static/course/kit.js";
import { drawn } from "/static/dom.js";
import { percent } from "/static/words.js";

const BIDS = [1, 1, 1, 3.01];
const TOP = 4;
const PRICES = Array.from({ length: 41 }, (_, i) => Number((i / 10).toFixed(2))).concat(3.01).sort((a, b) => a - b);
const VOTES = { ash: 0.3, birch: 0.28, cedar: 0.22, elm: 0.15, fir: 0.05 };
const NAMES = 10_000;
const RANKS = [[1, 1], [2, 2], [3, 3], [4, 9], [10, 99], [100, 999], [1000, NAMES]];
const UNLUCKY = 0.05;

const stage = new Stage("", { caption: "The chance of each choice (bars). For prices the line is what each would earn." });
const which = stage.choice("What is chosen", ["a price: a quarter bids 3.01, the others 1.00", "the winner of a vote among five trees", "the most common of 10,000 first names"]);
const size = stage.slider("epsilon", { low: 0.1, high: 20, value: 2, ratio: true });
const crowd = stage.slider("people", { low: 1, high: 10_000, value: 1, ratio: true, say: (n) => String(4 * Math.round(n)) });

// One person moves every score by at most `most`.
function chancesOf(scores, epsilon, most) {
  const best = Math.max(...scores);
  const weights = scores.map((score) => Math.exp((epsilon * (score - best)) / (2 * most)));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / all);
}

const mean = (chances, scores) => chances.reduce((sum, chance, i) => sum + chance * scores[i], 0);
const furthest = (count, epsilon) => (2 / epsilon) * Math.log(count / UNLUCKY);

function price(epsilon, times) {
  const x = (each) => 20 + (each / TOP) * 600;
  const revenue = PRICES.map((each) => each * times * BIDS.filter((bid) => bid >= each).length);
  const best = Math.max(...revenue);
  const chances = chancesOf(revenue, epsilon, TOP); // one bid moves any revenue by at most the highest price
  const tall = Math.max(...chances);
  const base = 210;
  stage.svg.replaceChildren(
    ...PRICES.map((each, i) => drawn("rect", { class: "bar", x: x(each) - 5, width: 10, y: base - (170 * chances[i]) / tall, height: (170 * chances[i]) / tall })),
    drawn("polyline", { class: "without", points: PRICES.map((each, i) => `${x(each)},${base - (180 * revenue[i]) / best}`).join(" ") }),
    drawn("line", { class: "axis", x1: 0, x2: 640, y1: base, y2: base }),
    ...[0, 1, 2, 3, 4].map((each) => drawn("text", { x: x(each), y: base + 24, "text-anchor": "middle" }, each.toFixed(2))),
  );
  const expected = mean(chances, revenue);
  const nothing = chances.filter((_, i) => revenue[i] === 0).reduce((sum, chance) => sum + chance, 0);
  return (
    `On average the chosen price earns ${expected.toFixed(2)} of ${best.toFixed(2)}: ${percent(expected / best)}. ` +
    `With ${percent(nothing, 1)} it earns nothing. More bidders help as much as more epsilon: the gaps grow.`
  );
}

function vote(epsilon, times) {
  const votes = Object.values(VOTES).map((share) => Math.round(share * 4 * times));
  const chances = chancesOf(votes, epsilon, 1);
  bars(stage.svg, Object.keys(VOTES).map((name, i) => ({ name: `${name}: ${votes[i]}`, value: chances[i], text: percent(chances[i], 1) })), { of: Math.max(...chances) });
  return (
    `Of ${4 * times} votes the winner is expected to have ${mean(chances, votes).toFixed(1)}; the most are ${Math.max(...votes)}. ` +
    `Except once in ${1 / UNLUCKY} times it has at most ${furthest(votes.length, epsilon).toFixed(1)} fewer. How many votes anybody got is not told.`
  );
}

// The name of rank r has about 1/r as many bearers as the first, as in real towns.
const SHARES = Array.from({ length: NAMES }, (_, i) => 1 / (i + 1));
const ALL = SHARES.reduce((sum, share) => sum + share, 0);

function name(epsilon, times) {
  const bearers = SHARES.map((share) => Math.round((share / ALL) * 4 * times));
  const chances = chancesOf(bearers, epsilon, 1);
  const found = RANKS.map(([low, high]) => ({
    name: low === high ? `${low}.` : `${low}.–${high}.`,
    value: chances.slice(low - 1, high).reduce((sum, chance) => sum + chance, 0),
  }));
  bars(stage.svg, found.map((each) => ({ ...each, text: percent(each.value, 1) })), { of: Math.max(...found.map((each) => each.value)) });
  return (
    `Bars: the rank of the name that is chosen, among ${4 * times} people. It has ${mean(chances, bearers).toFixed(1)} bearers on average, the most common one ${bearers[0]}. ` +
    `Except once in ${1 / UNLUCKY} times it has at most ${furthest(NAMES, epsilon).toFixed(1)} fewer; among ten candidates that would be ${furthest(10, epsilon).toFixed(1)}.`
  );
}

stage.begin(() => stage.say([price, vote, name][which()](size(), Math.round(crowd()))));
