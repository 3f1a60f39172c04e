// A respondent's device: the answer stays here and is not kept, only donations leave. For each wave of a survey
// coins are thrown once, by the operating system; what they make is kept until it has arrived, and no longer.
import { base64url, fromHex, hex } from "./bytes.js";
import { encoded } from "./cbor.js";
import { Draws, newCoins } from "./draws.js";
import { Memory } from "./memory.js";
import { report } from "./randomizers.js";
import { valueOf } from "./survey.js";

const VERSION = 1;
const ID_BYTES = 16;

// What would leave is no longer what was shown, or somebody has answered here meanwhile.
export class Changed extends Error {}

// Only one tab at a time changes what is kept. A page asks for locks before it begins; elsewhere a device is
// alone anyway.
const alone = (work) =>
  globalThis.navigator?.locks ? navigator.locks.request("discreet survey", work) : work();

export class Device {
  constructor(storage) {
    this.memory = new Memory(storage);
  }

  // How many have answered this wave here, with those whose report is still to be sent.
  answered(survey) {
    const { done, pending } = this.memory.of(survey);
    return done + pending.length;
  }

  // Somebody begins to answer: with coins of their own, which are gone when they have sent or left.
  answering(survey) {
    return new Answering(this, survey);
  }

  // The next report that is still to be sent, or null.
  pending(survey) {
    const [first] = this.memory.of(survey).pending;
    return first ? fromHex(first) : null;
  }

  // Do not send the latest report after all: it is that of whoever is here.
  async withdraw(survey) {
    const latest = this.memory.of(survey).pending.at(-1);
    if (latest) await this.finish(survey, fromHex(latest));
  }

  // A report has arrived, or will never be wanted: forget it. It counts as given, since it may have left.
  finish(survey, bytes) {
    return alone(() => {
      const { done, pending } = this.memory.of(survey);
      const left = pending.filter((each) => each !== hex(bytes));
      this.memory.keep(survey, { done: done + pending.length - left.length, pending: left });
    });
  }

  // Keep nothing of any survey of this site: no report that has not arrived, and not that anybody answered.
  forget(...surveys) {
    return alone(() => this.memory.clear(...surveys));
  }
}

class Answering {
  #device;
  #survey;
  #coins = newCoins();
  #before;

  constructor(device, survey) {
    this.#device = device;
    this.#survey = survey;
    this.#before = device.answered(survey);
  }

  // What would leave, or null when nothing is answered. Writes nothing. Looking twice throws no coin twice.
  async preview(answers) {
    const survey = this.#survey;
    const values = await Promise.all(survey.questions.map((each, i) => valueOf(survey, i, answers[each.name])));
    if (values.every((value) => value === null)) return null;
    const draws = new Draws(this.#coins);
    const id = draws.bytes(ID_BYTES).slice();
    const reports = values.map((value, i) => (value === null ? null : report(survey.questions[i], value, draws)));
    return { id, reports, bytes: encoded([VERSION, survey.id, id, reports]) };
  }

  // What may leave; it is written down as pending before it is returned. Where `shown` are the bytes of a
  // preview, nothing else leaves. Once: afterwards, and when somebody answered in another tab, it throws Changed.
  async give(answers, shown = null) {
    const found = await this.preview(answers);
    if (!found) return null;
    if (shown && hex(shown) !== hex(found.bytes)) throw new Changed();
    return alone(() => {
      const { done, pending } = this.#device.memory.of(this.#survey);
      if (done + pending.length !== this.#before) throw new Changed();
      this.#device.memory.keep(this.#survey, { done, pending: [...pending, hex(found.bytes)] });
      return found;
    });
  }
}

// The JSON twin of a donation.
export function twin(survey, donation) {
  const reports = donation.reports.map((each) => (each instanceof Uint8Array ? base64url(each) : each));
  return { version: VERSION, survey: hex(survey.id), id: hex(donation.id), reports };
}
