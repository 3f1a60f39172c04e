// node-postgres, with its cursors and COPY streams.
const { Client, types } = require("pg");
const Cursor = require("pg-cursor");
const { to } = require("pg-copy-streams");
const said = require("./node_said.js");
const { check, failed, ASK } = said;

types.setTypeParser(20, Number); // counts fit

const main = async () => {
  const client = new Client({ ...said.connection, options: `-c discreet.epsilon=${said.EPSILON}` });
  await client.connect();
  const rows = async (text, values) =>
    (await client.query({ text, values, rowMode: "array" })).rows;
  const one = async (where, ...values) =>
    (await rows(`SELECT COUNT(*) FROM people WHERE ${where}`, values))[0][0];
  const names = async (text) => (await client.query(text)).fields.map((field) => field.name);
  const copied = (options) => said.gathered(client.query(to(`COPY (${ASK}) TO STDOUT ${options}`)));
  const pages = async () => {
    const cursor = client.query(new Cursor(said.PAGES));
    let count = 0, total = 0, some = [];
    while ((some = await cursor.read(50)).length) {
      count += some.length;
      total += some.reduce((sum, row) => sum + row.n, 0);
    }
    return [count, total];
  };

  await check("ask", () => rows(ASK));
  await check("names", () => names(said.NAMES));
  const where = "age > $1 AND sex = $2 AND married = $3 AND income < $4";
  await check("parameters", () => one(where, 30, "Male", true, 50000.5));
  await check("in", () => one("age IN($1,$2)", 20, 21));
  await check("array", () => one("age = ANY($1)", [20, 21]));
  await check("date", () => one("born > $1", "1960-01-01"));
  await check("timestamp", () => one("born > $1", said.DAY));
  await check("boolean", () => one("married = $1", true));
  await check("null", () => one("sex = $1", null));
  await check("division", async () => (await rows(said.DIVISION))[0][0]);
  await check("columns", () => names("SELECT * FROM people LIMIT 0"));
  await check("tables", async () => (await rows(said.TABLES)).map((row) => row[0]).sort());
  await check("preview", async () => (await rows("SELECT * FROM preview.people")).length);
  await check("copy text", () => copied(""));
  await check("copy csv", () => copied("(FORMAT csv, HEADER)"));
  await check("pages", pages);
  await check("position", () => failed(() => rows(said.WRONG), "position"));
  await check("refused", () => failed(() => rows("SELECT * FROM people"), "code"));
  await check("budget", async () => (await rows("SHOW discreet.budget")).map((row) => row[0]).sort());
  await client.end();
};
main();
