// Before any money is spent: what the slider means, what the noise will be, what it will cost.
import { call } from "./api.js";
import { byId, element, sayProblem } from "./dom.js";
import { nearest, readEpsilon, stepsUpTo } from "./epsilon.js";
import { amount, noise, priceWords, promiseTyped } from "./words.js";

const WAIT = 300;
const AGAIN = 1000;

// What a group of the stated size would get; nothing where that is not told.
function statedWords(name, stated) {
  if (!stated) return "";
  if (name in stated.ranks) return `${name}: ${stated.words[name]} (95%)`;
  if (!(name in stated.noise)) return "";
  const width = stated.noise[name];
  return width === null ? `${name}: such a group is too small for this ε` : `expected noise at most ± ${noise(width)} for ${name} (95%)`;
}

export class Price {
  // `question` returns {sql, analyst}; `changed` hears each new explanation, null while there is none; `mark` shows
  // where in the question a problem is.
  constructor(question, changed, mark) {
    Object.assign(this, { question, changed, mark });
    this.steps = stepsUpTo(1);
    this.explanation = null;
    this.timer = 0;
    this.running = null;
    this.slider = byId("slider");
    this.field = byId("epsilon");
    this.within = byId("within");
    this.group = byId("group-size");
    this.slider.addEventListener("input", () => this.set(String(this.steps[this.slider.value])));
    this.field.addEventListener("input", () => this.read());
    this.within.addEventListener("input", () => this.find());
    this.group.addEventListener("input", () => this.later());
    this.resize(1);
    this.read();
  }

  get epsilon() {
    return readEpsilon(this.field.value);
  }

  set(text) {
    this.field.value = text;
    this.within.value = "";
    this.read();
  }

  read() {
    const found = this.epsilon;
    this.field.setAttribute("aria-invalid", found ? "false" : "true");
    byId("odds").textContent = found
      ? promiseTyped(found.value, byId("odds"))
      : "epsilon is a number greater than 0, such as 0.25";
    if (found) {
      this.slider.value = nearest(this.steps, found.value);
      this.slider.setAttribute("aria-valuetext", `epsilon ${found.text}`);
    }
    this.later();
  }

  // The slider ends at what the data set has in all; small steps stay.
  resize(limit) {
    this.steps = stepsUpTo(limit);
    this.slider.max = this.steps.length - 1;
    if (this.epsilon) this.slider.value = nearest(this.steps, this.epsilon.value);
  }

  later(wait = WAIT) {
    clearTimeout(this.timer);
    this.running?.abort();
    this.timer = setTimeout(() => this.explain(), wait);
  }

  // The other way round: "I need noise ± 5" finds epsilon.
  find() {
    sayProblem(byId("price-problem"), null);
    if (this.within.value.trim()) this.later();
    else this.read();
  }

  async explain() {
    const asked = this.question();
    const wanted = this.within.value.trim().replace(",", ".");
    if (!asked.sql.trim() || (!wanted && !this.epsilon)) {
      this.show(null);
      return;
    }
    this.running = new AbortController();
    const { signal } = this.running;
    // A wanted noise is priced as if fresh: the slider must show what such noise costs.
    const size = wanted ? { within: wanted, fresh: true } : { epsilon: this.epsilon.text };
    try {
      const found = await call("POST", "/explain", { ...asked, ...size, ...this.groupSize }, { signal });
      if (wanted) this.found(found);
      this.show(found);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      if (problem.status === 429) this.later(AGAIN);
      else if (problem.status === 0) this.unreached(problem);
      else this.show(null, problem, wanted !== "");
    }
  }

  // A group that somebody names: means and variances have their noise only for one.
  get groupSize() {
    const written = this.group.value.trim().replaceAll(",", "");
    const fits = /^[1-9]\d{0,11}$/.test(written);
    this.group.setAttribute("aria-invalid", fits || !written ? "false" : "true");
    return fits ? { group_size: Number(written) } : {};
  }

  // While the server is gone the page says so, and asks again by itself.
  unreached(problem) {
    this.show(null, problem);
    this.later(AGAIN);
  }

  found(explanation) {
    const epsilon = explanation.cost.epsilon;
    if (!(epsilon > 0)) return;
    this.field.value = String(epsilon);
    this.field.setAttribute("aria-invalid", "false");
    this.slider.value = nearest(this.steps, epsilon);
  }

  show(explanation, problem = null, aboutNoise = false) {
    this.explanation = explanation;
    const noiseIsCause = aboutNoise && problem?.kind === "InvalidInput";
    sayProblem(byId("sql-problem"), noiseIsCause ? null : problem, { word: "Not like this." });
    sayProblem(byId("price-problem"), noiseIsCause ? problem : null, { word: "Not like this." });
    byId("sql").setAttribute("aria-invalid", problem && !noiseIsCause ? "true" : "false");
    this.mark(noiseIsCause ? null : problem);
    if (explanation) {
      byId("odds").textContent = explanation.words;
      this.resize(explanation.budget.limit.epsilon);
      this.sayNoise(explanation);
      this.sayOver(explanation);
    } else {
      byId("noise").textContent = "\u00a0";
    }
    this.sayButton(explanation);
    this.changed(explanation);
  }

  sayNoise({ columns, expected_error: errors, free, stated, notes }) {
    const all = Object.entries(errors);
    const known = all.filter(([, value]) => value !== null);
    const open = all.filter(([, value]) => value === null).map(([name]) => name);
    const each = columns.length > all.length ? " in each row" : "";
    const sizes = known.map(([name, value]) => `± ${noise(value)}${all.length > 1 ? ` for ${name}` : each}`);
    const parts = [];
    if (sizes.length) parts.push(`expected noise ${sizes.join(", ")} (95%)`);
    byId("group").hidden = !open.length && !stated?.appears_from;
    const told = open.map((name) => statedWords(name, stated)).filter(Boolean);
    if (told.length) parts.push(told.join(", "));
    else if (open.length) parts.push(`the noise of ${open.join(", ")} is known with the answer`);
    if (stated?.appears_from) parts.push(`groups appear from about ${noise(stated.appears_from)} people on`);
    parts.push(...notes.filter((note) => note.includes("cannot be told at this epsilon")));
    if (free) parts.push("follows from answers that were paid for");
    byId("noise").textContent = parts.join(" · ") || "no noise";
  }

  sayButton(explanation) {
    const button = byId("go");
    button.disabled = explanation === null || this.busy === true;
    const price = explanation?.cost.epsilon > 0 ? priceWords(explanation) : "free";
    button.textContent = explanation ? `Ask · ${price}` : "Ask";
  }

  // `after` is what the ledger would record, so this is no guess: the question would be refused.
  sayOver({ cost, budget }) {
    if (budget.after.epsilon <= budget.limit.epsilon + 1e-12) return;
    const left = Math.max(0, budget.limit.epsilon - budget.before.epsilon);
    const message = `This uses ${amount(cost.epsilon)}, more than is left for the people it asks about. Asked like this it is refused, and nothing is spent.`;
    const hint = "A question about people who were asked about less may still fit.";
    sayProblem(byId("price-problem"), { message, hint }, { word: "Too much.", kind: "care" });
    if (left >= 1e-6) {
      const use = () => this.set(String(Math.floor(left * 1e6) / 1e6));
      byId("price-problem").append(element("button", { type: "button", click: use }, `Use what is left: ${amount(left)}`));
    }
  }
}
