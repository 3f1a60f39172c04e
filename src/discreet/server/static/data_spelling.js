// How the texts of one column are read: nothing is trimmed or merged unless it is said here.
import { element } from "./dom.js";

const RANGES = new Set(["integer", "number"]);
const DATES = new Set(["date", "timestamp"]);
const MERGED = new Set(["category", "boolean"]);

const listed = (text) => text.split("\n").filter((line) => line !== "");

export class SpellingForm {
  constructor(column, changed) {
    this.column = column;
    this.changed = changed;
    this.node = element("details", { class: "spelling small" });
  }

  fill(type, settings) {
    this.inputs = {};
    const parts = [element("summary", {}, "How it is written")];
    if (type === "text") {
      this.node.hidden = true;
      return;
    }
    this.node.hidden = false;
    if (RANGES.has(type)) {
      parts.push(this.line("thousands", "sign between thousands", settings.thousands), this.line("decimal", "decimal sign", settings.decimal));
      parts.push(this.area("signs", "marks beside a number, one on each line", settings.signs));
    }
    if (DATES.has(type)) parts.push(this.area("format", "spellings of dates, one on each line, such as %d/%m/%Y", [settings.format ?? []].flat()));
    if (MERGED.has(type)) {
      const same = Object.entries(settings.same ?? {}).map(([value, forms]) => `${value} = ${forms.join(" | ")}`);
      parts.push(this.area("same", "other spellings, as Female = F | w, one value on each line", same), this.tick("any_case", "A and a are the same", settings.any_case));
    }
    parts.push(this.area("empty", "texts that mean: no value, one on each line", settings.empty), this.tick("trim", "spaces around do not count", settings.trim));
    this.node.replaceChildren(...parts);
    this.node.open = Object.values(this.declared()).length > 0;
  }

  line(key, words, value = "") {
    const input = element("input", { type: "text", size: 3, maxlength: 1, value, "aria-label": `${words} of ${this.column}` });
    return this.field(key, words, input);
  }

  area(key, words, values = []) {
    const area = element("textarea", { rows: Math.min(5, values.length + 1), spellcheck: "false", "aria-label": `${words}, ${this.column}` });
    area.value = values.join("\n");
    return this.field(key, words, area);
  }

  tick(key, words, checked = false) {
    const box = element("input", { type: "checkbox", checked });
    box.addEventListener("change", this.changed);
    this.inputs[key] = box;
    return element("label", {}, box, ` ${words}`);
  }

  field(key, words, input) {
    input.addEventListener("change", this.changed);
    this.inputs[key] = input;
    return element("label", {}, words, element("br"), input);
  }

  declared() {
    const found = {};
    for (const [key, input] of Object.entries(this.inputs ?? {})) {
      if (input.type === "checkbox") {
        if (input.checked) found[key] = true;
      } else if (key === "same") {
        const pairs = listed(input.value).map((line) => line.split(/ = (.*)/s)).filter((pair) => pair.length > 1);
        if (pairs.length) found.same = Object.fromEntries(pairs.map(([value, forms]) => [value, forms.split(" | ")]));
      } else if (input.tagName === "TEXTAREA") {
        if (listed(input.value).length) found[key] = listed(input.value);
      } else if (input.value !== "") {
        found[key] = input.value;
      }
    }
    return found;
  }
}
