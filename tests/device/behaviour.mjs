// Reads {module, documents} on standard input; prints what the device does at its limits, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { module, documents, lies } = JSON.parse(readFileSync(0, "utf8"));
const { BadAnswer, BrokenPromise, Changed, Device, checkPromise, readSurvey } = await import(
  pathToFileURL(`${module}/index.js`)
);
const { hex } = await import(pathToFileURL(`${module}/bytes.js`));

function storage() {
  const kept = new Map();
  return {
    kept,
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, text) => kept.set(name, text),
    removeItem: (name) => kept.delete(name),
  };
}

const survey = await readSurvey(documents.changes);
const shown = (donation) => (donation ? { id: hex(donation.id), reports: donation.reports, cbor: hex(donation.bytes) } : null);

async function limits() {
  const store = storage();
  const device = new Device(store);
  const told = [];
  // Three a day: yes, no (the one change that is allowed), then a third value is told as the last one.
  for (const answer of ["a", "b", "c", "a"]) told.push(shown(await device.donate(survey, { letter: answer }, 20000)));
  const tomorrow = shown(await device.donate(survey, { letter: "a" }, 20001));
  return { told, tomorrow, secret: store.kept.get("discreet survey secret") };
}

async function previewWritesNothing() {
  const store = storage();
  const device = new Device(store);
  await device.preview(survey, { letter: "a" }, 20000);
  const names = [...store.kept.keys()];
  const mayGive = device.mayGive(survey, 20000);
  return { names, mayGive, pending: device.pending(survey) };
}

async function withdrawn() {
  const device = new Device(storage());
  const first = await device.donate(survey, { letter: "a" }, 20000);
  const pending = hex(device.pending(survey)) === hex(first.bytes);
  await device.withdraw(survey);
  const second = await device.donate(survey, { letter: "b" }, 20000);
  await device.settle(survey);
  return { pending, sameId: hex(first.id) === hex(second.id), left: device.pending(survey) };
}

async function changed() {
  const device = new Device(storage());
  const seen = await device.preview(survey, { letter: "a" }, 20000);
  await device.donate(survey, { letter: "b" }, 20000);
  try {
    await device.donate(survey, { letter: "a" }, 20000, seen.bytes);
    return false;
  } catch (error) {
    return error instanceof Changed;
  }
}

async function refused(answers) {
  const kinds = await readSurvey(documents.kinds);
  const found = [];
  for (const [question, answer] of answers) {
    try {
      await new Device(storage()).preview(kinds, { [question]: answer }, 20000);
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
    limits: await limits(),
    preview: await previewWritesNothing(),
    withdrawn: await withdrawn(),
    changed: await changed(),
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
  }),
);
