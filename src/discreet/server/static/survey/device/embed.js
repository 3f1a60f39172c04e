// A survey inside a page or program of your own: fetch the document, see what would leave, send it.
// The one request besides the document's carries the donation's bytes, and nothing else.
import { Device, today } from "./device.js";
import { checkPromise } from "./promise.js";
import { readSurvey } from "./survey.js";

export class NotTaken extends Error {}

// `address`: where the survey lies, such as /api/v1/surveys/smoking. `storage`: localStorage, or anything
// with its getItem and setItem that is kept as long as the promise is to hold.
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

  constructor(address, survey, device, fetch) {
    this.survey = survey;
    this.#address = address;
    this.#device = device;
    this.#fetch = fetch;
  }

  // What would leave for these answers ({question: text}), or null: nothing is answered, or enough for today.
  preview(answers, day = today()) {
    return this.#device.preview(this.survey, answers, day);
  }

  // Send exactly what `preview` showed; false where nothing may leave any more today. If the network fails
  // this throws, and the bytes stay pending: call `sendPending` later, they are counted once.
  async send(answers, shown, day = today()) {
    const given = await this.#device.donate(this.survey, answers, day, shown.bytes);
    return given ? this.sendPending() : false;
  }

  // Send what is still to be sent, if anything is; true once the collector has it.
  async sendPending() {
    const bytes = this.#device.pending(this.survey);
    if (!bytes) return false;
    const answer = await this.#fetch(`${this.#address}/reports`, {
      method: "POST",
      body: bytes,
      headers: { "Content-Type": "application/cbor", Accept: "application/json" },
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
    if (answer.status >= 500 || answer.status === 429) throw new NotTaken(`Try again later (${answer.status}).`);
    await this.#device.settle(this.survey);
    if (!answer.ok) throw new NotTaken(`The collector refused it (${answer.status}).`);
    return true;
  }

  // Do not send what is pending after all.
  withdraw() {
    return this.#device.withdraw(this.survey);
  }
}
