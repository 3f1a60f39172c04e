// Two fair coins, then a coin with any q. Nothing here asks the server anything.
import { Stage, bars } from "/static/course/kit.js";
import { percent } from "/static/words.js";
import { startCoins } from "./coins.js";

startCoins();

const stage = new Stage("q", { caption: "How often somebody says yes, by their truth." });
const truth = stage.slider("The truth is told with probability q", { low: 0.02, high: 0.98, step: 0.02, value: 0.5, say: (q) => q.toFixed(2) });
const people = stage.slider("People who answer", { low: 50, high: 100000, value: 1000, ratio: true, say: (n) => n.toLocaleString("en") });

stage.begin(() => {
  const [q, n] = [truth(), people()];
  const [yes, no] = [(1 + q) / 2, (1 - q) / 2];
  bars(
    stage.svg,
    [
      { name: "truth: yes", value: yes, text: percent(yes) },
      { name: "truth: no", value: no, text: percent(no), quiet: true },
    ],
    { of: 1 },
  );
  const epsilon = Math.log(yes / no);
  const half = (1.96 * Math.sqrt(0.25 / n)) / q;
  stage.say(
    `ε = ln(${yes.toFixed(2)} / ${no.toFixed(2)}) = ${epsilon.toFixed(3)}. Whatever was said is at most ${(yes / no).toFixed(2)} times ` +
      `as likely from one truth as from the other. With ${n.toLocaleString("en")} people the estimate has noise ± ${percent(half, 1)} at worst.`,
  );
});
