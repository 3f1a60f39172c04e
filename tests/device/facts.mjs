// Reads {module, consent, languages, documents} on standard input; prints what respondents of each survey are
// told, as JSON: the facts, and the sentences about each question in each language.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { module, consent, languages, documents } = JSON.parse(readFileSync(0, "utf8"));
const { checkPromise, factsOf, readSurvey } = await import(pathToFileURL(`${module}/index.js`));
const { questionText } = await import(pathToFileURL(consent));

const share = (pair) => (pair ? pair.map(String) : null);
const found = [];
for (const document of documents) {
  const survey = await readSurvey(document);
  checkPromise(survey);
  const { protection, questions } = factsOf(survey);
  found.push({
    protection,
    questions: questions.map(({ truth, sure, nearlyCertain }) => [share(truth), share(sure), nearlyCertain]),
    sentences: languages.map((words) => questions.map((facts) => questionText(facts, words))),
  });
}
console.log(JSON.stringify(found));
