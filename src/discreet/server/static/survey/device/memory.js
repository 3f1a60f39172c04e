// What a device keeps: its secret, and for each survey the different values told, the day, how many
// donations were made in it, and one that is still to be sent. Written before anything leaves.
import { fromHex, hex } from "./bytes.js";
import { newSecret } from "./secret.js";

const SECRET = "discreet survey secret";
const EMPTY = { told: {}, day: -1, given: 0, pending: null };

export class Memory {
  // `storage` is localStorage, or anything with its getItem, setItem and removeItem.
  constructor(storage) {
    this.storage = storage;
  }

  // The secret of this device; made once, by crypto.getRandomValues, when it is first needed.
  secret() {
    const kept = this.storage.getItem(SECRET);
    if (kept && /^[0-9a-f]{64}$/.test(kept)) return fromHex(kept);
    const made = newSecret();
    this.storage.setItem(SECRET, hex(made));
    return made;
  }

  of(survey) {
    const kept = this.storage.getItem(name(survey));
    return kept ? { ...EMPTY, ...JSON.parse(kept) } : structuredClone(EMPTY);
  }

  keep(survey, kept) {
    this.storage.setItem(name(survey), JSON.stringify(kept));
  }
}

const name = (survey) => `discreet survey ${hex(survey.id)}`;

// The value if it may be told, else the last one that was: exactly as if nothing had changed.
export function tellable(told, value, changes) {
  if (told.includes(value)) return { value, told };
  if (told.length > changes) return { value: told[told.length - 1], told };
  return { value, told: [...told, value] };
}
