// "how": who was protected, by what, and what ran. And the answer to take away.
import { element } from "./dom.js";
import { amount } from "./words.js";

const PROOFS = [
  [/Laplace/, "0002", "exact additive noise"],
  [/Gaussian/, "0009", "calibration of the discrete Gaussian"],
  [/exponential|permute-and-flip/, "0004", "exact selection"],
  [/groups appear/, "0005", "thresholds"],
  [/rows? of each unit/, "0016", "regions and bounding"],
];

export function howPanel(answer) {
  const { provenance: from, cost } = answer;
  const facts = [
    ["Protects", from.unit],
    ["Price", answer.free ? "free" : `ε ${amount(cost.epsilon)}${cost.delta ? `, δ ${cost.delta}` : ""}`],
    ["Noise", from.mechanisms.length ? mechanisms(from.mechanisms) : "none was needed"],
    ["Bill", element("span", {}, "that of the person hit worst by all questions together · ", noteLink("0010", "the worst-hit person"))],
    ["Data set", `${from.dataset}, snapshot ${from.snapshot}`],
    ["Request", answer.request_id],
    ...from.notes.map((note) => ["Note", note]),
  ];
  const list = element("dl", { class: "facts" });
  for (const [name, words] of facts) list.append(element("dt", {}, name), element("dd", {}, words));
  const panel = element("div", {}, list);
  if (!from.private) panel.prepend(element("p", { class: "care" }, element("strong", {}, "Not private."), " A seeded generator drew this noise; it is for tests only."));
  panel.append(element("p", { class: "quiet small" }, "What ran inside, bounded, before noise was added. Your own text never reached the database."));
  panel.append(...from.sql.map((sql) => element("pre", { tabindex: "0" }, sql)));
  return panel;
}

const noteLink = (number, title) => element("a", { href: `/notes/${number}`, title }, `proof: note ${number}`);

// Each mechanism beside the note that proves it.
function mechanisms(lines) {
  const items = lines.map((line) => {
    const found = PROOFS.find(([words]) => words.test(line));
    return element("li", {}, line, ...(found ? [" · ", noteLink(found[1], found[2])] : []));
  });
  return element("ul", {}, ...items);
}

export function downloadPanel(answer, question) {
  const snippet = pythonOf(question);
  const copy = element("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(snippet);
    copy.textContent = "Copied";
  });
  const save = (name, kind, text) =>
    element("button", { type: "button", click: () => download(`answer.${name}`, kind, text()) }, name.toUpperCase());
  return element(
    "div",
    {},
    element(
      "div",
      { class: "row" },
      save("csv", "text/csv", () => csvOf(answer)),
      save("json", "application/json", () => JSON.stringify(answer, null, 2)),
      stored(answer, question, "parquet", "Parquet"),
      stored(answer, question, "ipynb", "Notebook (.ipynb)"),
    ),
    element("h3", {}, "Python"),
    element("pre", { tabindex: "0" }, snippet),
    copy,
  );
}

// What the server writes from the stored answer: free, as often as wanted.
function stored(answer, { analyst }, ending, words) {
  const named = analyst ? `?${new URLSearchParams({ analyst })}` : "";
  const href = `/api/v1/answers/${encodeURIComponent(answer.request_id)}/answer.${ending}${named}`;
  return element("a", { class: "button", href, download: `answer.${ending}` }, words);
}

export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// Spreadsheets run text that begins like a formula; an apostrophe keeps it text.
const harmless = (cell) => (typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell ?? "");
const quoted = (cell) => {
  const text = String(harmless(cell));
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export function csvOf(answer) {
  const noisy = new Set(answer.noisy);
  const mark = answer.watermark ? [answer.watermark] : []; // in every row, so that no cut loses it
  const head = answer.columns.flatMap((name, i) => (noisy.has(i) ? [name, `${name} ±`] : [name]));
  const lines = answer.rows.map((row, r) => [
    ...row.flatMap((cell, i) => (noisy.has(i) ? [cell, answer.ranks?.[r]?.[i]?.words ?? answer.error95[r][i]] : [cell])),
    ...mark,
  ]);
  if (mark.length) head.push("watermark");
  return [head, ...lines].map((line) => line.map(quoted).join(",")).join("\n") + "\n";
}

export function pythonOf({ sql, epsilon }) {
  const text = sql.includes('"""') ? JSON.stringify(sql) : `"""\n${sql.replaceAll("\\", "\\\\")}\n"""`;
  return `import discreet

client = discreet.connect("${window.location.origin}", token="dsc_...")
answer = client.query(${text}, epsilon="${epsilon}")
print(answer)          # answer.to_pandas(), answer.error95, answer.plot()
`;
}
