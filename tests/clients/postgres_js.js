// postgres.js, which describes each statement before it sends values.
const postgres = require("postgres");
const said = require("./node_said.js");
const { check, failed, ASK } = said;

const main = async () => {
  const sql = postgres({
    ...said.connection,
    max: 1,
    onnotice: () => {},
    connection: { "discreet.epsilon": said.EPSILON },
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  });
  const lists = (found) => found.map((row) => Object.values(row));
  const first = async (found) => Object.values((await found)[0])[0];
  const names = async (text) => (await sql.unsafe(text).describe()).columns.map((c) => c.name);
  const pages = async () => {
    let count = 0, total = 0;
    for await (const some of sql.unsafe(said.PAGES).cursor(50)) {
      count += some.length;
      total += some.reduce((sum, row) => sum + row.n, 0);
    }
    return [count, total];
  };

  await check("ask", async () => lists(await sql.unsafe(ASK)));
  await check("names", () => names(said.NAMES));
  await check("parameters", () => first(
    sql`SELECT COUNT(*) FROM people WHERE age > ${30} AND sex = ${"Male"} AND married = ${true}
        AND income < ${50000.5}`));
  await check("in", () => first(sql`SELECT COUNT(*) FROM people WHERE age IN ${sql([20, 21])}`));
  await check("array", () => first(sql`SELECT COUNT(*) FROM people WHERE age = ANY(${[20, 21]})`));
  await check("date", () => first(sql`SELECT COUNT(*) FROM people WHERE born > ${"1960-01-01"}`));
  await check("timestamp", () => first(
    sql`SELECT COUNT(*) FROM people WHERE born > ${new Date(Date.UTC(1960, 0, 1))}`));
  await check("boolean", () => first(sql`SELECT COUNT(*) FROM people WHERE married = ${true}`));
  await check("null", () => first(sql`SELECT COUNT(*) FROM people WHERE sex = ${null}`));
  await check("division", () => first(sql.unsafe(said.DIVISION)));
  await check("columns", () => names("SELECT * FROM people LIMIT 0"));
  await check("tables", async () => lists(await sql.unsafe(said.TABLES)).map((r) => r[0]).sort());
  await check("preview", async () => (await sql`SELECT * FROM preview.people`).length);
  const copied = async (options) =>
    said.gathered(await sql.unsafe(`COPY (${ASK}) TO STDOUT ${options}`).readable());
  await check("copy text", () => copied(""));
  await check("copy csv", () => copied("(FORMAT csv, HEADER)"));
  await check("pages", pages);
  await check("position", () => failed(() => sql.unsafe(said.WRONG), "position"));
  await check("refused", () => failed(() => sql.unsafe("SELECT * FROM people"), "code"));
  await check("budget", async () => lists(await sql.unsafe("SHOW discreet.budget")).map((r) => r[0]).sort());
  await sql.end({ timeout: 1 });
};
main();
