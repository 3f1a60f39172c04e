// Reads {module, vectors} on standard input; prints what the JavaScript device makes of every case.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { module, vectors } = JSON.parse(readFileSync(0, "utf8"));
const { Device, Draws, checkPromise, readSurvey, report, twin, valueOf } = await import(
  pathToFileURL(`${module}/index.js`)
);
const { fromHex, hex } = await import(pathToFileURL(`${module}/bytes.js`));
const { answerBytes, keyOf } = await import(pathToFileURL(`${module}/secret.js`));

const shown = (each) => (each instanceof Uint8Array ? hex(each) : each);

function stored(secret) {
  const kept = new Map([["discreet survey secret", secret]]);
  return { getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => kept.set(name, text) };
}

async function one({ document, reports, donations }) {
  const survey = await readSurvey(document);
  checkPromise(survey);
  const found = { id: hex(survey.id), reports: [], donations: [] };
  for (const { question, answer, random } of reports) {
    const value = await valueOf(survey, question, answer);
    const draws = new Draws(fromHex(random));
    const told = report(survey.questions[question], value.encode, draws);
    found.reports.push({ question, answer, random: random.slice(0, 2 * draws.used), report: shown(told) });
  }
  for (const { secret, day, slot, answers } of donations) {
    const donation = await new Device(stored(secret)).donate(survey, answers, day);
    const value = await valueOf(survey, 0, answers[survey.questions[0].name]);
    const stream = await answerBytes(await keyOf(fromHex(secret)), survey.id, 0, value.bytes, 2);
    const first_stream_bytes = hex(stream);
    found.donations.push({ secret, day, slot, answers, first_stream_bytes, cbor: hex(donation.bytes), json: twin(survey, donation) });
  }
  return { document, ...found };
}

const surveys = [];
for (const survey of vectors.surveys) surveys.push(await one(survey));
console.log(JSON.stringify(surveys));
