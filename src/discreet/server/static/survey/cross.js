// The cross table of two questions: the share of every pair of answers, with its interval.
import { byId, element } from "../dom.js";

const percent = (share) => `${Math.round(100 * Math.min(Math.max(share, 0), 1))}%`;

// The two questions that are chosen, or null: none, or the same one twice.
export function chosenPair() {
  const [one, two] = ["cross-one", "cross-two"].map((id) => byId(id)?.value ?? "");
  return one && two && one !== two ? [one, two] : null;
}

export function showCross(found) {
  const place = byId("crossed");
  if (!place) return;
  place.replaceChildren(...(found ? [tableOf(found)] : []));
}

function tableOf({ questions, estimates }) {
  const rows = Object.entries(estimates);
  const heads = Object.keys(rows[0]?.[1] ?? {});
  const head = (text, scope) => element("th", { scope, class: scope === "col" ? "right" : undefined }, text);
  return element(
    "div",
    { class: "wide" },
    element(
      "table",
      {},
      element("caption", { class: "quiet small" }, `${questions[0]} down, ${questions[1]} across; shares of all who answered both.`),
      element("thead", {}, element("tr", {}, element("td", {}), ...heads.map((each) => head(each, "col")))),
      element("tbody", {}, ...rows.map(([what, each]) => element("tr", {}, head(what, "row"), ...heads.map((at) => cell(each[at]))))),
    ),
  );
}

const cell = ({ value, low, high }) =>
  element("td", { class: "right" }, percent(value), " ", element("span", { class: "quiet small" }, `${percent(low)} to ${percent(high)}`));
