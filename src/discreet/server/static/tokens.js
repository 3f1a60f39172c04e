// Tokens, for the owner: make one, see it once, revoke any.
import { call } from "./api.js";
import { byId, element, tried, whenSent } from "./dom.js";

const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

async function list() {
  const { tokens } = await call("GET", "/tokens");
  const rows = tokens
    .filter(({ valid }) => valid)
    .map((token) => {
      const revoke = async () => {
        await call("DELETE", `/tokens/${token.id}`);
        list();
      };
      const who = token.analyst ?? (token.label || token.role);
      const button = element("button", { type: "button", class: "plain", click: revoke, "aria-label": `Revoke the token of ${who}` }, "Revoke");
      return element("tr", {}, element("td", {}, who), element("td", {}, token.role), element("td", {}, day(token.created)), element("td", {}, token.expires ? day(token.expires) : "it is revoked"), element("td", {}, button));
    });
  byId("token-list").hidden = rows.length === 0;
  byId("token-list").querySelector("tbody").replaceChildren(...rows);
}

async function make() {
  const [role, analyst] = byId("token-for").value.split(/:(.*)/s);
  const days = Number(byId("token-days").value);
  const wanted = { role, ...(analyst ? { analyst } : {}), ...(days > 0 ? { expires_days: days } : {}) };
  await tried(byId("token-shown"), async () => {
    const { token } = await call("POST", "/tokens", wanted);
    const words = "Copy it now; it is not shown again.";
    byId("token-shown").replaceChildren(element("div", { class: "shown-once" }, element("pre", { tabindex: "0" }, token), element("p", { class: "quiet small" }, words)));
    await list();
  });
}

export function startTokens() {
  whenSent(byId("new-token"), make);
  tried(byId("token-shown"), list);
}
