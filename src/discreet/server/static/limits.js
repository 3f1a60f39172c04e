// Change the budget of a data set, or a share of it: before and after in words, then one button.
import { call } from "./api.js";
import { element, sayProblem, whenSent } from "./dom.js";
import { readEpsilon } from "./epsilon.js";
import { amount, times } from "./words.js";

const DONE = "discreet-changed";

// What a new limit means. `whose` is "everybody in the data", or an analyst.
export function changeWords({ limit, spent, wanted, analyst = "" }) {
  const left = Math.max(0, limit - spent);
  if (wanted === limit) return `${amount(spent)} of ${amount(limit)} is spent, ${amount(left)} is left.`;
  const change = `From ${amount(limit)} to ${amount(wanted)}: `;
  if (wanted < spent) {
    const who = analyst ? `${analyst} gets no further answers` : "no further question is answered";
    return `${change}${amount(spent)} is spent already, so ${who}. It takes nothing back: what was told stays told, and paid answers stay free to read.`;
  }
  const after = `${amount(wanted - spent)} is left instead of ${amount(left)}.`;
  if (wanted < limit || analyst) return `${change}${after}`;
  return `${change}${after} The people in the data were promised that anyone's odds change by at most ${times(limit)}, compared with them not taking part; from now on it may be ${times(wanted)}.`;
}

class LimitsForm {
  constructor(box) {
    this.box = box;
    this.dataset = box.dataset.dataset;
    this.path = `/data/datasets/${encodeURIComponent(this.dataset)}`;
    this.form = box.querySelector("form");
    this.total = box.querySelector(".total");
    this.delta = box.querySelector(".delta");
    this.agree = box.querySelector(".agree");
    this.button = box.querySelector("button.main");
    this.problem = box.querySelector(".limits-problem");
    this.form.addEventListener("input", () => this.say());
    whenSent(this.form, () => this.send());
    box.querySelector(".add-share").addEventListener("click", () => this.add());
    for (const line of this.lines()) this.watchRemoval(line);
    this.say();
  }

  lines() {
    return [...this.box.querySelectorAll(".share-line")];
  }

  watchRemoval(line) {
    line.querySelector(".remove").addEventListener("change", () => this.say());
  }

  add() {
    const field = (words, kind) => element("label", {}, words, element("br"), element("input", { type: "text", class: kind, autocomplete: "off", spellcheck: "false" }));
    const line = element("div", { class: "row new-share" }, field("Analyst", "name-field"), field("share of ε", "short"), element("button", { type: "button", class: "plain", click: () => { line.remove(); this.say(); } }, "Leave out"));
    this.box.querySelector(".new-shares").append(line);
    line.querySelector("input").focus();
  }

  // What would be sent: [method, path, body] each; null where something written is no amount.
  changes() {
    const found = [];
    let wrong = false;
    const total = readEpsilon(this.total.value);
    const delta = this.delta.value.trim();
    if (!total || (delta && !/^\d*\.?\d+(e-?\d+)?$/i.test(delta))) wrong = true;
    else if (total.value !== Number(this.box.dataset.limit) || Number(delta || 0) !== Number(this.box.dataset.delta)) {
      const body = { epsilon: total.text, agreed: this.agree.querySelector("input").checked };
      found.push(["PUT", `${this.path}/budget`, delta ? { ...body, delta } : { ...body, delta: "0" }]);
    }
    for (const line of this.lines()) {
      const path = `${this.path}/analysts/${encodeURIComponent(line.dataset.analyst)}`;
      const share = readEpsilon(line.querySelector("input.short").value);
      if (line.querySelector(".remove").checked) found.push(["DELETE", path]);
      else if (!share) wrong = true;
      else if (share.value !== Number(line.dataset.limit)) found.push(["PUT", path, { epsilon: share.text }]);
    }
    for (const line of this.box.querySelectorAll(".new-share")) {
      const [name, share] = [...line.querySelectorAll("input")].map((input) => input.value.trim());
      if (!name && !share) continue;
      if (!name || !readEpsilon(share)) wrong = true;
      else found.push(["PUT", `${this.path}/analysts/${encodeURIComponent(name)}`, { epsilon: readEpsilon(share).text }]);
    }
    return wrong ? null : found;
  }

  say() {
    const { limit, spent, delta } = this.box.dataset;
    const total = readEpsilon(this.total.value);
    this.total.setAttribute("aria-invalid", total ? "false" : "true");
    this.box.querySelector(".total-words").textContent = total
      ? changeWords({ limit: Number(limit), spent: Number(spent), wanted: total.value })
      : "ε is a number greater than 0, such as 0.5.";
    for (const line of this.lines()) this.sayShare(line);
    const higher = (total && total.value > Number(limit)) || Number(this.delta.value || 0) > Number(delta);
    this.agree.hidden = !higher;
    const changes = this.changes();
    this.button.disabled = !changes?.length || (higher && !this.agree.querySelector("input").checked);
  }

  sayShare(line) {
    const share = readEpsilon(line.querySelector("input.short").value);
    const removed = line.querySelector(".remove").checked;
    line.querySelector("input.short").disabled = removed;
    const facts = { limit: Number(line.dataset.limit), spent: Number(line.dataset.spent), analyst: line.dataset.analyst };
    const words = removed
      ? `${facts.analyst} can ask nothing more here. What was spent stays spent.`
      : share
        ? changeWords({ ...facts, wanted: share.value })
        : "A share is a number greater than 0.";
    line.querySelector(".share-words").textContent = words;
  }

  async send() {
    const changes = this.changes();
    if (this.button.disabled || !changes?.length) return;
    this.button.disabled = true;
    let done = 0;
    try {
      for (const change of changes) {
        await call(...change);
        done += 1;
      }
      sessionStorage.setItem(DONE, this.dataset);
      window.location.reload();
    } catch (problem) {
      const word = done ? "Done only in part." : "Not done.";
      sayProblem(this.problem, problem, { word });
      this.button.disabled = false;
    }
  }
}

export function startLimits() {
  const boxes = [...document.querySelectorAll(".limits")];
  for (const box of boxes) new LimitsForm(box);
  const changed = sessionStorage.getItem(DONE);
  sessionStorage.removeItem(DONE);
  const box = boxes.find((item) => item.dataset.dataset === changed);
  if (!box) return;
  box.open = true;
  const said = box.querySelector(".limits-problem");
  said.replaceChildren(element("p", { class: "done" }, element("strong", {}, "Changed."), " It is in force, and the ledger and the log below have it."));
  box.querySelector("summary").focus();
}
