// Reads {words, asked} on standard input; prints what pages say that each of them promises, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { words, asked, sizes = [] } = JSON.parse(readFileSync(0, "utf8"));
const { atMost, evenAtMost, noise, promiseWords, promiseTyped } = await import(pathToFileURL(words));

const said = ([epsilon, neighbours, delta]) => [promiseWords(epsilon, neighbours, delta), atMost(evenAtMost(epsilon))];
const typed = ([epsilon, neighbours, delta]) => promiseTyped(epsilon, { dataset: { neighbours, delta: String(delta) } });
console.log(JSON.stringify(sizes.length ? [sizes.map((size) => noise(size)), asked.map(typed)] : asked.map(said)));
