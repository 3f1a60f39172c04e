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

const menus = [...document.querySelectorAll(".pops")];
document.addEventListener("click", (event) => {
  for (const menu of menus) if (menu.open && !menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  const menu = menus.find(({ open }) => open);
  if (event.key !== "Escape" || !menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// What scrolls sideways can be scrolled by the keyboard, too; what fits is no stop on the way.
function reachable() {
  for (const part of document.querySelectorAll(".wide, pre, .chart, .catalog")) {
    const scrolls = part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
    if (scrolls) part.tabIndex = 0;
    else if (part.tabIndex === 0) part.removeAttribute("tabindex");
  }
}
const main = document.querySelector("main");
new ResizeObserver(reachable).observe(main);
new MutationObserver(reachable).observe(main, { childList: true, subtree: true });
reachable();
