// Reads {module, document, answers, times, bare} on standard input; prints how often each report comes out
// for each answer. The module's randomizers alone, on bytes of crypto.getRandomValues: the streams of a
// device are compared byte by byte elsewhere. `bare`: RAPPOR's permanent bits, without the blur over them.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { module, document, answers, times, bare } = JSON.parse(readFileSync(0, "utf8"));
const { Draws, readSurvey, report, valueOf } = await import(pathToFileURL(`${module}/index.js`));
const { hex } = await import(pathToFileURL(`${module}/bytes.js`));
const { WORD } = await import(pathToFileURL(`${module}/draws.js`));

const survey = await readSurvey(document);
const [question] = survey.questions;
if (bare) Object.assign(question.settings, { quiet: 0, loud: WORD });

const POOL = new Uint8Array(65_536);
const ENOUGH = 1024; // bytes: no report of the questions here needs more, short of a wonder
let draws = new Draws(POOL.subarray(POOL.length));

function nextDraws() {
  if (draws.view.byteLength - draws.used < ENOUGH) draws = new Draws(crypto.getRandomValues(POOL));
  return draws;
}

async function counted(answer) {
  const encode = await valueOf(survey, 0, answer);
  const counts = new Map();
  for (let done = 0; done < times; done += 1) {
    const told = report(question, encode, nextDraws());
    const key = told instanceof Uint8Array ? hex(told) : String(told);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

const found = [];
for (const answer of answers) found.push(await counted(answer));
console.log(JSON.stringify(found));
