// What is pressed or chosen before the page's modules have run waits for them, and is not lost.
// No module: it runs at once. The modules have run when DOMContentLoaded is told.
{
  const early = [];
  const keep = (event) => {
    const button = event.type === "click" ? event.target.closest("button") : null;
    if (button) {
      event.preventDefault();
      event.stopImmediatePropagation();
      early.push(() => button.click());
    } else if (event.type !== "click") {
      early.push(() => event.target.dispatchEvent(new Event(event.type, { bubbles: true })));
    }
  };
  const kinds = ["click", "input", "change"];
  for (const kind of kinds) document.addEventListener(kind, keep, true);
  document.addEventListener("DOMContentLoaded", () => {
    for (const kind of kinds) document.removeEventListener(kind, keep, true);
    for (const again of early) again();
  });
}
