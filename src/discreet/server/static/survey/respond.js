// The respondent's page: consent, questions, what leaves, and then it is sent, or nothing is.
import { byId, element, whenSent } from "../dom.js";
import { consentText, filled } from "./consent.js";
import { BadAnswer, Changed, Device, checkPromise, readSurvey } from "./device/index.js";
import { isFresh, leavesList } from "./leaves.js";
import { forgetPage, keepPage } from "./offline.js";
import { answersIn, questionField, sayBad } from "./questions.js";
import { CLOSED, SENT, sendUntilAnswered } from "./sending.js";

const place = byId("survey");
const offered = JSON.parse(place.dataset.words); // every language, the browser's own first
let words = offered[0];

const show = (...nodes) => place.replaceChildren(...nodes);
const say = (step, ...sentences) => {
  place.dataset.step = step;
  show(...sentences.filter(Boolean).map((sentence) => element("p", {}, sentence)));
};
const button = (text, click, more = {}) => element("button", { type: "button", click, ...more }, text);
const pair = (...buttons) => element("div", { class: "pair" }, ...buttons);

function storage() {
  try {
    localStorage.setItem("discreet survey", "");
    localStorage.removeItem("discreet survey");
    return localStorage;
  } catch {
    return null;
  }
}

async function start() {
  if (!globalThis.isSecureContext || !crypto.subtle) return say("insecure", words.insecure);
  if (!navigator.locks) return say("old", words.old);
  const kept = storage();
  if (!kept) return say("storage", words.storage);
  const survey = await readSurvey(place.dataset.document);
  try {
    checkPromise(survey);
  } catch {
    return say("broken", words.broken);
  }
  const device = new Device(kept);
  const pending = device.pending(survey);
  if (pending) return send(survey, device, pending);
  if (place.dataset.closed) return say("closed", words.closed);
  if (!device.mayGive(survey)) return say("today", words.today);
  return consent(survey, device);
}

function consent(survey, device) {
  place.dataset.step = "consent";
  const factor = (Math.ceil(Math.exp(Number(survey.epsilon)) * 100 - 1e-9) / 100).toLocaleString(words.language);
  const count = survey.donations_per_day;
  const donations = count === 1 ? words.one_donation : filled(words.donations, { count });
  const keeps = survey.questions.some(isFresh) ? [words.keeps_fresh, ...words.keeps.slice(1)] : words.keeps;
  show(
    ...consentText(survey, words),
    pair(button(words.begin, () => begin(survey, device)), button(words.nothing, () => nothing(survey, device))),
    element("p", { class: "promise" }, filled(words.promise, { factor, epsilon: survey.epsilon })),
    element(
      "details",
      {},
      element("summary", {}, words.keeps_title),
      ...keeps.map((sentence) => element("p", {}, filled(sentence, { donations }))),
    ),
    languages(survey, device),
  );
}

// The other languages. All of them are here already: nothing is asked for.
function languages(survey, device) {
  const choose = (chosen) => {
    words = chosen;
    document.documentElement.lang = words.language;
    consent(survey, device);
    place.querySelector("[lang]").focus();
  };
  const others = offered.filter((each) => each !== words);
  const buttons = others.map((each) => button(each.name, () => choose(each), { class: "plain", lang: each.language }));
  return element("p", { class: "languages" }, ...buttons);
}

function begin(survey, device) {
  keepPage();
  ask(survey, device);
}

function ask(survey, device) {
  place.dataset.step = "questions";
  const problem = element("div", { role: "alert" });
  const form = element(
    "form",
    { novalidate: true, autocomplete: "off" },
    ...survey.questions.map((question) => questionField(question, words)),
    problem,
    pair(
      element("button", {}, words.look),
      button(words.nothing, () => nothing(survey, device)),
    ),
  );
  whenSent(form, async () => {
    problem.replaceChildren();
    try {
      const answers = answersIn(form, survey);
      const donation = await device.preview(survey, answers);
      sayBad(form, survey, null, words);
      if (donation) preview(survey, device, form, answers, donation);
      else if (device.mayGive(survey)) problem.replaceChildren(element("p", { class: "wrong" }, words.empty));
      else say("today", words.today);
    } catch (error) {
      if (!(error instanceof BadAnswer)) throw error;
      sayBad(form, survey, error, words);
    }
  });
  show(form);
}

function preview(survey, device, form, answers, donation) {
  place.dataset.step = "preview";
  const sendIt = async () => {
    place.querySelectorAll("button").forEach((each) => (each.disabled = true));
    try {
      const given = await device.donate(survey, answers, undefined, donation.bytes);
      form.reset();
      if (given) send(survey, device, given.bytes);
      else say("today", words.today);
    } catch (error) {
      if (!(error instanceof Changed)) throw error;
      preview(survey, device, form, answers, await device.preview(survey, answers));
    }
  };
  const back = () => {
    place.dataset.step = "questions";
    show(form);
  };
  show(
    element("h2", {}, words.leaves_title),
    ...leavesList(survey, donation, answers, words),
    pair(button(words.send, sendIt), button(words.nothing, () => nothing(survey, device))),
    button(words.back, back, { class: "plain" }),
  );
}

async function send(survey, device, bytes) {
  const stop = new AbortController();
  const stopped = async () => {
    stop.abort();
    await device.withdraw(survey);
    forgetPage();
    say("nothing", words.not_sent, words.stopped_more);
  };
  say("sending", words.sending);
  const waiting = () => {
    say("waiting", words.waiting);
    place.append(button(words.stop, stopped));
  };
  const found = await sendUntilAnswered(place.dataset.address, bytes, { signal: stop.signal, waiting });
  if (found.outcome === null) return;
  await device.settle(survey);
  forgetPage();
  if (found.outcome === SENT) say("sent", words.sent, words.sent_more);
  else if (found.outcome === CLOSED) say("closed", words.closed);
  else say("refused", filled(words.refused, { reason: found.reason }));
}

function nothing(survey, device) {
  forgetPage();
  say("nothing", words.not_sent, words.not_sent_more);
  place.append(button(words.again, () => consent(survey, device)));
}

start();
