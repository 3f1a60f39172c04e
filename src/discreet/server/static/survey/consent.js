// What a respondent reads before answering: all of it follows from the survey's own numbers.
import { element } from "../dom.js";
import { factsOf } from "./device/index.js";

export const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

const MOST = 99.9; // of 100: above it no number with one decimal is an upper bound
const written = (number, words) => number.toLocaleString(words.language, { maximumFractionDigits: 1 });

// A share of 100, rounded up to a tenth: a risk may look too large, never too small.
export function shareText([part, whole], words) {
  const tenths = (1000n * part + whole - 1n) / whole;
  return tenths < 1000n ? written(Number(tenths) / 10, words) : filled(words.more_than, { number: written(MOST, words) });
}

export const truthText = (truth, words) => filled(words.truth, { share: shareText(truth, words) });

export function consentText(survey, words) {
  const { protection, questions } = factsOf(survey);
  const [chance, group] = words.consent;
  const told = questions.map((facts) => questionText(facts, words));
  const alike = told.every((each) => each === told[0]);
  const shown = alike ? [element("p", {}, told[0])] : told.map((each, index) => named(survey.questions[index], each));
  return [
    element("p", {}, chance),
    ...shown,
    element("p", { class: `protection ${protection}` }, words.protection[protection]),
    element("p", {}, group),
  ];
}

const named = (question, told) => element("p", { "data-facts": question.name }, element("em", {}, question.text), " ", told);

export function questionText({ truth, sure, nearlyCertain }, words) {
  const said = nearlyCertain
    ? filled(words.nearly_certain, { share: written(MOST, words) })
    : filled(words.sure, { share: shareText(sure, words) });
  if (!truth) return said;
  const same = truth[0] * sure[1] === sure[0] * truth[1];
  return same ? truthText(truth, words) : `${truthText(truth, words)} ${said}`;
}
