// SQL as the editor sees it: pieces of text with a kind, so that they can be painted and completed.

const KEYWORDS = new Set(
  ("select from where group by having order limit as and or not in is null between like case when then else end join left inner on using " +
    "with distinct asc desc true false cast exists interval date filter qualify").split(" "),
);
const FUNCTIONS = new Set(
  "count sum avg min max median quantile variance stddev var_pop var_samp stddev_pop stddev_samp coalesce nullif round floor ceil abs greatest least year month day lower upper extract".split(" "),
);
const PIECE = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$))|("(?:[^"]|"")*(?:"|$))|(\d+(?:\.\d+)?(?:e[+-]?\d+)?)|([\p{L}_][\p{L}\p{N}_]*)|(\s+|.)/giu;

export const keywords = [...KEYWORDS].map((word) => word.toUpperCase());
export const functions = [...FUNCTIONS].map((word) => word.toUpperCase());

// All pieces in their order: {text, kind, start, end}.
export function pieces(sql) {
  return [...sql.matchAll(PIECE)].map((found) => {
    const [text, comment, string, name, number, word] = found;
    const kind = comment ? "comment" : string ? "string" : name ? "name" : number ? "number" : word ? wordKind(word, sql, found.index) : "";
    return { text, kind, start: found.index, end: found.index + text.length };
  });
}

function wordKind(word, sql, start) {
  const small = word.toLowerCase();
  if (FUNCTIONS.has(small) && /^\s*\(/.test(sql.slice(start + word.length))) return "function";
  return KEYWORDS.has(small) ? "keyword" : "word";
}

// A name as SQL can read it: odd ones and keywords in double quotes.
export function quoted(name) {
  const plain = /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !KEYWORDS.has(name.toLowerCase());
  return plain ? name : `"${name.replaceAll('"', '""')}"`;
}

// A name in a question without the quotes it may stand in.
export const bare = (text) => (text.startsWith('"') ? text.slice(1, text.endsWith('"') ? -1 : undefined).replaceAll('""', '"') : text);

// Where a problem is: the line and column that it names, or the first name in quotes that stands in the text.
export function placeOf(sql, message) {
  const said = /line (\d+), column (\d+)/.exec(message);
  if (said) return atLine(sql, Number(said[1]), Number(said[2]));
  const all = pieces(sql).filter(({ kind }) => kind && kind !== "comment");
  for (const [, name] of message.matchAll(/'([^']+)'/g)) {
    const wanted = name.split(".").at(-1).toLowerCase();
    const found = all.find(({ text }) => bare(text).toLowerCase() === wanted || text.toLowerCase() === name.toLowerCase());
    if (found) return { start: found.start, end: found.end };
  }
  return functionNamed(all, message);
}

// Refusals name constructs in capitals: TABLESAMPLE, EXISTS, a function.
function functionNamed(all, message) {
  for (const [word] of message.matchAll(/\b[A-Z_]{3,}\b/g)) {
    const found = all.find(({ text, kind }) => text.toUpperCase() === word && kind !== "string");
    if (found && !["SQL", "NULL"].includes(word)) return { start: found.start, end: found.end };
  }
  return null;
}

// The parser counts to the end of the word that it did not expect.
function atLine(sql, line, column) {
  const before = sql.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  const at = Math.min(before + column, sql.length);
  const found = pieces(sql).find(({ start, end, kind, text }) => kind !== "" || text.trim() ? start < at && at <= end : false);
  return found ? { start: found.start, end: found.end } : { start: Math.max(0, at - 1), end: at };
}
