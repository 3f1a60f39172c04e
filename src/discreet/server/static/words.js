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

export function noise(value) {
  if (value === null || value === undefined) return "unknown";
  return value >= 100 ? whole.format(Math.ceil(value)) : six.format(Number(value.toPrecision(2)));
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

export function oddsSentence(epsilon) {
  return `compared with you not taking part, anyone's odds change by at most ${times(epsilon)}`;
}

export function percent(share, digits = 0) {
  return `${(share * 100).toFixed(digits)}%`;
}
