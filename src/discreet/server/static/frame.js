// What every page has: the switch between light and dark, and a menu that closes.
import { byId } from "./dom.js";

const button = byId("theme");
const root = document.documentElement;
const dark = () =>
  root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;

function describe() {
  const other = dark() ? "light" : "dark";
  button.title = `Switch to ${other}`;
  button.setAttribute("aria-label", `Switch to ${other}`);
}

button.hidden = false;
describe();
button.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  const year = 365 * 24 * 3600;
  document.cookie = `discreet_theme=${root.dataset.theme}; path=/; max-age=${year}; samesite=strict`;
  describe();
  document.dispatchEvent(new CustomEvent("themechange"));
});

const menu = document.querySelector(".me");
document.addEventListener("click", (event) => {
  if (menu?.open && !menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && menu?.open) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
