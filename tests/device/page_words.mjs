// Reads {words, asked} on standard input; prints what pages say that each of them promises, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { words, asked } = JSON.parse(readFileSync(0, "utf8"));
const { atMost, evenAtMost, promiseWords } = await import(pathToFileURL(words));

const said = ([epsilon, neighbours, delta]) => [promiseWords(epsilon, neighbours, delta), atMost(evenAtMost(epsilon))];
console.log(JSON.stringify(asked.map(said)));
