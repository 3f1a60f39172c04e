// The respondent's page: consent, questions, what leaves, and then it is sent, or nothing is.
import { byId, element, whenSent } from "../dom.js";
import { consentText, filled } from "./consent.js";
import { BadAnswer, Changed, Device, checkPromise, readSurvey } from "./device/index.js";
import { leavesList } from "./leaves.js";
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
  const kept = storage();
  const device = kept && new Device(kept); // first of all: it deletes what earlier versions kept
  if (!globalThis.isSecureContext || !crypto.subtle) return say("insecure", words.insecure);
  if (!navigator.locks) return say("old", words.old);
  if (!device) return say("storage", words.storage);
  const survey = await readSurvey(place.dataset.document);
  try {
    checkPromise(survey);
  } catch {
    return say("broken", words.broken);
  }
  return arrive(survey, device);
}

// Whoever opens the page: what is still to be sent leaves first, then it is asked who is there.
function arrive(survey, device) {
  if (device.pending(survey)) return send(survey, device);
  if (place.dataset.closed) return end(survey, device, "closed", words.closed);
  if (device.answered(survey)) return answered(survey, device);
  return consent(survey, device);
}

function answered(survey, device) {
  say("answered", words.answered, words.answered_who);
  const done = () => end(survey, device, "done", words.done);
  place.append(pair(button(words.answered_me, done), button(words.answered_other, () => consent(survey, device))), forgetting(survey, device));
}

function consent(survey, device) {
  place.dataset.step = "consent";
  const answering = device.answering(survey);
  const factor = (Math.ceil(Math.exp(Number(survey.epsilon)) * 100 - 1e-9) / 100).toLocaleString(words.language);
  show(
    ...consentText(survey, words),
    pair(button(words.begin, () => begin(survey, device, answering)), button(words.nothing, () => nothing(survey, device))),
    survey.waves > 1 ? element("p", { class: "wave" }, filled(words.wave, survey)) : undefined,
    element("p", { class: "promise" }, filled(words.promise, { factor, epsilon: survey.epsilon })),
    element(
      "details",
      {},
      element("summary", {}, words.keeps_title),
      ...words.keeps.map((sentence) => element("p", {}, sentence)),
    ),
    languages(survey, device),
    forgetting(survey, device),
  );
}

// The last words of a visit, and a way to leave no trace of it.
function end(survey, device, step, ...sentences) {
  say(step, ...sentences);
  place.append(forgetting(survey, device));
}

// There where anything is kept; a report that has not arrived goes with it.
function forgetting(survey, device, before = () => undefined) {
  const forget = async () => {
    before();
    await device.forget(survey);
    await forgetPage();
    say("forgotten", words.forgotten, words.forgotten_more);
  };
  return device.memory.holds ? button(words.forget, forget, { class: "plain forget" }) : "";
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

function begin(survey, device, answering) {
  keepPage();
  ask(survey, device, answering);
}

function ask(survey, device, answering) {
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
      const donation = await answering.preview(answers);
      sayBad(form, survey, null, words);
      if (donation) preview(survey, device, { answering, form, answers, donation });
      else problem.replaceChildren(element("p", { class: "wrong" }, words.empty));
    } catch (error) {
      if (!(error instanceof BadAnswer)) throw error;
      sayBad(form, survey, error, words);
    }
  });
  show(form);
}

function preview(survey, device, { answering, form, answers, donation }) {
  place.dataset.step = "preview";
  const sendIt = async () => {
    place.querySelectorAll("button").forEach((each) => (each.disabled = true));
    try {
      await answering.give(answers, donation.bytes);
      form.reset();
      send(survey, device);
    } catch (error) {
      if (!(error instanceof Changed)) throw error;
      arrive(survey, device); // somebody has answered in another tab
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

async function send(survey, device) {
  const stop = new AbortController();
  const bytes = device.pending(survey);
  const stopped = async () => {
    stop.abort();
    await device.withdraw(survey); // the report of somebody before stays, and leaves at the next visit
    forgetPage();
    end(survey, device, "nothing", words.not_sent, words.stopped_more);
  };
  const other = () => {
    stop.abort(); // it stays pending, and leaves with the next one
    consent(survey, device);
  };
  say("sending", words.sending);
  const waiting = () => {
    say("waiting", words.waiting);
    place.append(
      pair(button(words.stop, stopped), button(words.answered_other, other)),
      forgetting(survey, device, () => stop.abort()),
    );
  };
  const found = await sendUntilAnswered(place.dataset.address, bytes, { signal: stop.signal, waiting });
  if (found.outcome === null) return;
  await device.finish(survey, bytes);
  if (device.pending(survey)) return send(survey, device);
  forgetPage();
  if (found.outcome === SENT) end(survey, device, "sent", words.sent, words.sent_more);
  else if (found.outcome === CLOSED) end(survey, device, "closed", words.closed);
  else end(survey, device, "refused", filled(words.refused, { reason: found.reason }));
}

function nothing(survey, device) {
  forgetPage();
  say("nothing", words.not_sent, words.not_sent_more);
  place.append(button(words.again, () => arrive(survey, device)), forgetting(survey, device));
}

start();
