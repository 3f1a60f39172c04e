// Memoised randomness: bytes that depend on the device's secret and on what is answered, on nothing
// else. HMAC-SHA-256 by the browser's own WebCrypto, the secret by crypto.getRandomValues.
import { bigEndian, joined, utf8 } from "./bytes.js";

export const SECRET_BYTES = 32;
const BLOCK = 32;
const ANSWER = utf8("discreet survey answer\0");
const MOMENT = utf8("discreet survey moment\0");
const REPORT = utf8("discreet survey report\0");

export const newSecret = () => crypto.getRandomValues(new Uint8Array(SECRET_BYTES));

export async function keyOf(secret) {
  if (secret.length !== SECRET_BYTES) throw new Error("A device's secret has 32 bytes.");
  return crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

// The first `blocks` blocks of the bytes that randomise one answer to one question.
export const answerBytes = (key, surveyId, question, value, blocks) =>
  stream(key, joined(ANSWER, surveyId, bigEndian(question, 2), bigEndian(value.length, 4), value), blocks);

// The same for one donation alone: the slot-th one of a day.
export function momentBytes(key, surveyId, question, value, { day, slot }, blocks) {
  const named = joined(MOMENT, surveyId, bigEndian(question, 2), bigEndian(value.length, 4), value);
  return stream(key, joined(named, bigEndian(day, 4), bigEndian(slot, 2)), blocks);
}

async function stream(key, start, blocks) {
  const made = Array.from({ length: blocks }, (_, i) => hmac(key, joined(start, bigEndian(i, 4))));
  return joined(...(await Promise.all(made)));
}

export const blocksFor = (words) => Math.ceil((words * 4) / BLOCK);

// The one-use id of the slot-th donation of a day (days since 1970-01-01, UTC).
export async function reportId(key, surveyId, day, slot) {
  const message = joined(REPORT, surveyId, bigEndian(day, 4), bigEndian(slot, 2));
  return (await hmac(key, message)).slice(0, 16);
}

async function hmac(key, message) {
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
}

export async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
