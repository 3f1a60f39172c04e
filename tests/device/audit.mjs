// Reads {module, document, question, answers, times, broken} on standard input; prints how often each
// report comes out for each answer. Every report is made by a device of its own, with fresh coins.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { module, document, answers, times, broken } = JSON.parse(readFileSync(0, "utf8"));
const { Device, readSurvey } = await import(pathToFileURL(`${module}/index.js`));
const { hex } = await import(pathToFileURL(`${module}/bytes.js`));

const survey = await readSurvey(document);
// The broken twin believes a bit less in its coins than it claims.
if (broken) survey.questions[0].settings.keep += broken;
const name = survey.questions[0].name;
const AT_ONCE = 64;

function storage() {
  const kept = new Map();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, text) => kept.set(key, text),
    removeItem: (key) => kept.delete(key),
  };
}

async function counted(answer) {
  const counts = new Map();
  for (let done = 0; done < times; done += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, times - done) }, () =>
      new Device(storage()).answering(survey).preview({ [name]: answer }),
    );
    for (const { reports } of await Promise.all(some)) {
      const key = reports[0] instanceof Uint8Array ? hex(reports[0]) : String(reports[0]);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return Object.fromEntries(counts);
}

const found = [];
for (const answer of answers) found.push(await counted(answer));
console.log(JSON.stringify(found));
