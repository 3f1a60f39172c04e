// Guess how far one person moves an answer; then see what the planner says.
import { Stage, facts } from "/static/course/kit.js";
import { element } from "/static/dom.js";

const { statements } = await facts("sensitivity");
const stage = new Stage("");
const which = stage.choice("Statement", statements.map((_, i) => `${i + 1} of ${statements.length}`));
const guess = stage.number("Your guess: one person moves it by at most");
const text = element("pre", {});
stage.side.append(text);
const look = () => {
  const { moves, why, plan } = statements[which()];
  const given = Number(guess.value.replaceAll(",", ""));
  const right = guess.value.trim() !== "" && given === moves;
  const start = right ? "Right" : `It is ${moves.toLocaleString("en")}`;
  stage.say(`${start}. ${why} The planner, at epsilon 1: ${plan}.`);
};
stage.button("Look", look);
guess.addEventListener("keydown", (event) => {
  if (event.key === "Enter") look();
});
stage.begin(() => {
  text.textContent = statements[which()].sql;
  guess.value = "";
  stage.say("Guess first.");
});
