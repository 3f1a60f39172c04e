// Reads {module, documents} on standard input; prints what the device does at its limits, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { module, documents, lies, strangeMemory } = JSON.parse(readFileSync(0, "utf8"));
const { BadAnswer, BrokenPromise, Device, checkPromise, readSurvey } = await import(
  pathToFileURL(`${module}/index.js`)
);
const { hex } = await import(pathToFileURL(`${module}/bytes.js`));

function storage(kept = new Map()) {
  return {
    kept,
    get length() {
      return kept.size;
    },
    key: (place) => [...kept.keys()][place] ?? null,
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, text) => kept.set(name, text),
    removeItem: (name) => kept.delete(name),
  };
}

const survey = await readSurvey(documents.waves);
const NAME = `discreet survey ${hex(survey.id)}`;
const keptIn = (store) => Object.fromEntries(store.kept);
const thrown = async (work) => {
  try {
    await work();
    return null;
  } catch (error) {
    return error.constructor.name;
  }
};

// What a device keeps at each step; and that one person gives once, another again.
async function steps() {
  const store = storage();
  const device = new Device(store);
  const found = {};
  const answering = device.answering(survey);
  const one = await answering.preview({ letter: "a" });
  const two = await answering.preview({ letter: "a" });
  found.twice = hex(one.bytes) === hex(two.bytes);
  found.looked = keptIn(store);
  await answering.give({ letter: "a" }, one.bytes);
  found.given = keptIn(store)[NAME] === JSON.stringify({ done: 0, pending: [hex(one.bytes)] });
  found.again = await thrown(() => answering.give({ letter: "a" }, one.bytes));
  await device.finish(survey, device.pending(survey));
  found.arrived = keptIn(store)[NAME];
  const other = device.answering(survey);
  const shown = await other.preview({ letter: "a" });
  found.otherCoins = hex(shown.id) !== hex(one.id);
  found.notShown = await thrown(() => other.give({ letter: "a" }, one.bytes));
  await other.give({ letter: "a" }, shown.bytes);
  await device.finish(survey, shown.bytes);
  found.both = keptIn(store)[NAME];
  await device.forget();
  found.forgotten = keptIn(store);
  return found;
}

// One tab withdraws, forgets or finishes what another is about to send; and what each writes.
async function takenBack(how) {
  const store = storage();
  const [one, two] = [new Device(store), new Device(store)];
  const { bytes } = await one.answering(survey).give({ letter: "a" });
  const begun = [];
  const begin = () => one.beginIfPending(survey, bytes, () => begun.push("sent"));
  await begin();
  if (how === "forget") await two.forget(survey);
  else await two[how](survey, bytes);
  await begin();
  return { begun, kept: keptIn(store)[NAME] ?? null, late: await one.finish(survey, bytes), then: keptIn(store)[NAME] ?? null };
}

// What was written there by something else is neither sent nor in the way.
function strange(written) {
  const store = storage(new Map([[NAME, written]]));
  const device = new Device(store);
  return [store.kept.get(NAME), device.allPending(survey).length, device.memory.holds];
}

async function twoTabs() {
  const store = storage();
  const [one, two] = [new Device(store).answering(survey), new Device(store).answering(survey)];
  await one.give({ letter: "a" });
  return thrown(() => two.give({ letter: "b" }));
}

// What earlier versions kept, of this survey and of another one; and what is left of it at once.
async function earlier(memory) {
  const other = `discreet survey ${"ab".repeat(16)}`;
  const store = storage(new Map([
    ["discreet survey secret", "5e".repeat(32)],
    [NAME, JSON.stringify(memory)],
    [other, JSON.stringify({ ...memory, pending: null })],
    ["theirs", "stays"],
  ]));
  const device = new Device(store);
  return { kept: keptIn(store), names: { [NAME]: "this", [other]: "other" }, answered: device.answered(survey) };
}

async function refused(answers) {
  const kinds = await readSurvey(documents.kinds);
  const found = [];
  for (const [question, answer] of answers) {
    try {
      await new Device(storage()).answering(kinds).preview({ [question]: answer });
      found.push("taken");
    } catch (error) {
      found.push(error instanceof BadAnswer ? error.reason : String(error));
    }
  }
  return found;
}

async function promises() {
  const found = {};
  for (const [name, document] of Object.entries(lies)) {
    try {
      checkPromise(await readSurvey(document));
      found[name] = "kept";
    } catch (error) {
      found[name] = error instanceof BrokenPromise ? "broken" : String(error);
    }
  }
  return found;
}

// Codes that no option has, told to a device that skipped `checkPromise`.
async function strangeCodes() {
  const { report } = await import(pathToFileURL(`${module}/randomizers.js`));
  const question = survey.questions[0];
  return [48213, -1, 0.5, NaN, "0"].map((value) => {
    try {
      return report(question, value, { coin: () => true, below: () => 0 });
    } catch (error) {
      return error.constructor.name;
    }
  });
}

console.log(
  JSON.stringify({
    steps: await steps(),
    twoTabs: await twoTabs(),
    earlier: [
      await earlier({ told: { 0: [1] }, day: 20000, given: 1, pending: null }),
      await earlier({ told: { 0: [1] }, day: 20000, given: 1, pending: "8401" }),
      await earlier({ told: { 0: [1] }, day: 20000, given: 0, pending: null }),
      await earlier({ told: {}, day: -1, given: 0, pending: null }),
    ],
    refused: await refused([
      ["letter", "z"],
      ["hours", "12.1"],
      ["hours", "NaN"],
      ["hours", "0x10"],
      ["hours", "1e1"],
      ["hours", "-0"],
      ["word", "\ud800"],
      ["word", "x".repeat(257)],
      ["word", "x".repeat(256)],
    ]),
    promises: await promises(),
    strange: await strangeCodes(),
    takenBack: { forget: await takenBack("forget"), withdraw: await takenBack("withdraw"), finish: await takenBack("finish") },
    strangeMemory: strangeMemory.map(strange),
  }),
);
