// What a bound on the rows of a person leaves out, beside the noise that it saves: a small look that is paid for.
import { call, newId } from "./api.js";
import { element, sayProblem, tried } from "./dom.js";
import { amount, noise, shown } from "./words.js";

const WAIT = 300;

class BoundsForm {
  constructor(box) {
    this.table = box.dataset.table;
    this.part = (name) => box.querySelector(`.${name}`);
    this.id = newId();
    this.timer = 0;
    this.turn = 0;
    this.part("look-epsilon").addEventListener("input", () => this.later());
    this.part("look").addEventListener("click", () => this.look());
    box.addEventListener("toggle", () => { if (box.open) this.later(0); });
  }

  get asked() {
    return { table: this.table, epsilon: this.part("look-epsilon").value.trim() };
  }

  // Another epsilon is another question.
  later(wait = WAIT) {
    clearTimeout(this.timer);
    this.id = newId();
    this.timer = setTimeout(() => this.price(), wait);
  }

  async price() {
    const button = this.part("look");
    const turn = (this.turn += 1); // an older price that comes later is not shown
    try {
      const found = await call("POST", "/bounds/explain", this.asked);
      if (turn !== this.turn) return;
      button.textContent = found.free ? "Look again, free" : `Look: uses ${amount(found.cost.epsilon)}`;
      button.disabled = false;
      sayProblem(this.part("bounds-problem"), null);
    } catch (problem) {
      if (turn !== this.turn) return;
      button.disabled = true;
      sayProblem(this.part("bounds-problem"), problem);
    }
  }

  async look() {
    const button = this.part("look");
    button.disabled = true;
    const looked = await tried(this.part("bounds-problem"), async () => {
      this.show(await call("POST", "/bounds", { ...this.asked, request_id: this.id }));
      await this.price();
    });
    if (!looked) button.disabled = false;
  }

  show(found) {
    const cell = (text) => element("td", { class: "right whole" }, text);
    const rows = found.bounds.map((each) => {
      const words = [each.max_rows === found.max_rows && "declared", each.max_rows === found.best && "least error of a count"];
      const untold = each.people_beyond && !each.lost_high;
      const between = untold ? `but for ${shown(each.people_beyond)} people` : `${shown(each.lost_low)} to ${shown(each.lost_high)}`;
      return element("tr", {},
        cell(shown(each.max_rows)), cell(shown(each.lost)), cell(between),
        cell(`± ${noise(each.noise)}`), element("td", { class: "whole" }, words.filter(Boolean).join(", ")));
    });
    const heads = ["rows a person", "left out", "at 95%", `noise, ε ${found.noise_epsilon}`, ""];
    const head = element("tr", {}, ...heads.map((text, i) => element("th", { scope: "col", class: i < 4 ? "right" : "" }, text)));
    const [first] = found.bounds;
    const beyond = `Up to ${shown(first.people_beyond)} people may have more than ${shown(first.up_to)} ${first.up_to === 1 ? "row" : "rows"}; what they lose is in no line.`;
    this.part("trade").replaceChildren(
      element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Bounds of ${this.table}` },
        element("table", { class: "lines" }, element("thead", {}, head), element("tbody", {}, ...rows))),
      element("p", { class: "quiet" }, first.people_beyond ? beyond : "", " From now on, answers about this table say what its bound leaves out."));
  }
}

export function startBounds() {
  for (const box of document.querySelectorAll(".bounds")) new BoundsForm(box);
}
