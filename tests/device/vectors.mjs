// Reads {module, vectors} on standard input; prints what the JavaScript device makes of every case.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { module, vectors } = JSON.parse(readFileSync(0, "utf8"));
const { Device, Draws, checkPromise, readSurvey, report, twin, valueOf } = await import(
  pathToFileURL(`${module}/index.js`)
);
const { fromHex, hex } = await import(pathToFileURL(`${module}/bytes.js`));
const shown = (each) => (each instanceof Uint8Array ? hex(each) : each);

// The operating system's coins, as they were recorded.
function recorded(random) {
  const bytes = fromHex(random);
  let used = 0;
  crypto.getRandomValues = (place) => {
    for (let i = 0; i < place.length; i += 1) place[i] = bytes[used + i] ?? 0;
    used += place.length;
    return place;
  };
}

const storage = () => ({ getItem: () => null, setItem: () => undefined, removeItem: () => undefined });

async function one({ document, reports, donations }) {
  const survey = await readSurvey(document);
  checkPromise(survey);
  const found = { id: hex(survey.id), reports: [], donations: [] };
  for (const { question, answer, random } of reports) {
    const value = await valueOf(survey, question, answer);
    const draws = new Draws(fromHex(random));
    const told = report(survey.questions[question], value, draws);
    found.reports.push({ question, answer, random: random.slice(0, 2 * draws.used), report: shown(told) });
  }
  for (const { random, answers } of donations) {
    recorded(random);
    const donation = await new Device(storage()).answering(survey).give(answers);
    found.donations.push({ random, answers, cbor: hex(donation.bytes), json: twin(survey, donation) });
  }
  return { document, ...found };
}

const surveys = [];
for (const survey of vectors.surveys) surveys.push(await one(survey));
console.log(JSON.stringify(surveys));
