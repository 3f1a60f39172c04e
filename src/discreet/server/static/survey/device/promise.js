// What a survey really promises: the greatest ratio of every randomizer, worked out from its settings in
// whole numbers, so that a device need not believe the server. See docs/survey-reports.md.
import { WORD } from "./draws.js";
import { isPrime, pointsBefore } from "./field.js";
import { MECHANISMS, answersOf } from "./randomizers.js";

const SLACK = 1e-9; // of the logarithm in doubles; the ratios themselves are exact
const LARGEST_PRIME = 4093;
const MOST_CELLS = 2 ** 24;

// From here on, in the epsilon of the whole survey, respondents read that it protects little, or hardly.
const LITTLE_FROM = 3;
const HARDLY_FROM = 6;

// Shares are told in tenths of a percent, rounded up: above 999 of 1000 no number below 100% is an upper bound.
const NEARLY_CERTAIN_ABOVE = [999n, 1000n];

// Why a survey is refused; the page has a sentence for each.
export class BrokenPromise extends Error {}

// Which answers a kind of question has. What a number needs is no bound for an option's number.
const KINDS = { "yes-no": ["two", "options"], choice: ["options"], number: ["numbers"], open: ["words"] };

export function checkPromise(survey) {
  if (!Array.isArray(survey.questions) || !survey.questions.length) throw new BrokenPromise("It asks nothing.");
  const share = decimal(survey.question_epsilon);
  const parts = BigInt(survey.questions.length) * BigInt(whole(survey.waves, whole(survey.wave, 1, 1001), 1001));
  if (share.units * parts * decimal(survey.epsilon).scale > decimal(survey.epsilon).units * share.scale) {
    throw new BrokenPromise("The shares of the questions add up to more than the promise.");
  }
  survey.questions.forEach((question) => checkQuestion(question, Number(survey.question_epsilon)));
}

function checkQuestion(question, epsilon) {
  if (!MECHANISMS.includes(question.mechanism)) throw new BrokenPromise("unknown randomizer");
  if (!Object.hasOwn(KINDS, question.kind) || !KINDS[question.kind].includes(answersOf(question.mechanism))) {
    throw new BrokenPromise("a randomizer of another kind of question");
  }
  const [more, less] = RATIOS[question.mechanism](question.settings, question);
  const spread = Math.abs(Math.log(Number(more)) - Math.log(Number(less)));
  if (!(more > 0n && less > 0n && spread <= epsilon * (1 + SLACK) + SLACK)) {
    throw new BrokenPromise("A question tells more than is promised.");
  }
}

// What a respondent is told before answering. `protection`: "some", "little" or "hardly". For each question two
// shares as pairs of whole numbers: `truth`, of its reports that are the answer itself (null where a report is a
// code), and `sure`, how sure of one of two answers anyone can become who thought them equally likely.
// `nearlyCertain`: whether its sentence says what `sure` exceeds instead of what it is at most.
export function factsOf(survey) {
  const epsilon = Number(survey.epsilon);
  const times = BigInt(survey.waves);
  return {
    protection: epsilon >= HARDLY_FROM ? "hardly" : epsilon >= LITTLE_FROM ? "little" : "some",
    questions: survey.questions.map((question) => {
      const [more, less] = ordered(RATIOS[question.mechanism](question.settings, question)).map((each) => each ** times);
      const plain = ["warner", "k-ary"].includes(question.mechanism);
      const sure = [more, more + less];
      return { truth: plain ? [BigInt(question.settings.keep), BigInt(WORD)] : null, sure, nearlyCertain: exceeds(sure, NEARLY_CERTAIN_ABOVE) };
    }),
  };
}

