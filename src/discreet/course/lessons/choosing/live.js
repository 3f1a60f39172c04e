// The auction: every price has a chance that grows with what it earns.
import { Stage } from "/static/course/kit.js";
import { drawn } from "/static/dom.js";
import { percent } from "/static/words.js";

const BIDS = [1, 1, 1, 3.01];
const TOP = 4;
const PRICES = Array.from({ length: 41 }, (_, i) => Number((i / 10).toFixed(2))).concat(3.01).sort((a, b) => a - b);

const stage = new Stage("", { caption: "Chance of each price (bars) and what it would earn (line). Bids: 1.00, 1.00, 1.00 and 3.01, as often as you say." });
const size = stage.slider("epsilon", { low: 0.1, high: 20, value: 2, ratio: true });
const crowd = stage.slider("bidders of each kind", { low: 1, high: 100, value: 1, ratio: true, say: (n) => String(Math.round(n)) });

const earns = (price, times) => price * times * BIDS.filter((bid) => bid >= price).length;
const x = (price) => 20 + (price / TOP) * 600;

stage.begin(() => {
  const [epsilon, times] = [size(), Math.round(crowd())];
  const revenue = PRICES.map((price) => earns(price, times));
  const best = Math.max(...revenue);
  // One bid moves any revenue by at most the highest price.
  const weights = revenue.map((u) => Math.exp((epsilon * (u - best)) / (2 * TOP)));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const chances = weights.map((weight) => weight / all);
  const tall = Math.max(...chances);
  const base = 210;
  stage.svg.replaceChildren(
    ...PRICES.map((price, i) => drawn("rect", { class: "bar", x: x(price) - 5, width: 10, y: base - (170 * chances[i]) / tall, height: (170 * chances[i]) / tall })),
    drawn("polyline", { class: "without", points: PRICES.map((price, i) => `${x(price)},${base - (180 * revenue[i]) / best}`).join(" ") }),
    drawn("line", { class: "axis", x1: 0, x2: 640, y1: base, y2: base }),
    ...[0, 1, 2, 3, 4].map((price) => drawn("text", { x: x(price), y: base + 24, "text-anchor": "middle" }, price.toFixed(2))),
  );
  const expected = chances.reduce((sum, chance, i) => sum + chance * revenue[i], 0);
  const nothing = chances.filter((_, i) => revenue[i] === 0).reduce((sum, chance) => sum + chance, 0);
  stage.say(
    `On average the chosen price earns ${expected.toFixed(2)} of ${best.toFixed(2)}: ${percent(expected / best)}. ` +
      `With ${percent(nothing, 1)} it earns nothing. More bidders help as much as more epsilon: the gaps grow.`,
  );
});
