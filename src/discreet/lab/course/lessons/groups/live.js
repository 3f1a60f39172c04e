// One person's epsilon, as a family's.
import { Stage, bars } from "/static/course/kit.js";
import { percent } from "/static/words.js";

const stage = new Stage("", { caption: "What somebody can believe at most who thought it an even chance that this person, or this whole group, takes part." });
const size = stage.slider("epsilon of the answer", { low: 0.01, high: 2, value: 0.1, ratio: true });
const family = stage.slider("people in the group", { low: 1, high: 100, value: 4 });

const belief = (epsilon) => 1 / (1 + Math.exp(-epsilon));
const times = (value) => (value < 1000 ? value.toFixed(2) : value.toExponential(1));

stage.begin(() => {
  const [epsilon, people] = [size(), family()];
  const whole = epsilon * people;
  bars(
    stage.svg,
    [
      { name: "before", value: 0.5, text: "50%", quiet: true },
      { name: "one person", value: belief(epsilon), text: percent(belief(epsilon), 1) },
      { name: `group of ${people}`, value: belief(whole), text: percent(belief(whole), 1) },
    ],
    { of: 1 },
  );
  stage.say(
    `For one person the odds change by at most ${times(Math.exp(epsilon))} times, for ${people} people by ` +
      `e^${whole.toFixed(2)}: ${times(Math.exp(whole))} times, compared with none of them taking part.`,
  );
});
