// The survey as a device reads it: its id is the hash of the very bytes, and an answer becomes a value.
import { bigEndian, joined, sha256, utf8 } from "./bytes.js";

const ID_BYTES = 16;
const LONGEST_WORD = 256;
const ROWS_A_DIGEST = 16;
const SKETCH = utf8("discreet sketch\0");
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

// An answer that cannot be told; `question` is its place, `reason` a word for the page's own sentences.
export class BadAnswer extends Error {
  constructor(question, reason) {
    super(`The answer to question ${question + 1} cannot be told: ${reason}.`);
    this.question = question;
    this.reason = reason;
  }
}

export async function readSurvey(text) {
  const stated = JSON.parse(text);
  if (![1, 2].includes(stated.version)) throw new Error("This page reads surveys of versions 1 and 2 only.");
  const id = (await sha256(utf8(text))).slice(0, ID_BYTES);
  // Version 1 had changes instead of waves: as many shares of the promise, of which one is used.
  const waves = stated.version === 1 ? { wave: 1, waves: 1 + stated.changes } : {};
  return { ...stated, ...waves, id };
}

// What its randomizer takes; null: not answered.
export async function valueOf(survey, index, answer) {
  const question = survey.questions[index];
  const written = (answer ?? "").replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  if (written === "") return null;
  if (question.kind === "open") return word(question, index, written);
  if (question.kind === "number") return numeric(question, index, written);
  const code = question.options.indexOf(written);
  if (code < 0) throw new BadAnswer(index, "option");
  return code;
}

function numeric(question, index, written) {
  const value = NUMBER.test(written) ? Number(written) + 0 : NaN;
  if (!(value >= question.lower && value <= question.upper)) throw new BadAnswer(index, "range");
  return value;
}

async function word(question, index, written) {
  const told = written.normalize("NFC");
  const bytes = utf8(told);
  if (bytes.length > LONGEST_WORD) throw new BadAnswer(index, "long");
  if (/\p{Surrogate}/u.test(told)) throw new BadAnswer(index, "text");
  return hashes(bytes, question.settings);
}

// The word's buckets; of a prefix tree those of each prefix, with zeros after the word's end.
async function hashes(bytes, settings) {
  if (!settings.levels) return bucketsOf(bytes, settings);
  const prefixes = Array.from({ length: settings.levels }, (_, level) => {
    const prefix = new Uint8Array(level + 1);
    prefix.set(bytes.subarray(0, level + 1));
    return bucketsOf(prefix, settings);
  });
  const found = await Promise.all(prefixes);
  return (row, level) => found[level](row);
}

// The word's bucket in each row; sixteen rows share a digest. All are made, whichever row is drawn.
async function bucketsOf(bytes, { rows, buckets }) {
  const groups = Math.ceil(rows / ROWS_A_DIGEST);
  const made = Array.from({ length: groups }, (_, i) => sha256(joined(SKETCH, bigEndian(i, 2), bytes)));
  const digests = await Promise.all(made);
  return (row) => {
    const digest = digests[Math.floor(row / ROWS_A_DIGEST)];
    const place = 2 * (row % ROWS_A_DIGEST);
    return (digest[place] * 256 + digest[place + 1]) % buckets;
  };
}
