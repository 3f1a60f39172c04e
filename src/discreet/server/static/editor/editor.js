// The editor: the textarea stays what is typed in; a painted copy of its text lies behind it.
import { element } from "../dom.js";
import { Completion } from "./completion.js";
import { pieces, placeOf } from "./tokens.js";

// A question as it is painted, for reading only.
export const paintedSql = (sql) =>
  element("pre", { class: "paint code sql" }, ...pieces(sql).map(({ text, kind }) => (kind ? element("span", { class: kind }, text) : text)));

export class Editor {
  // `catalog` returns [{table, columns: [{name, values}]}] of what may be asked.
  constructor(area, catalog) {
    this.area = area;
    this.wrong = null;
    this.paint = element("pre", { class: "paint code", "aria-hidden": "true" });
    const frame = element("div", { class: "editor" });
    area.replaceWith(frame);
    frame.append(this.paint, area);
    this.completion = new Completion(this, catalog);
    frame.append(this.completion.list);
    area.addEventListener("input", () => this.typed());
    area.addEventListener("keydown", (event) => this.completion.key(event));
    area.addEventListener("blur", () => this.completion.close());
    area.addEventListener("click", () => this.completion.close());
    this.draw();
  }

  typed() {
    this.wrong = null; // what is wrong is looked up anew for the new text
    this.draw();
    this.completion.offer();
  }

  write(sql) {
    this.area.value = sql;
    this.wrong = null;
    this.completion.close();
    this.draw();
  }

  // Put text in place of what lies between two places, as if it was typed.
  replace(start, end, text) {
    this.area.setRangeText(text, start, end, "end");
    this.area.focus();
    this.area.dispatchEvent(new Event("input", { bubbles: true }));
    this.completion.close();
  }

  // Underline what a problem is about; no problem clears it.
  mark(problem) {
    this.wrong = problem ? placeOf(this.area.value, problem.message) : null;
    this.draw();
  }

  draw() {
    const parts = pieces(this.area.value).flatMap((piece) => this.cut(piece));
    this.paint.replaceChildren(...parts, "\u200b\n"); // so that an empty last line has its height
  }

  cut({ text, kind, start, end }) {
    const wrong = this.wrong && this.wrong.start < end && start < this.wrong.end;
    const names = [kind, wrong ? "wrong-here" : ""].filter(Boolean).join(" ");
    return [names ? element("span", { class: names }, text) : text];
  }

  // Where on the page a place in the text is drawn.
  spot(place) {
    const walker = document.createTreeWalker(this.paint, NodeFilter.SHOW_TEXT);
    let left = place;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (left <= node.length) {
        const range = document.createRange();
        range.setStart(node, left);
        range.collapse(true);
        const [box] = range.getClientRects();
        const frame = this.paint.getBoundingClientRect();
        return box ? { left: box.left - frame.left, top: box.bottom - frame.top } : { left: 0, top: 22 };
      }
      left -= node.length;
    }
    return { left: 0, top: 22 };
  }
}
