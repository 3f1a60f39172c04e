// Numbers and amounts in the words of the house.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const two = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const money = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 20 });
const six = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

export function shown(value) {
  if (value === null || value === undefined) return "missing";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return whole.format(value);
  return Math.abs(value) >= 1000 ? two.format(value) : six.format(value);
}

// The size of noise, rounded up: it may be said too large, never too small.
export function noise(value) {
  if (value === null || value === undefined) return "unknown";
  if (!(value > 0)) return six.format(value);
  return value > 99 ? whole.format(Math.ceil(value - 1e-9 * value)) : six.format(Number(twoDigitsUp(value).join("e")));
}

// The least number of two digits that is not below a positive one, as tenths and exponent: [38, -10].
function twoDigitsUp(value) {
  const [mantissa, power] = value.toExponential(1).split("e");
  let [tenths, exponent] = [Math.round(Number(mantissa) * 10), Number(power) - 1];
  if (Number(`${tenths}e${exponent}`) < value * (1 - 1e-9)) tenths += 1;
  return tenths === 100 ? [10, exponent + 1] : [tenths, exponent];
}

// What is promised while somebody types: with the largest delta that a price can have.
export function promiseTyped(epsilon, place) {
  return promiseWords(epsilon, place.dataset.neighbours, Number(place.dataset.delta) || 0);
}

// How many digits after the point mean anything, next to noise of these sizes.
export function digitsFor(noises) {
  const sizes = noises.filter((size) => size > 0 && Number.isFinite(size));
  if (!sizes.length) return 4;
  return Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(Math.min(...sizes)))));
}

export function fixed(value, digits) {
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// Amounts of budget, with all their digits: what was asked is what is shown.
export function amount(value) {
  const short = Number(value.toPrecision(12));
  return short !== 0 && Math.abs(short) < 0.000001 ? short.toExponential() : money.format(short);
}

// What a thing uses and leaves; `over` is said instead where too little is left.
export function priceWords({ cost, budget }, over = "") {
  const left = budget.limit.epsilon - budget.after.epsilon;
  const leaves = left > -1e-12 ? `, leaves ${amount(Math.max(0, left))}` : over;
  return `uses ${amount(cost.epsilon)}${leaves}`;
}

// e^epsilon, rounded up: a promise may be too small, never too large.
export function times(epsilon) {
  const factor = Math.exp(epsilon);
  if (factor < 10) return `${(Math.ceil(factor * 100 - 1e-9) / 100).toFixed(2)} times`;
  if (factor < 1e6) return `${whole.format(Math.ceil(factor - 1e-9))} times`;
  return "more than a million times";
}

// What an epsilon promises under these neighbours; under both kinds where it is not known which.
// The same words as one_sentence of account/explain.py, from the same numbers.
const WORLDS = {
  "add-remove": [
    ["compared with you not taking part", 1],
    ["compared with any other values in your row (or rows), if you take part", 2],
  ],
  "replace-one": [["compared with your row (or rows) replaced by any other", 1]],
};

export function promiseWords(epsilon, neighbours = "", delta = 0) {
  const relations = neighbours ? [neighbours] : Object.keys(WORLDS);
  return relations
    .map((relation) => {
      const told = WORLDS[relation].map(([worlds, steps], place) => {
        const but = butFor(steps === 1 ? delta : Math.min(1, delta * (1 + Math.exp(epsilon))));
        return `${worlds}, ${place ? "by" : "anyone's odds change by"} at most ${times(epsilon * steps)}${but}`;
      });
      const words = told.join("; ");
      const under = relations.length > 1 ? `Under ${relation} neighbours, ${words}` : words[0].toUpperCase() + words.slice(1);
      const known = relation === "replace-one" ? " How many people take part is public." : "";
      return `${under} (if what they believe about others does not depend on you).${known}`;
    })
    .join(" ");
}

function butFor(delta) {
  return delta ? `, except with probability about ${chance(delta)}` : "";
}

// A small probability with two digits, rounded up, such as 3.8e-9.
function chance(delta) {
  if (delta >= 1) return "1";
  const [tenths, exponent] = twoDigitsUp(delta);
  return `${tenths % 10 ? (tenths / 10).toFixed(1) : tenths / 10}e${exponent + 1}`;
}

// A share as a percentage, rounded up, never a false 100.
export function atMost(share) {
  const hundred = share * 100;
  if (hundred > 99.99) return "more than 99.99%";
  if (hundred < 0.01) return "less than 0.01%";
  const digits = hundred > 99 || hundred < 1 ? 2 : 0;
  return `${(Math.ceil(hundred * 10 ** digits - 1e-9) / 10 ** digits).toFixed(digits)}%`;
}

// How far a belief of 50% in one of two worlds can rise, with epsilon between them.
export function evenAtMost(epsilon) {
  return 1 / (1 + Math.exp(-epsilon));
}

export function percent(share, digits = 0) {
  return `${(share * 100).toFixed(digits)}%`;
}
