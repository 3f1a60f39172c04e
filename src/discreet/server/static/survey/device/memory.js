// What a device keeps of a survey: how many have answered it here, and reports that are still to be sent.
// A report was made by chance before it is written down. No answer, no coins, no secret, no name.
import { hex } from "./bytes.js";

const PREFIX = "discreet survey ";
const EARLIER_SECRET = `${PREFIX}secret`;
const HEX = /^([0-9a-f]{2})+$/;
const NOTHING = { done: 0, pending: [] };

export class Memory {
  // `storage` is localStorage, or anything with its getItem, setItem and removeItem.
  constructor(storage) {
    this.storage = storage;
    this.#deleteEarlier();
  }

  of(survey) {
    return read(this.storage.getItem(nameOf(survey)));
  }

  keep(survey, { done, pending }) {
    this.storage.setItem(nameOf(survey), JSON.stringify({ done, pending }));
  }

  // Whether anything is kept of this survey.
  knows(survey) {
    return this.storage.getItem(nameOf(survey)) !== null;
  }

  // Whether anything is kept of any survey of this site.
  get holds() {
    return this.#names().length > 0;
  }

  // All of it, of all surveys of this site; of a storage that cannot name what it keeps, of these.
  clear(...surveys) {
    for (const name of [...this.#names(), ...surveys.map(nameOf)]) this.storage.removeItem(name);
  }

  #names() {
    const { storage } = this;
    const count = typeof storage.key === "function" ? storage.length : 0;
    return Array.from({ length: count }, (_, place) => storage.key(place)).filter((name) => name.startsWith(PREFIX));
  }

  // Earlier versions kept a secret, and answers beside it: both are deleted before anything else is done.
  #deleteEarlier() {
    this.storage.removeItem(EARLIER_SECRET);
    for (const name of this.#names()) {
      const kept = this.storage.getItem(name);
      const now = JSON.stringify(read(kept));
      if (kept !== now) this.storage.setItem(name, now);
    }
  }
}

const nameOf = (survey) => PREFIX + hex(survey.id);

// What was kept, or what remains of the form of earlier versions: that something was told, so that the survey
// is not answered twice, and a report that its respondent had sent off and that has not arrived.
function read(kept) {
  let found = null;
  try {
    found = JSON.parse(kept);
  } catch {
    // not ours: nothing is known
  }
  if (!found || typeof found !== "object") return { ...NOTHING };
  if (Array.isArray(found.pending)) return sound(found.done, found.pending);
  if (found.pending) return sound(0, [found.pending]);
  return { done: Object.keys(found.told ?? {}).length ? 1 : 0, pending: [] };
}

// Where something else was written: what is no report is not sent, and counts as an answer that was given.
function sound(done, written) {
  const pending = written.filter((each) => typeof each === "string" && HEX.test(each));
  const whole = Number.isSafeInteger(done) && done > 0 ? done : 0;
  return { done: whole + written.length - pending.length, pending };
}
