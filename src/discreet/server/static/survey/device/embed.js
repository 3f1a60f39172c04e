// A survey inside a page or program of your own: fetch the document, see what would leave, send it.
// The one request besides the document's carries the donation's bytes, and nothing else.
import { Device } from "./device.js";
import { checkPromise } from "./promise.js";
import { readSurvey } from "./survey.js";

export class NotTaken extends Error {}

// `address`: where the survey lies, such as /api/v1/surveys/smoking. `storage`: localStorage, or anything
// with its getItem, setItem and removeItem: it holds what is still to be sent, and that somebody has answered.
export async function openSurvey(address, { storage = globalThis.localStorage, fetch = globalThis.fetch } = {}) {
  const found = await fetch(`${address}/document`, { credentials: "omit", referrerPolicy: "no-referrer" });
  if (!found.ok) throw new NotTaken(`There is no survey here (${found.status}).`);
  return new EmbeddedSurvey(address, await surveyOf(await found.text()), new Device(storage), fetch);
}

// A survey that tells more than it promises is never answered.
async function surveyOf(text) {
  const survey = await readSurvey(text);
  checkPromise(survey);
  return survey;
}

class EmbeddedSurvey {
  #address;
  #device;
  #fetch;
  #answering = null;
  #mine; // what `withdraw` takes back: what was given here, before that what was pending when this began

  constructor(address, survey, device, fetch) {
    this.survey = survey;
    this.#address = address;
    this.#device = device;
    this.#fetch = fetch;
    this.#mine = device.allPending(survey);
    if (!this.answered) this.someoneElse();
  }

  // How many have answered here. If there are any, ask who is there: only `someoneElse` may answer.
  get answered() {
    return this.#device.answered(this.survey);
  }

  // Somebody who has not answered yet begins, with coins of their own.
  someoneElse() {
    this.#answering = this.#device.answering(this.survey);
  }

  // What would leave for these answers ({question: text}), or null: nothing is answered, or it was answered here.
  async preview(answers) {
    return (await this.#answering?.preview(answers)) ?? null;
  }

  // Send exactly what `preview` showed. If the network fails this throws, and the bytes stay pending: call
  // `sendPending` later, they are counted once.
  async send(answers, shown) {
    const given = await this.#answering?.give(answers, shown.bytes);
    this.#answering = null;
    if (given) this.#mine = [given.bytes];
    return given ? this.sendPending() : false;
  }

  // Send what is still to be sent, if anything is; true once the collector has it.
  async sendPending() {
    const bytes = this.#device.pending(this.survey);
    const sending = bytes && (await this.#device.beginIfPending(this.survey, bytes, () => this.#post(bytes)));
    if (!sending) return false;
    const answer = await sending.begun;
    if (answer.status >= 500 || answer.status === 429) throw new NotTaken(`Try again later (${answer.status}).`);
    await this.#device.finish(this.survey, bytes);
    if (!answer.ok) throw new NotTaken(`The collector refused it (${answer.status}).`);
    return true;
  }

  #post(bytes) {
    const answer = this.#fetch(`${this.#address}/reports`, {
      method: "POST",
      body: bytes,
      headers: { "Content-Type": "application/cbor", Accept: "application/json" },
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
    answer.catch(() => undefined); // it is looked at a moment later, when the lock is given back
    return answer;
  }

  // Do not send after all what was given here, or was pending when the survey was opened. It may have left, so
  // it counts as answered. False where nothing of it was still to be sent.
  withdraw() {
    return this.#device.withdraw(this.survey, ...this.#mine);
  }

  // Keep nothing on this device: whoever answers next counts as somebody new.
  async forget() {
    await this.#device.forget(this.survey);
    this.someoneElse();
  }
}
