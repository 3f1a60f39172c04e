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
// alone anyway. What throws at once gives the lock back everywhere only as a promise: Node 26 keeps it otherwise.
const alone = (work) =>
  globalThis.navigator?.locks ? navigator.locks.request("discreet survey", async () => work()) : work();

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

  // All reports that are still to be sent.
  allPending(survey) {
    return this.memory.of(survey).pending.map(fromHex);
  }

  // Whether this very report is still to be sent: not arrived, withdrawn or forgotten, here or in another tab.
  isPending(survey, bytes) {
    return this.memory.of(survey).pending.includes(hex(bytes));
  }

  // Begin to send this very report if it is still to be sent: { begun: what `start` returns }, or else null.
  // No other tab withdraws or forgets it between the look and the beginning.
  beginIfPending(survey, bytes, start) {
    return alone(() => (this.isPending(survey, bytes) ? { begun: start() } : null));
  }

  // Do not send these reports after all. Whether any of them was still to be sent.
  withdraw(survey, ...reports) {
    return this.#drop(survey, reports);
  }

  // A report has arrived, or will never be wanted. False where it was withdrawn or forgotten meanwhile.
  finish(survey, bytes) {
    return this.#drop(survey, [bytes]);
  }

  // Each counts as given, since it may have left. Where none is pending nothing is written: it may be forgotten.
  #drop(survey, reports) {
    return alone(() => {
      const { done, pending } = this.memory.of(survey);
      const dropped = reports.map(hex);
      const left = pending.filter((each) => !dropped.includes(each));
      const count = pending.length - left.length;
      if (count) this.memory.keep(survey, { done: done + count, pending: left });
      return count > 0;
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
