// What a device keeps of a survey: how many have answered it here, and reports that are still to be sent.
// A report was made by chance before it is written down. No answer, no coins, no secret, no name.
import { hex } from "./bytes.js";

const PREFIX = "discreet survey ";
const EARLIER_SECRET = `${PREFIX}secret`;
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
  if (Array.isArray(found.pending)) return { done: found.done, pending: found.pending };
  if (found.pending) return { done: 0, pending: [found.pending] };
  return { done: Object.keys(found.told ?? {}).length ? 1 : 0, pending: [] };
}
