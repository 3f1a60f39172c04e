// One column of the review: what analysts will see on the left, what that reveals on the right.
import { SpellingForm } from "./data_spelling.js";
import { element } from "./dom.js";

const TYPES = ["integer", "number", "category", "boolean", "date", "timestamp", "identifier", "text"];
const RANGES = new Set(["integer", "number", "date", "timestamp"]);
const KEPT = ["constant", "immutable"];

export class ColumnForm {
  constructor(proposed, changed) {
    this.proposed = proposed;
    this.changed = changed;
    this.type = proposed.type;
    this.fields = element("div", { class: "fields" });
    this.problem = element("div", { class: "open", "aria-live": "polite" });
    this.loss = element("div", { class: "loss", "aria-live": "polite" });
    this.spelling = new SpellingForm(proposed.name, changed);
    this.node = this.build();
    this.fill(proposed.settings);
    if (proposed.settings.hidden) this.decide("hide");
  }

  build() {
    const { name, reveals, seen, missing_rate: missing } = this.proposed;
    const title = `column-${name}`;
    this.chooser = element("select", { "aria-label": `Type of ${name}` }, ...TYPES.map((type) => element("option", { value: type, selected: type === this.type }, type)));
    this.chooser.addEventListener("change", () => {
      this.type = this.chooser.value;
      this.fill({});
      this.changed();
    });
    this.missing = element("input", { type: "checkbox", checked: Boolean(this.proposed.settings.missing) });
    this.radios = { public: this.choice("public"), hide: this.choice("hide") };
    const choices = [
      element("label", { class: "inline" }, this.radios.public, " This is public knowledge"),
      element("label", { class: "inline" }, this.radios.hide, " Hide this column"),
    ];
    const left = element("div", {}, element("h3", { id: title }, name), this.fields, this.spelling.node, element("div", { class: "verdict", role: "radiogroup", "aria-labelledby": title }, ...choices), this.problem);
    const facts = [...seen];
    if (missing > 0) facts.push(`${(missing * 100).toPrecision(2)}% of the rows have none.`);
    const right = element("div", { class: "small" }, this.loss, element("p", {}, reveals), ...facts.map((fact) => element("p", { class: "quiet" }, fact)));
    return element("div", { class: "column", "data-column": name }, left, right);
  }

  choice(word) {
    const radio = element("input", { type: "radio", name: `verdict-${this.proposed.name}`, value: word });
    radio.addEventListener("change", () => {
      this.decide(word);
      this.changed();
    });
    return radio;
  }

  decide(word) {
    this.verdict = word;
    this.radios[word].checked = true;
    this.node.dataset.done = "true";
  }

  // What this declaration does to the rows; only the owner sees it.
  sayLoss(seen) {
    this.safe = Boolean(seen?.safe);
    const doubts = seen?.doubts ?? [];
    const words = doubts.map((doubt) => element("p", { class: "care" }, element("strong", {}, "Look."), ` ${doubt}.`));
    if (seen && !seen.lost && seen.filled !== null) words.push(element("p", { class: "quiet" }, `All ${seen.filled.toLocaleString("en")} filled cells are read.`));
    this.loss.replaceChildren(...words);
  }

  fill(settings) {
    this.inputs = {};
    const field = (key, words, size) => {
      const input = element("input", { type: "text", size, value: settings[key] ?? "", "aria-label": `${words} of ${this.proposed.name}` });
      input.addEventListener("change", this.changed);
      this.inputs[key] = input;
      return element("label", { class: "small" }, words, element("br"), input);
    };
    const parts = [element("label", { class: "small" }, "type", element("br"), this.chooser)];
    if (RANGES.has(this.type)) parts.push(field("lower", "from", 10), field("upper", "to", 10));
    if (this.type === "number") parts.push(field("step", "in steps of", 6));
    if (this.type === "category") parts.push(this.valuesField(settings.values ?? []));
    parts.push(element("label", { class: "small" }, this.missing, " may be missing"));
    this.fields.replaceChildren(...parts);
    this.spelling.fill(this.type, settings);
  }

  valuesField(values) {
    const area = element("textarea", { rows: Math.min(8, values.length + 1), spellcheck: "false", "aria-label": `Values of ${this.proposed.name}, one on each line` });
    area.value = values.join("\n");
    area.addEventListener("change", this.changed);
    this.inputs.values = area;
    return element("label", { class: "small values" }, "values, one on each line", element("br"), area);
  }

  // The column as the review's document says it.
  declared() {
    const found = { type: this.type, public: this.verdict === "public", hidden: this.verdict === "hide" };
    for (const key of ["lower", "upper", "step"]) {
      const text = this.inputs[key]?.value.trim();
      if (text) found[key] = text;
    }
    if (this.inputs.values) found.values = this.inputs.values.value.split("\n").filter((line) => line !== "");
    if (this.missing.checked) found.missing = true;
    if (!found.hidden) Object.assign(found, this.spelling.declared());
    if (this.type === this.proposed.type) {
      for (const key of KEPT) if (this.proposed.settings[key]) found[key] = this.proposed.settings[key];
    }
    return found;
  }
}
