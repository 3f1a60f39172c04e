// A respondent's device: the raw answer stays here, only donations leave. It says the same thing twice,
// and falls silent at its limits.
import { base64url, fromHex, hex } from "./bytes.js";
import { encoded } from "./cbor.js";
import { Draws, EndOfBytes } from "./draws.js";
import { Memory, tellable } from "./memory.js";
import { FRESH, report } from "./randomizers.js";
import { answerBytes, blocksFor, keyOf, momentBytes, reportId } from "./secret.js";
import { valueOf } from "./survey.js";

const VERSION = 1;
const SPARE_BLOCKS = 1;

// What would leave is no longer what was shown: another tab told something, or the day ended.
export class Changed extends Error {}

export const today = () => Math.floor(Date.now() / 86_400_000);

// Only one tab at a time decides what is told; otherwise two could tell two answers for one. A page asks
// for locks before it begins; elsewhere a device is alone anyway.
const alone = (work) =>
  globalThis.navigator?.locks ? navigator.locks.request("discreet survey", work) : work();

export class Device {
  constructor(storage) {
    this.memory = new Memory(storage);
  }

  // What would leave now, or null past the day's limit or when nothing is answered. Writes nothing.
  async preview(survey, answers, day = today()) {
    return (await this.#prepared(survey, answers, day))?.donation ?? null;
  }

  // What may leave now; it is written down as told, and as pending, before it is returned. Where `shown`
  // are the bytes of a preview, nothing else leaves.
  donate(survey, answers, day = today(), shown = null) {
    return alone(async () => {
      const found = await this.#prepared(survey, answers, day);
      if (!found) return null;
      if (shown && hex(shown) !== hex(found.donation.bytes)) throw new Changed();
      this.memory.keep(survey, { ...found.kept, pending: hex(found.donation.bytes) });
      return found.donation;
    });
  }

  pending(survey) {
    const { pending } = this.memory.of(survey);
    return pending ? fromHex(pending) : null;
  }

  // It has arrived, or will never be wanted: forget what was pending.
  settle(survey) {
    return alone(() => this.memory.keep(survey, { ...this.memory.of(survey), pending: null }));
  }

  // Not to be sent after all. Its place in the day is free again under the same one-use id, so that a
  // collector counts one of both at most; what was told stays told, since it may have left already.
  withdraw(survey) {
    return alone(() => {
      const kept = this.memory.of(survey);
      if (!kept.pending) return;
      this.memory.keep(survey, { ...kept, pending: null, given: Math.max(0, kept.given - 1) });
    });
  }

  mayGive(survey, day = today()) {
    const kept = this.memory.of(survey);
    return (kept.day === day ? kept.given : 0) < survey.donations_per_day;
  }

  async #prepared(survey, answers, day) {
    const kept = this.memory.of(survey);
    const given = kept.day === day ? kept.given : 0;
    const wanted = await Promise.all(survey.questions.map((each, i) => valueOf(survey, i, answers[each.name])));
    if (given >= survey.donations_per_day || wanted.every((value) => value === null)) return null;
    const key = await keyOf(this.memory.secret());
    const moment = { day, slot: given };
    const told = { ...kept.told };
    const repeats = new Set(); // questions that are told an earlier answer again
    const reports = await Promise.all(
      wanted.map(async (value, index) => {
        if (value === null) return null;
        const allowed = tellable(told[index] ?? [], value.told, survey.changes);
        told[index] = allowed.told;
        if (allowed.value === value.told) return memoised(key, survey, index, value, moment);
        repeats.add(index);
        return memoised(key, survey, index, await again(survey, index, allowed.value), moment);
      }),
    );
    const id = await reportId(key, survey.id, day, given);
    const bytes = encoded([VERSION, survey.id, id, reports]);
    return { donation: { id, reports, bytes, repeats }, kept: { ...kept, told, day, given: given + 1 } };
  }
}

// A value that was told before, as `valueOf` gave it.
function again(survey, index, told) {
  const { kind, options } = survey.questions[index];
  return valueOf(survey, index, kind === "open" || kind === "number" ? String(told) : options[told]);
}

// The report of one value; when the bytes at hand end, more of the same streams are made. `moment` is the
// donation's day and slot: only what is blurred anew each time depends on it.
export async function memoised(key, survey, index, value, moment) {
  const question = survey.questions[index];
  const fresh = FRESH.includes(question.mechanism);
  let blocks = blocksFor(wordsOf(question)) + SPARE_BLOCKS;
  for (;;) {
    const bytes = await answerBytes(key, survey.id, index, value.bytes, blocks);
    const now = fresh ? await momentBytes(key, survey.id, index, value.bytes, moment, blocks) : null;
    try {
      return report(question, value.encode, new Draws(bytes, now));
    } catch (error) {
      if (!(error instanceof EndOfBytes)) throw error;
      blocks *= 2;
    }
  }
}

// About how many words a mechanism draws.
function wordsOf({ mechanism, settings }) {
  if (mechanism === "unary" || mechanism === "rappor") return settings.codes;
  if (mechanism === "count-mean-sketch" || mechanism === "rappor-sketch") return settings.buckets + 1;
  return 4 + (settings.dimension ?? settings.digits ?? 0);
}

// The JSON twin of a donation.
export function twin(survey, donation) {
  const reports = donation.reports.map((each) => (each instanceof Uint8Array ? base64url(each) : each));
  return { version: VERSION, survey: hex(survey.id), id: hex(donation.id), reports };
}
