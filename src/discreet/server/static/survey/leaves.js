// What leaves, in words: each report as the respondent can read it, the coin behind it, and the bytes.
import { drawn, element } from "../dom.js";
import { filled, shareText, truthText } from "./consent.js";
import { hex } from "./device/bytes.js";
import { WORD } from "./device/draws.js";

export function leavesList(survey, donation, answers, words) {
  const parts = survey.questions.map((question, index) => {
    const report = donation.reports[index];
    return element(
      "div",
      { class: "leaves", "data-question": question.name },
      survey.questions.length > 1 ? element("p", { class: "quiet" }, question.text) : undefined,
      element("p", { class: "report" }, sentence(question, report, words)),
      behind(question, index, donation, answers, words),
    );
  });
  return [...parts, exactBytes(donation, words)];
}

function behind(question, index, donation, answers, words) {
  const report = donation.reports[index];
  if (report === null || !isCoin(question)) return undefined;
  return coin(question, report, answers[question.name], words);
}

const kept = ({ settings }) => [BigInt(settings.keep), BigInt(WORD)];
const isCoin = ({ mechanism }) => mechanism === "warner" || mechanism === "k-ary";

function sentence(question, report, words) {
  if (report === null) return words.leaves_nothing;
  if (isCoin(question)) {
    return filled(words.leaves_option, { report: question.options[report], truth: truthText(kept(question), words) });
  }
  if (report instanceof Uint8Array) return filled(words.leaves_bits, { count: bitsOf(question.settings) });
  return filled(words.leaves_number, { report });
}

const bitsOf = ({ codes, buckets }) => codes ?? buckets;

function coin(question, report, answer, words) {
  const truth = question.options[report] === answer;
  const share = shareText(kept(question), words);
  const side = truth ? words.side_truth : words.side_other;
  return element(
    "details",
    {},
    element("summary", {}, words.coin_title),
    drawn(
      "svg",
      { class: "coin", viewBox: "0 0 64 64", "aria-hidden": "true" },
      drawn("circle", { cx: 32, cy: 32, r: 29, class: truth ? "truth" : "other" }),
    ),
    element("p", {}, filled(words.coin, { share, side })),
    element("p", { class: "quiet" }, filled(words.coin_again, words)),
  );
}

function exactBytes(donation, words) {
  return element(
    "details",
    {},
    element("summary", {}, words.bytes_title),
    element("p", {}, filled(words.bytes, { count: donation.bytes.length })),
    element("p", { class: "bytes" }, hex(donation.bytes)),
  );
}
