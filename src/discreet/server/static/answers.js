// Answers stay: each has an address, so that reload, back and the history open it again, free.
import { call } from "./api.js";
import { byId, element } from "./dom.js";

const ADDRESS = "/ask";

export const answerId = () => new URLSearchParams(window.location.search).get("answer");

const payerNamed = () => new URLSearchParams(window.location.search).get("analyst");

// Put an answer into the address; the question before it stays one step back.
export function remember(answer, analyst) {
  if (answerId() === answer.request_id) return;
  const named = analyst ? { analyst } : {};
  const words = new URLSearchParams({ answer: answer.request_id, ...named });
  window.history.pushState(null, "", `${ADDRESS}?${words}`);
}

// What is being written is no longer the answer that the address names.
export function leaveAddress() {
  if (answerId()) window.history.pushState(null, "", ADDRESS);
}

// The answer that the address names, with its question; null where it names none.
export async function addressed() {
  const id = answerId();
  return id ? stored(id, payerNamed()) : null;
}

export async function stored(id, analyst) {
  const named = analyst ? `?${new URLSearchParams({ analyst })}` : "";
  const found = await call("GET", `/answers/${encodeURIComponent(id)}${named}`);
  const { sql, epsilon, time } = found.question;
  const asked = { sql, epsilon: epsilon === null ? "" : String(epsilon), ...(analyst ? { analyst } : {}) };
  return { answer: found, asked, paid: time.slice(0, 10) };
}

// When nothing is left: what was paid for and can be read again.
export async function showFree(open) {
  const { answers, unread } = await call("GET", "/answers").catch(() => ({ answers: [], unread: true }));
  const { copies } = await call("GET", "/synth").catch(() => ({ copies: [] }));
  const seen = new Map(answers.filter(({ sql }) => /^\s*(select|with)\b/i.test(sql ?? "")).map((paid) => [paid.sql, paid]));
  const list = byId("free-list");
  list.replaceChildren(
    ...copies.slice(0, 6).map(({ id, table, method, epsilon }) =>
      element("li", { class: "copy" }, element("a", { href: `/synthesize/${id}` }, `Synthetic copy of ${table}`), ` (${method}, ε ${epsilon})`)),
    ...[...seen.values()].slice(0, 12).map((paid) =>
      element("li", {}, element("button", { type: "button", click: () => open(paid.request_id) }, paid.sql.replace(/\s+/g, " ")))),
  );
  if (!seen.size && !copies.length) list.replaceChildren(element("li", { class: "quiet" }, unread ? "The list of answers cannot be read now." : "Nothing was paid for yet."));
  byId("free").hidden = false;
}
