// An honest auditor of four secret bits: it refuses what would fix a bit, and its refusals tell.
import { Stage } from "/static/course/kit.js";
import { drawn, element } from "/static/dom.js";

const NAMES = ["Ann", "Ben", "Cem", "Dee"];
const PAIRS = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
const TABLES = Array.from({ length: 16 }, (_, code) => NAMES.map((_name, i) => (code >> i) & 1));

const count = (table, pair) => pair.reduce((sum, i) => sum + table[i], 0);
// What the auditor says if this table is the truth: a count of 1 fixes neither bit, 0 and 2 fix both.
const reply = (table, pair) => (count(table, pair) === 1 ? "1" : "refused");

const stage = new Stage("", { caption: "Every possible table of four bits; those ruled out by replies, and by refusals, are faint.", viewBox: "0 0 640 270" });
let secret;
let asked;
const buttons = PAIRS.map((pair) => element("button", { type: "button", click: () => ask(pair) }, pair.map((i) => NAMES[i]).join(" + ")));
stage.words.before(element("div", { class: "row" }, ...buttons));
stage.button("New secrets", start);
stage.svg.classList.add("worlds");

function start() {
  secret = TABLES[Math.floor(Math.random() * TABLES.length)];
  asked = [];
  buttons.forEach((button) => {
    button.disabled = false;
  });
  draw();
}

function ask(pair) {
  asked.push(pair);
  buttons[PAIRS.indexOf(pair)].disabled = true;
  draw();
}

function possible(table) {
  return asked.every((pair) => reply(table, pair) === reply(secret, pair));
}

function draw() {
  const left = TABLES.filter(possible);
  stage.svg.replaceChildren(
    ...TABLES.map((table, i) =>
      drawn("text", { class: possible(table) ? "strong" : "gone", x: (i % 4) * 160 + 80, y: 50 + Math.floor(i / 4) * 60, "text-anchor": "middle" }, table.join(" ")),
    ),
  );
  const told = asked.map((pair) => `${pair.map((i) => NAMES[i]).join(" + ")}: ${reply(secret, pair)}`);
  const most = Math.max(...NAMES.map((_, i) => Math.max(left.filter((t) => t[i]).length, left.filter((t) => !t[i]).length)));
  const ending = left.length === 2 ? " Two are left, mirrors of each other: one more fact about anybody tells all four." : "";
  stage.say(
    `${asked.length ? `${told.join("; ")}. ` : "Ask about a pair. "}${left.length} of 16 tables are possible.${ending}` +
      (most === left.length && asked.length ? " Somebody's bit is known." : ""),
  );
}

start();
