// What both node programs share: saying what a check got, and the questions that everybody asks.
const check = async (name, ask) => {
  try {
    console.log(JSON.stringify({ check: name, got: await ask() }));
  } catch (error) {
    console.log(JSON.stringify({ check: name, error: String(error.message).slice(0, 500) }));
  }
};

const failed = async (ask, part) => {
  try {
    await ask();
  } catch (error) {
    return error[part];
  }
};

const gathered = async (stream) => {
  let found = "";
  for await (const piece of stream) found += piece;
  return found;
};

module.exports = {
  check,
  failed,
  gathered,
  EPSILON: process.env.DISCREET_EPSILON,
  TABLES: "SELECT table_name FROM information_schema.tables WHERE table_schema <> 'preview'",
  ASK: "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY sex",
  NAMES: "SELECT COUNT(*), AVG(age) FROM people",
  DIVISION: "SELECT SUM(age) / COUNT(*) AS whole FROM people",
  PAGES: "SELECT age, COUNT(*) AS n FROM people GROUP BY age",
  WRONG: "SELECT sex, COUNT(*) FORM people",
  DAY: new Date(1960, 0, 1),
  connection: {
    host: process.env.PGHOST,
    port: Number(process.env.PGPORT),
    user: process.env.PGUSER,
    password: process.env.PGPASSWORD,
    database: "discreet",
    ssl: { rejectUnauthorized: false },
  },
};
