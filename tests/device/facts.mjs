// Reads {module, documents} on standard input; prints what respondents of each survey are told, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { module, documents } = JSON.parse(readFileSync(0, "utf8"));
const { checkPromise, factsOf, readSurvey } = await import(pathToFileURL(`${module}/index.js`));

const share = (pair) => (pair ? pair.map(String) : null);
const found = [];
for (const document of documents) {
  const survey = await readSurvey(document);
  checkPromise(survey);
  const { protection, questions } = factsOf(survey);
  found.push({ protection, questions: questions.map(({ truth, sure }) => [share(truth), share(sure)]) });
}
console.log(JSON.stringify(found));
