// The strip above a form: what is left of the budget, in words and as a bar.

import { byId } from "./dom.js";
import { amount } from "./words.js";

export function sayLeft(spent, limit) {
  const left = Math.max(0, limit - spent);
  byId("left").textContent = `${amount(left)} of ${amount(limit)} left`;
  document.querySelector("#strip .gauge .left").setAttribute("width", `${limit ? (100 * left) / limit : 0}%`);
}
