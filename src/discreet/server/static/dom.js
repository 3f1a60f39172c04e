// Building elements. Text always goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null));
  return node;
}

// Do `act` when a form is sent, instead of sending it.
export function whenSent(form, act) {
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    act();
  });
}

// The first press asks, by other words on the button; the second does it.
export function whenSure(button, words, act, asked = () => {}) {
  button.addEventListener("click", () => {
    if (button.dataset.sure) return act();
    button.dataset.sure = "yes";
    button.textContent = words;
    return asked();
  });
}

// Do what was asked for; what goes wrong is said at `place`. Returns whether it went well.
export async function tried(place, work) {
  try {
    await work();
    return true;
  } catch (problem) {
    sayProblem(place, problem);
    return false;
  }
}

// Say what went wrong at the place where it went wrong; no problem clears the place.
export function sayProblem(place, problem, { word = "Not done.", kind = "wrong" } = {}) {
  if (!problem) {
    place.replaceChildren();
    return;
  }
  const text = [problem.message, problem.hint].filter(Boolean).join(" ");
  place.replaceChildren(element("p", { class: kind }, element("strong", {}, word), ` ${text}`));
}