// The greatest ratio of each, as a pair of whole numbers; either may be the larger.
const RATIOS = {
  warner: kary,
  "k-ary": kary,
  unary: ({ codes, lie }, question) => {
    listed(codes, question);
    return flips(lie);
  },
  "local-hash": ({ codes, prime, digits, keep }, question) => {
    listed(codes, question);
    field(prime, digits + 1);
    if (prime ** digits < codes) throw new BrokenPromise("too few maps");
    return [parts(keep) * BigInt(prime - 1), parts(WORD - keep)];
  },
  projective: ({ codes, prime, dimension, inside }, question) => {
    listed(codes, question);
    field(prime, dimension);
    const points = pointsBefore(dimension, prime);
    const plane = pointsBefore(dimension - 1, prime);
    if (points < codes || plane < 1) throw new BrokenPromise("too few points");
    return [parts(inside) * BigInt(points - plane), parts(WORD - inside) * BigInt(plane)];
  },
  "count-mean-sketch": ({ rows, buckets, lie }) => {
    sketch(rows, buckets);
    return flips(lie).map((part) => part * part);
  },
  "hadamard-sketch": ({ rows, buckets, lie }) => {
    sketch(rows, buckets);
    return flips(lie);
  },
  "prefix-tree": ({ levels, rows, buckets, lie }) => {
    whole(levels, 1, 256);
    sketch(rows, buckets);
    return flips(lie);
  },
  // All reports together tell what the permanent bits tell; the blur on top never sees the answer.
  rappor: ({ codes, lie, quiet, loud }, question) => {
    listed(codes, question);
    [quiet, loud].forEach(parts);
    return flips(lie).map((part) => part * part);
  },
  "rappor-sketch": ({ rows, buckets, lie, quiet, loud }) => {
    sketch(rows, buckets);
    [quiet, loud].forEach(parts);
    return flips(lie).map((part) => part * part);
  },
  duchi,
  piecewise,
  hybrid: (settings, question) => {
    whole(settings.share, 0, WORD);
    const [one, two] = [duchi(settings, question), piecewise(settings, question)].map(ordered);
    return one[0] * two[1] > two[0] * one[1] ? one : two;
  },
};

function kary({ codes, keep }, question) {
  listed(codes, question);
  return [parts(keep) * BigInt(codes - 1), parts(WORD - keep)];
}

// One bit that is 1 with probability base .. base + steps rise: the greater of both outcomes' ratios.
function duchi({ steps, base, rise }, question) {
  bounds(question, steps);
  const least = parts(base);
  const most = parts(base + steps * whole(rise, 0, WORD));
  const [rest, left] = [BigInt(WORD) - least, BigInt(WORD) - most];
  return most * left > rest * least ? [most, least] : [rest, left];
}

function piecewise({ steps, window, keep }, question) {
  bounds(question, steps);
  return [parts(keep) * BigInt(steps), parts(WORD - keep) * BigInt(whole(window, 1, MOST_CELLS))];
}

const exceeds = ([part, whole], [limit, all]) => part * all > limit * whole;
const flips = (lie) => [parts(WORD - lie), parts(lie)];
const ordered = ([one, two]) => (one > two ? [one, two] : [two, one]);

// A number of 2^32 parts, none and all of them excluded.
const parts = (count) => BigInt(whole(count, 1, WORD - 1));

function listed(codes, question) {
  if (whole(codes, 2, MOST_CELLS) !== question.options.length) throw new BrokenPromise("options");
}

function field(prime, length) {
  whole(length, 2, 64);
  if (!isPrime(whole(prime, 2, LARGEST_PRIME)) || prime ** length > 2 ** 40) throw new BrokenPromise("prime");
}

function sketch(rows, buckets) {
  for (const size of [rows, buckets]) {
    if (whole(size, 2, 2 ** 14) & (size - 1)) throw new BrokenPromise("no power of two");
  }
}

function bounds({ lower, upper }, steps) {
  const good = Number.isFinite(lower) && Number.isFinite(upper - lower) && lower < upper;
  if (!good || whole(steps, 1, MOST_CELLS) < 1) throw new BrokenPromise("bounds");
}

function whole(value, least, most) {
  if (!Number.isSafeInteger(value) || value < least || value > most) throw new BrokenPromise("settings");
  return value;
}

// A decimal as whole units of 1 / scale.
function decimal(text) {
  const found = /^(\d+)(?:\.(\d+))?$/.exec(text);
  if (!found) throw new BrokenPromise("epsilon");
  const after = found[2] ?? "";
  return { units: BigInt(found[1] + after), scale: 10n ** BigInt(after.length) };
}
