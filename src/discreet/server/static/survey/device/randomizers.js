// Every randomizer: a report from a value and draws, in the order that docs/survey-reports.md fixes.
// Draws are made whether their outcome is needed or not.
import { bigEndian, joined } from "./bytes.js";
import { HALF, WORD } from "./draws.js";
import { digits, indexOfPoint, number, point } from "./field.js";

// value: an option's number, a number, or for open questions a function from a row (and, of a prefix
// tree, a level) to the bucket of the word (or of its prefix).
export function report(question, value, draws) {
  const randomizer = RANDOMIZERS[question.mechanism];
  if (!randomizer) throw new Error("This page does not know how to randomise a question.");
  if (["two", "options"].includes(randomizer.over)) checkCode(value, question.settings.codes);
  return randomizer.tell(question.settings, value, draws, question);
}

// One line each: over which answers it works, and how a value is told.
const RANDOMIZERS = {
  warner: { over: "two", tell: kary },
  "k-ary": { over: "options", tell: kary },
  unary: { over: "options", tell: unary },
  "local-hash": { over: "options", tell: localHash },
  projective: { over: "options", tell: projective },
  "count-mean-sketch": { over: "words", tell: countMeanSketch },
  "hadamard-sketch": { over: "words", tell: hadamardSketch },
  "prefix-tree": { over: "words", tell: prefixTree },
  rappor: { over: "options", tell: rappor },
  "rappor-sketch": { over: "words", tell: rapporSketch },
  duchi: { over: "numbers", tell: (settings, value, draws, question) => bit(settings, position(question, value, draws), draws) },
  piecewise: { over: "numbers", tell: (settings, value, draws, question) => near(settings, position(question, value, draws), draws) },
  hybrid: { over: "numbers", tell: hybrid },
};

export const MECHANISMS = Object.keys(RANDOMIZERS);
export const answersOf = (mechanism) => RANDOMIZERS[mechanism].over;

// Anything but the number of an option would be told as it is.
function checkCode(value, codes) {
  if (!Number.isInteger(value) || value < 0 || value >= codes) throw new RangeError("No option has this number.");
}

function kary({ codes, keep }, code, draws) {
  const truth = draws.coin(keep);
  const lie = draws.below(codes - 1);
  return truth ? code : other(lie, code);
}

// One of the other values, uniformly, from a uniform number that is smaller by one.
const other = (lie, own) => (lie >= own ? lie + 1 : lie);

function unary({ codes, lie }, code, draws) {
  return packed(codes, (place) => draws.coin(place === code ? HALF : lie));
}

function localHash({ prime, digits: length, keep }, code, draws) {
  const map = Array.from({ length }, () => draws.below(prime));
  const written = digits(code, prime, length);
  const hashed = map.reduce((sum, factor, place) => sum + factor * written[place], 0) % prime;
  const truth = draws.coin(keep);
  const lie = draws.below(prime - 1);
  return number([...map, truth ? hashed : other(lie, hashed)], prime);
}

function projective({ prime, dimension, inside }, code, draws) {
  const answer = point(code, prime, dimension);
  const pivot = answer.indexOf(1);
  const onPlane = draws.coin(inside);
  const offset = 1 + draws.below(prime - 1);
  for (;;) {
    const told = answer.map((_, place) => (place === pivot ? 0 : draws.below(prime)));
    const sum = told.reduce((total, each, place) => total + each * answer[place], 0);
    told[pivot] = ((((onPlane ? 0 : offset) - sum) % prime) + prime) % prime;
    if (told.some((digit) => digit !== 0)) return indexOfPoint(told, prime);
  }
}

function countMeanSketch({ rows, buckets, lie }, bucketIn, draws) {
  const row = draws.below(rows);
  const own = bucketIn(row);
  return joined(bigEndian(row, 2), packed(buckets, (place) => (place === own) !== draws.coin(lie)));
}

function hadamardSketch({ rows, buckets, lie }, bucketIn, draws) {
  const row = draws.below(rows);
  const column = draws.below(buckets);
  const even = evenOnes(column & bucketIn(row));
  const turned = draws.coin(lie);
  return (row * buckets + column) * 2 + (even !== turned ? 1 : 0);
}

function prefixTree(settings, bucketIn, draws) {
  const level = draws.below(settings.levels);
  const told = hadamardSketch(settings, (row) => bucketIn(row, level), draws);
  return level * 2 * settings.rows * settings.buckets + told;
}

function rappor(settings, code, draws) {
  const kept = Array.from({ length: settings.codes }, (_, place) => (place === code) !== draws.coin(settings.lie));
  return blurred(settings, kept, draws);
}

function rapporSketch(settings, bucketIn, draws) {
  const row = draws.below(settings.rows);
  const own = bucketIn(row);
  const kept = Array.from({ length: settings.buckets }, (_, place) => (place === own) !== draws.coin(settings.lie));
  return joined(bigEndian(row, 2), blurred(settings, kept, draws));
}

// The instantaneous step: it sees bits that are randomised already, never the answer.
const blurred = ({ quiet, loud }, kept, draws) =>
  packed(kept.length, (place) => draws.coin(kept[place] ? loud : quiet));

function evenOnes(bits) {
  let even = true;
  for (let left = bits; left; left &= left - 1) even = !even;
  return even;
}

// The step below a number or the step above it, by one coin, so that the mean is kept.
function position({ lower, upper, settings }, value, draws) {
  const held = Math.min(Math.max(value, lower), upper);
  const scaled = ((held - lower) / (upper - lower)) * settings.steps;
  const below = Math.floor(scaled);
  return below + (draws.coin(Math.floor((scaled - below) * WORD)) ? 1 : 0);
}

const bit = ({ base, rise }, step, draws) => (draws.coin(base + step * rise) ? 1 : 0);

function near({ steps, window, keep }, step, draws) {
  const inside = draws.coin(keep);
  const within = draws.below(window);
  const far = draws.below(steps);
  return inside ? step + within : far + (far >= step ? window : 0);
}

function hybrid(settings, value, draws, question) {
  const piecewise = draws.coin(settings.share);
  const step = position(question, value, draws);
  if (piecewise) return near(settings, step, draws);
  return settings.steps + settings.window + bit(settings, step, draws);
}

// Bits eight to a byte, the first one in the highest place, zeros at the end.
function packed(count, bitAt) {
  const found = new Uint8Array(Math.ceil(count / 8));
  for (let place = 0; place < count; place += 1) {
    if (bitAt(place)) found[place >> 3] |= 0x80 >> (place & 7);
  }
  return found;
}
