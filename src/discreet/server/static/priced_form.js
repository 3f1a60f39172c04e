// A form with its price on the button: asked for as it changes, before anything is paid; then the work, and coming back to it.
import { call, Problem } from "./api.js";
import { byId, sayProblem, whenSent } from "./dom.js";
import { readEpsilon } from "./epsilon.js";
import { begin, follow, forget, unfinished } from "./work.js";
import { priceWords } from "./words.js";

const WAIT = 300;

// `name` is the form's id and `part` finds its parts; `ask` is what is sent beside epsilon. `check` may say what is wrong
// with it, `typed` hears of each change of epsilon, `said` of each price (null: there is none), `over` is what the button
// says where too little is left, and `done` returns whether it has left the page.
export class PricedForm {
  constructor(name, { key, part, path, word, ask, said, done, over = "; more than is left", check = () => null, typed = () => {} }) {
    Object.assign(this, { key, part, path, word, ask, said, done, over, check, typed, timer: 0, busy: false, running: null });
    this.part("epsilon").addEventListener("input", () => this.read());
    byId("payer")?.addEventListener("change", () => this.later(0));
    whenSent(byId(name), () => {
      if (!this.busy && !this.part("go").disabled) this.work(begin(this.key, this.path, this.body()));
    });
  }

  get epsilon() {
    return readEpsilon(this.part("epsilon").value);
  }

  body() {
    const found = { ...this.ask(), epsilon: this.epsilon?.text };
    if (byId("payer")?.value) found.analyst = byId("payer").value;
    return found;
  }

  mark() {
    this.part("epsilon").setAttribute("aria-invalid", this.epsilon ? "false" : "true");
  }

  read() {
    this.mark();
    this.typed(this.epsilon);
    this.later();
  }

  later(wait = WAIT) {
    clearTimeout(this.timer);
    this.running?.abort();
    this.timer = setTimeout(() => this.explain(), wait);
  }

  async explain() {
    const wanted = this.body();
    const wrong = this.check();
    this.mark();
    if (!wanted.epsilon || wrong) {
      this.show(null, wrong);
      return;
    }
    this.running = new AbortController();
    try {
      this.show(await call("POST", `${this.path}/explain`, wanted, { signal: this.running.signal }));
    } catch (problem) {
      if (problem.name === "AbortError") return;
      if (problem.status === 429) this.later(1000);
      else this.show(null, problem);
    }
  }

  show(found, problem = null) {
    sayProblem(this.part("problem"), problem, { word: "Not like this." });
    this.part("go").disabled = found === null || this.busy;
    const price = found?.free ? "free" : found && priceWords(found, this.over);
    this.part("go").textContent = found ? `${this.word} · ${price}` : this.word;
    this.said(found);
  }

  async work(begun) {
    this.busy = true;
    this.part("go").disabled = true;
    sayProblem(this.part("problem"), null);
    let [left, failed] = [false, null];
    try {
      left = this.done(await follow(begun, this.part));
    } catch (problem) {
      failed = problem instanceof Problem ? problem : { message: String(problem), hint: "" };
    }
    forget(this.key);
    if (left) return;
    this.busy = false;
    clearTimeout(this.timer);
    await this.explain();
    if (failed) sayProblem(this.part("problem"), failed);
  }

  // What this browser began and left: watched to its end, also where the server was gone meanwhile.
  comeBack() {
    const left = unfinished(this.key);
    if (left) this.work(left);
  }
}
