// The questions as fields. Nothing typed here is sent, suggested, corrected or remembered by the browser.
import { element } from "../dom.js";
import { filled } from "./consent.js";

const RADIOS = 12;
const PRIVATE = { autocomplete: "off", autocorrect: "off", autocapitalize: "off", spellcheck: "false" };

export function questionField(question, words) {
  const problem = element("div", { class: "problem", role: "alert" });
  const hint = hintOf(question, words);
  const place = element(
    "fieldset",
    { "data-question": question.name },
    element("legend", {}, question.text),
    ...inputs(question, words),
    hint ? element("p", { class: "quiet small" }, hint) : undefined,
    problem,
  );
  return place;
}

function inputs(question, words) {
  if (question.kind === "open" || question.kind === "number") {
    const inputmode = question.kind === "number" ? "decimal" : "text";
    return [element("input", { type: "text", name: question.name, "aria-label": question.text, inputmode, ...PRIVATE })];
  }
  if (question.options.length > RADIOS) return [select(question, words)];
  return [...question.options.map((option) => radio(question, option, option)), radio(question, "", words.no_answer, true)];
}

function radio(question, value, label, checked = false) {
  const input = element("input", { type: "radio", name: question.name, value, checked, autocomplete: "off" });
  return element("label", { class: value === "" ? "option quiet" : "option" }, input, label);
}

function select(question, words) {
  const options = question.options.map((option) => element("option", { value: option }, option));
  const none = element("option", { value: "", selected: true }, words.no_answer);
  return element("select", { name: question.name, "aria-label": question.text, autocomplete: "off" }, none, ...options);
}

function hintOf(question, words) {
  if (question.kind === "number") return filled(words.number_hint, question);
  return question.kind === "open" ? words.open_hint : "";
}

// What is answered so far; a comma in a number is a point.
export function answersIn(form, survey) {
  const data = new FormData(form);
  return Object.fromEntries(
    survey.questions.map(({ name, kind }) => {
      const written = String(data.get(name) ?? "");
      return [name, kind === "number" ? written.replace(",", ".") : written];
    }),
  );
}

export function sayBad(form, survey, error, words) {
  for (const place of form.querySelectorAll(".problem")) place.replaceChildren();
  if (!error) return;
  const question = survey.questions[error.question];
  const place = form.querySelector(`fieldset[data-question="${CSS.escape(question.name)}"] .problem`);
  place.append(element("p", { class: "wrong" }, filled(words.bad[error.reason], question)));
  place.parentElement.querySelector("input, select").focus();
}
