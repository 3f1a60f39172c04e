// The respondent's page: consent, questions, what leaves, and then it is sent, or nothing is.
import { byId, element, whenSent } from "../dom.js";
import { consentText, filled } from "./consent.js";
import { BadAnswer, Changed, Device, checkPromise, readSurvey } from "./device/index.js";
import { leavesList } from "./leaves.js";
import { forgetPage, forgetPages, keepPage, keepsPages } from "./offline.js";
import { answersIn, questionField, sayBad } from "./questions.js";
import { CLOSED, GONE, REFUSED, SENT, sendUntilAnswered, tryOnce } from "./sending.js";

const place = byId("survey");
const offered = JSON.parse(place.dataset.words); // every language, the browser's own first
let words = offered[0];
let copied = false; // whether copies of pages were kept when this one was opened
let typed = null; // the form that somebody fills in
let left = false;

// Back shows a page as it was left. So it is emptied when it is left, and begins anew when it is shown again.
addEventListener("pagehide", () => {
  left = true;
  typed?.reset();
  typed = null;
  place.dataset.step = "left";
  place.replaceChildren();
});
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

const show = (...nodes) => left || place.replaceChildren(...nodes);
const say = (step, ...sentences) => {
  if (left) return;
  place.dataset.step = step;
  show(...sentences.filter(Boolean).map((sentence) => element("p", {}, sentence)));
};
const button = (text, click, more = {}) => element("button", { type: "button", click, ...more }, text);
const pair = (...buttons) => element("div", { class: "pair" }, ...buttons);

function deviceHere() {
  try {
    return new Device(localStorage); // first of all: it deletes what earlier versions kept
  } catch {
    return null;
  }
}

function canKeep() {
  try {
    localStorage.setItem("discreet survey", "");
    localStorage.removeItem("discreet survey");
    return true;
  } catch {
    return false;
  }
}

async function start() {
  const device = deviceHere();
  if (!globalThis.isSecureContext || !crypto.subtle) return say("insecure", words.insecure);
  if (!navigator.locks) return say("old", words.old);
  if (!device) return say("storage", words.storage);
  copied = await keepsPages().catch(() => false);
  const survey = await readSurvey(place.dataset.document).catch(() => null);
  if (!survey) return end(survey, device, "unread", words.unread);
  try {
    checkPromise(survey);
  } catch {
    return end(survey, device, "broken", words.broken);
  }
  return arrive(survey, device);
}

// Whoever opens the page: what is still to be sent leaves first, then it is asked who is there.
function arrive(survey, device) {
  if (device.pending(survey)) return send(survey, device);
  if (place.dataset.closed) return end(survey, device, "closed", words.closed);
  if (device.answered(survey)) return answered(survey, device);
  if (!canKeep()) return end(survey, device, "storage", words.storage);
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
    await device.forget(...[survey].filter(Boolean));
    await forgetPages();
    copied = false;
    say("forgotten", words.forgotten, words.forgotten_more);
  };
  return device.memory.holds || copied ? button(words.forget, forget, { class: "plain forget" }) : "";
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
  typed = form;
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
  if (left) return;
  place.dataset.step = "preview";
  const problem = element("div", { role: "alert" });
  const enable = (enabled) => place.querySelectorAll("button").forEach((each) => (each.disabled = !enabled));
  const sendIt = async () => {
    enable(false);
    problem.replaceChildren();
    try {
      await answering.give(answers, donation.bytes);
      form.reset();
      send(survey, device, [donation.bytes]);
    } catch (error) {
      if (error instanceof Changed) return arrive(survey, device); // somebody has answered in another tab
      enable(true);
      if (!(error instanceof DOMException)) throw error;
      problem.replaceChildren(element("p", { class: "wrong" }, words.full)); // the browser has no room for it
    }
  };
  const back = () => {
    place.dataset.step = "questions";
    show(form);
  };
  show(
    element("h2", {}, words.leaves_title),
    ...leavesList(survey, donation, answers, words),
    problem,
    pair(button(words.send, sendIt), button(words.nothing, () => nothing(survey, device))),
    button(words.back, back, { class: "plain" }),
  );
}

// `mine`: the reports of whoever is here, which are those that wait where nobody has answered since the page was
// opened. Each is sent until there is an answer; then those of others are tried once.
async function send(survey, device, mine = device.allPending(survey)) {
  if (left) return;
  const stop = new AbortController();
  const { signal } = stop;
  const { address } = place.dataset;
  const reportOf = (bytes) => ({
    bytes,
    isPending: () => device.isPending(survey, bytes),
    beginIfPending: (begin) => device.beginIfPending(survey, bytes, begin),
  });
  const stopped = async () => {
    stop.abort();
    const taken = await device.withdraw(survey, ...mine);
    if (!taken) return gone(survey, device);
    forgetPage();
    return end(survey, device, "nothing", words.done, words.stopped_more, othersWait(survey, device));
  };
  const other = () => {
    stop.abort(); // it stays pending, and leaves with the next one
    consent(survey, device);
  };
  const waiting = () => {
    say("waiting", words.waiting);
    place.append(
      pair(button(words.stop, stopped), button(words.answered_other, other)),
      forgetting(survey, device, () => stop.abort()),
    );
  };
  addEventListener("pagehide", () => stop.abort(), { signal });
  say("sending", words.sending);
  let found = { outcome: GONE };
  for (const bytes of mine) {
    const answer = await sendUntilAnswered(address, reportOf(bytes), { signal, waiting });
    if (answer.outcome === null) return;
    if (answer.outcome !== GONE) found = { ...answer, here: await device.finish(survey, bytes) };
  }
  say("sending", words.sending);
  for (const bytes of found.outcome === GONE ? [] : device.allPending(survey)) {
    const { outcome } = await tryOnce(address, reportOf(bytes), signal);
    if ([SENT, CLOSED, REFUSED].includes(outcome)) await device.finish(survey, bytes);
  }
  if (signal.aborted) return;
  stop.abort();
  if (found.outcome === GONE) return gone(survey, device);
  forgetPage();
  const others = othersWait(survey, device);
  if (found.outcome === CLOSED) return end(survey, device, "closed", words.closed, others);
  if (found.outcome === SENT) return end(survey, device, "sent", words.sent, found.here ? words.sent_more : words.sent_late, others);
  return end(survey, device, "refused", filled(words.refused, { reason: found.reason }), others);
}

const othersWait = (survey, device) => (device.pending(survey) ? words.others_wait : "");

// The report that was sent from here is not kept any more, and not by this window.
function gone(survey, device) {
  forgetPage();
  if (device.memory.knows(survey)) return end(survey, device, "elsewhere", words.elsewhere);
  return end(survey, device, "elsewhere", words.forgotten_elsewhere, words.forgotten_more);
}

function nothing(survey, device) {
  forgetPage();
  say("nothing", words.not_sent, words.not_sent_more);
  place.append(button(words.again, () => arrive(survey, device)), forgetting(survey, device));
}

start().catch((error) => {
  say("unread", words.unread);
  throw error;
});
