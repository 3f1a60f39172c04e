// Four questions and four kinds of people: who pays what.
import { Stage } from "/static/course/kit.js";

const stage = new Stage("");
const say = (value) => value.toFixed(2);
const price = (label, value) => stage.slider(label, { low: 0, high: 0.8, step: 0.05, value, say });
const everybody = price("How many people", 0.5);
const men = price("How many men", 0.2);
const women = price("How many women", 0.25);
const older = price("How many over 20", 0.25);

stage.begin(() => {
  const people = [
    { name: "women over 20", pays: [everybody(), women(), older()] },
    { name: "women up to 20", pays: [everybody(), women()] },
    { name: "men over 20", pays: [everybody(), men(), older()] },
    { name: "men up to 20", pays: [everybody(), men()] },
  ].map(({ name, pays }) => ({ name, pays, total: pays.reduce((sum, each) => sum + each, 0) }));
  const worst = Math.max(...people.map(({ total }) => total));
  stage.table(
    "What each kind of person pays",
    ["", "questions", "pays"],
    people.map(({ name, pays, total }) => ({
      cells: [name, pays.map(say).join(" + "), say(total) + (total === worst ? " ◂" : "")],
      strong: total === worst,
    })),
  );
  const sum = everybody() + men() + women() + older();
  const hit = people.filter(({ total }) => total === worst).map(({ name }) => name);
  stage.say(`The sum of all prices is ${say(sum)}. The bill is ${say(worst)}, that of ${hit.join(" and ")}: nobody is asked about more.`);
});
