// A lesson's page: sliders over steps that were worked out beforehand, and answers sent to be graded.
import { call } from "../api.js";
import { byId, element, tried, whenSent } from "../dom.js";

function startSweep(place) {
  const [slider, output] = [place.querySelector("input"), place.querySelector("output")];
  const steps = [...place.querySelectorAll(".step")];
  const moved = () => {
    const at = Number(slider.value);
    steps.forEach((step, i) => {
      step.hidden = i !== at;
    });
    output.textContent = steps[at].dataset.label;
    slider.setAttribute("aria-valuetext", steps[at].dataset.label);
  };
  slider.addEventListener("input", moved);
  place.classList.add("moves");
  moved();
}

const solved = (lesson, question) => `course ${lesson} ${question}`;

function remember(key) {
  try {
    window.localStorage.setItem(key, "right");
  } catch {
    // A browser that keeps nothing still grades.
  }
}

function remembered(key) {
  try {
    return window.localStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}

function startQuestion(form, lesson) {
  const { question } = form.dataset;
  const [field, said, button] = [form.querySelector(".answer"), form.querySelector(".verdict"), form.querySelector("button")];
  if (remembered(solved(lesson, question))) form.classList.add("solved");
  whenSent(form, async () => {
    button.disabled = true;
    await tried(said, async () => {
      const found = await call("POST", `/course/${lesson}/grade`, { question, answer: field.value });
      said.replaceChildren(element("strong", {}, found.right ? "Right." : "Not yet."), ` ${found.words.replace(/^Yes[.:] ?/, "")}`);
      said.className = found.right ? "verdict right-answer" : "verdict";
      form.classList.toggle("solved", found.right);
      if (found.right) remember(solved(lesson, question));
    });
    button.disabled = false;
  });
}

for (const place of document.querySelectorAll(".sweep")) startSweep(place);
const { lesson } = byId("exercise").dataset;
for (const form of document.querySelectorAll("form.question")) startQuestion(form, lesson);
