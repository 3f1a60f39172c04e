// Three measured numbers that contradict each other, and the nearest three that do not.
import { Stage } from "/static/course/kit.js";

const stage = new Stage("");
const whole = (value) => value.toLocaleString("en");
const measured = [
  stage.slider("all people, measured", { low: 1980, high: 2030, value: 2005, say: whole }),
  stage.slider("men, measured", { low: 980, high: 1030, value: 1001, say: whole }),
  stage.slider("women, measured", { low: 980, high: 1030, value: 995, say: whole }),
];
const epsilon = stage.slider("epsilon of the count of all", { low: 0.05, high: 2, value: 0.5, ratio: true });

stage.begin(() => {
  const values = measured.map((read) => read());
  const variances = [2 / epsilon() ** 2, 2 / 0.2 ** 2, 2 / 0.25 ** 2];
  const gap = values[0] - values[1] - values[2];
  const sum = variances.reduce((total, each) => total + each, 0);
  const moved = variances.map((variance, i) => (i ? 1 : -1) * ((gap * variance) / sum));
  stage.table(
    "Measured and reconciled",
    ["", "measured", "variance", "reconciled"],
    ["all", "men", "women"].map((name, i) => ({
      cells: [name, whole(values[i]), variances[i].toFixed(0), (values[i] + moved[i]).toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })],
    })),
  );
  stage.say(
    gap === 0
      ? "They agree as they stand."
      : `They contradict each other by ${whole(Math.abs(gap))} people. Each moves by its share of the variance: ${moved.map((each) => Math.abs(each).toFixed(1)).join(", ")}.`,
  );
});
