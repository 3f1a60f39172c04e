// One count or many, each person in one of them or in all: the noise ± of Laplace and of Gaussian.
import { Stage, bars, facts } from "/static/course/kit.js";

const { one, many: sharing } = await facts("noise");
const epsilons = Object.keys(one).sort((a, b) => a - b);

const stage = new Stage("", { caption: "Noise ± of one of the counts (95%), in people; the height is a logarithm." });
const place = stage.slider("epsilon for all together", { low: 0, high: epsilons.length - 1, value: epsilons.indexOf("1"), say: (i) => epsilons[i] });
const many = stage.slider("how many counts", { low: 1, high: 10000, value: 100, ratio: true, say: (k) => Math.round(k).toLocaleString("en") });
const shared = stage.choice("one person is", ["in one of the counts (such as first names)", "possibly in all of them"]);

// The least m with k times P(|X| > m) at most 5%: the discrete Laplace law's own sum.
function laplaceWidth(scale, k) {
  const t = Math.exp(-1 / scale);
  return Math.max(0, Math.ceil(Math.log((0.05 * (1 + t)) / (2 * k)) / Math.log(t) - 1 - 1e-9));
}

stage.begin(() => {
  const epsilon = epsilons[place()];
  const k = Math.round(many());
  const moves = shared() ? k : 1;
  const laplace = laplaceWidth(moves / Number(epsilon), 1);
  const sigma = moves > 1 ? sharing[epsilon] * Math.sqrt(moves) : one[epsilon];
  const gaussian = Math.ceil(1.96 * sigma);
  const values = [
    { name: "Laplace", value: Math.log10(1 + laplace), text: `± ${laplace.toLocaleString("en")}`, quiet: laplace > gaussian },
    { name: "Gaussian", value: Math.log10(1 + gaussian), text: `± ${gaussian.toLocaleString("en")}`, quiet: laplace <= gaussian },
  ];
  bars(stage.svg, values, { of: Math.max(1.5, ...values.map(({ value }) => 1.1 * value)) });
  const worst = laplaceWidth(moves / Number(epsilon), k);
  const better = laplace <= gaussian ? "Laplace noise is smaller" : "Gaussian noise is smaller, at the price of δ = 0.000001";
  stage.say(
    `${better}. Of ${k.toLocaleString("en")} Laplace answers not one is off by more than ${worst.toLocaleString("en")}, 95 times in 100` +
      (k > 1 ? `: ${(worst / Math.max(1, laplace)).toFixed(1)} times the noise of a single one.` : "."),
  );
});
