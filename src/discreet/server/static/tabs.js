// Tabs as the authoring practices describe them: arrows move, one stop in the tab order.

export function makeTabs(list, opened) {
  const tabs = [...list.querySelectorAll('[role="tab"]')];
  const open = (tab, { focus = false } = {}) => {
    for (const other of tabs) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
    opened(tab.id.replace("tab-", ""));
  };
  list.addEventListener("click", (event) => {
    const tab = event.target.closest('[role="tab"]');
    if (tab) open(tab);
  });
  list.addEventListener("keydown", (event) => {
    const here = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (here < 0 || to === undefined) return;
    event.preventDefault();
    open(tabs[(to + tabs.length) % tabs.length], { focus: true });
  });
  return { open: (name) => open(tabs.find((tab) => tab.id === `tab-${name}`)) };
}
