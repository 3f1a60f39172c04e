// What lessons build their things to move from: sliders, choices, buttons, words and a picture.
import { byId, drawn, element } from "../dom.js";

let made = 0;

// Fill the place of a lesson's {{live}} line; `draw` is called whenever something was moved.
export class Stage {
  constructor(name, { caption = "", viewBox = "0 0 640 260" } = {}) {
    this.place = byId(name ? `live-${name}` : "live");
    this.controls = element("div", { class: "controls" });
    this.words = element("p", { class: "said", "aria-live": "polite" });
    this.side = element("div", {});
    this.place.classList.add("lesson");
    this.place.replaceChildren(this.controls, this.side);
    if (caption) this.#picture(caption, viewBox);
    this.controls.append(this.words);
    this.draw = () => {};
  }

  #picture(caption, viewBox) {
    const id = this.#id();
    this.svg = drawn("svg", { viewBox, role: "img", "aria-labelledby": id });
    this.side.append(
      element("figure", {}, this.svg, element("figcaption", { id, class: "quiet small" }, caption)),
    );
  }

  #id() {
    made += 1;
    return `moved-${made}`;
  }

  #add(...nodes) {
    this.words.before(...nodes);
  }

  // A slider between `low` and `high`; with `ratio` its steps are equal factors. Returns how to read it.
  slider(label, { low, high, value, step = 1, ratio = false, say = String }) {
    const id = this.#id();
    const top = ratio ? 60 : high;
    const start = ratio ? Math.round((60 * Math.log(value / low)) / Math.log(high / low)) : value;
    const range = { id, type: "range", min: ratio ? 0 : low, max: top, step: ratio ? 1 : step, value: start };
    const input = element("input", range);
    const output = element("output", { class: "number", for: id });
    const read = () => {
      const at = Number(input.value);
      return ratio ? Number((low * (high / low) ** (at / 60)).toPrecision(2)) : at;
    };
    const moved = () => {
      output.textContent = say(read());
      input.setAttribute("aria-valuetext", say(read()));
    };
    input.addEventListener("input", () => {
      moved();
      this.draw();
    });
    moved();
    this.#add(element("label", { for: id }, `${label}: `, output), input);
    return read;
  }

  choice(label, options) {
    const id = this.#id();
    const all = options.map((text, i) => element("option", { value: i }, text));
    const select = element("select", { id, change: () => this.draw() }, ...all);
    this.#add(element("label", { for: id }, label), select);
    return () => Number(select.value);
  }

  number(label) {
    const id = this.#id();
    const input = element("input", { id, type: "text", inputmode: "decimal", class: "short" });
    this.#add(element("label", { for: id }, label), input);
    return input;
  }

  button(label, act) {
    const button = element("button", { type: "button", click: act }, label);
    this.#add(button);
    return button;
  }

  // Say what holds now; `draw` draws the picture or the table.
  begin(draw) {
    this.draw = draw;
    draw();
  }

  say(text) {
    this.words.textContent = text;
  }

  table(caption, heads, rows) {
    const head = heads.map((text, i) => element("th", { scope: "col", class: i ? "right" : "" }, text));
    const body = rows.map(({ cells, strong }) =>
      element(
        "tr",
        { class: strong ? "worst" : "" },
        ...cells.map((text, i) => element(i ? "td" : "th", i ? { class: "right" } : { scope: "row" }, text)),
      ),
    );
    const made = element(
      "table",
      {},
      element("caption", { class: "unseen" }, caption),
      element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...body),
    );
    this.side.replaceChildren(made);
  }
}

// Upright bars with a label below and a number above; `of` is the value of the full height.
export function bars(svg, values, { of, width = 640, base = 220, top = 30 }) {
  const each = width / values.length;
  const parts = values.flatMap(({ name, value, text, quiet }, i) => {
    const height = Math.max(1, ((base - top) * Math.min(value, of)) / of);
    const middle = i * each + each / 2;
    return [
      drawn("rect", { class: quiet ? "bar quiet-bar" : "bar", x: i * each + each * 0.15, width: each * 0.7, y: base - height, height }),
      drawn("text", { x: middle, y: base - height - 8, "text-anchor": "middle" }, text ?? ""),
      drawn("text", { x: middle, y: base + 24, "text-anchor": "middle" }, name),
    ];
  });
  svg.replaceChildren(...parts, drawn("line", { class: "axis", x1: 0, x2: width, y1: base, y2: base }));
}

export async function facts(lesson) {
  const response = await fetch(`/api/v1/course/${lesson}/facts.json`);
  return (await response.json()).data;
}
