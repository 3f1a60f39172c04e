// Reads {document, snippet} on standard input and runs the README's own example as an installed package
// would run, on a network of our own; prints what left, and what happens when the network fails.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { folder, document, lie, snippet } = JSON.parse(readFileSync(0, "utf8"));
const log = [];
let answers = [];

function store() {
  const kept = new Map();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, text) => kept.set(name, text),
    removeItem: (name) => kept.delete(name),
    kept,
  };
}

function network(text) {
  return async (address, options = {}) => {
    const body = options.body ? Buffer.from(options.body).toString("hex") : null;
    log.push({ address, method: options.method ?? "GET", body, headers: options.headers ?? {}, credentials: options.credentials });
    if (!options.body) return new Response(text);
    const status = answers.shift();
    if (!status) throw new TypeError("no network");
    return new Response("{}", { status });
  };
}

globalThis.localStorage = store();
globalThis.fetch = network(document);
const script = `${folder}/app.mjs`;
writeFileSync(script, snippet);
answers = [200];
await import(pathToFileURL(script));
const example = { kept: [...localStorage.kept.values()], log: log.splice(0) };

writeFileSync(`${folder}/embed.mjs`, 'export * from "discreet-survey-device/embed";\nexport * from "discreet-survey-device";\n');
const { BrokenPromise, NotTaken, openSurvey } = await import(pathToFileURL(`${folder}/embed.mjs`));
const said = (error) => (error instanceof NotTaken ? "not taken" : error instanceof BrokenPromise ? "broken" : error.message);

async function outcomes(statuses) {
  answers = statuses;
  const survey = await openSurvey("/here", { storage: store(), fetch: network(document) });
  const shown = await survey.preview({ smokes: "yes" });
  const found = [await survey.send({ smokes: "yes" }, shown).catch(said)];
  while (answers.length) found.push(await survey.sendPending().catch(said));
  found.push(await survey.sendPending());
  const again = await survey.preview({ smokes: "yes" });
  survey.someoneElse();
  const other = Boolean(await survey.preview({ smokes: "no" }));
  await survey.forget();
  return { found, again, other, answered: survey.answered, bodies: log.splice(0).map((each) => each.body).filter(Boolean) };
}

const failing = await outcomes([0, 503, 200]);
const closed = await outcomes([409]);
const missing = await openSurvey("/none", { fetch: async () => new Response("", { status: 404 }) }).catch(said);
log.splice(0);
const broken = await openSurvey("/lie", { storage: store(), fetch: network(lie) }).catch(said);
console.log(JSON.stringify({ example, failing, closed, missing, broken, afterLie: log.map((each) => each.method) }));
