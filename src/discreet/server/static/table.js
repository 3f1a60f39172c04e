// The answer as a table: numbers to the right, the noise beside each, the interval drawn in the row.
import { drawn, element } from "./dom.js";
import { digitsFor, fixed, noise, shown } from "./words.js";

const FIRST = 200;
const DRAWN_COLUMNS = 2;
const EDGE = 4;

// Where an interval lies on the shared scale of its column, in percent of the width.
function scaleOf(answer, column) {
  const ends = answer.intervals
    .map((row) => row[column])
    .concat(answer.rows.map((row) => (row[column] === null ? null : [row[column], row[column]])))
    .filter((pair) => pair !== null && pair !== undefined && pair.every(Number.isFinite));
  if (!ends.length) return null;
  const low = Math.min(...ends.map(([start]) => start));
  const high = Math.max(...ends.map(([, end]) => end));
  const width = high - low || 1;
  const place = (value) => EDGE + ((value - low) / width) * (100 - 2 * EDGE);
  return { low, high, place };
}

function intervalOf(value, ends, scale, name) {
  const words = ends?.includes(null)
    ? `${name}: the noise is unbounded`
    : ends
    ? `${name}: between ${shown(ends[0])} and ${shown(ends[1])} with 95%, as far as noise goes`
    : `${name}: the noise is not known`;
  const picture = drawn("svg", { class: "interval", role: "img", "aria-label": words });
  picture.append(drawn("title", {}, words));
  if (ends && ends.every(Number.isFinite)) {
    const [x1, x2] = ends.map((end) => `${scale.place(end)}%`);
    picture.append(drawn("line", { x1, x2, y1: 12, y2: 12 }));
    for (const x of [x1, x2]) picture.append(drawn("line", { x1: x, x2: x, y1: 8, y2: 16 }));
  }
  if (value !== null) picture.append(drawn("circle", { cx: `${scale.place(value)}%`, cy: 12, r: 3.5 }));
  return picture;
}

export function answerTable(answer) {
  const noisy = new Set(answer.noisy);
  const numeric = answer.columns.map((_, i) =>
    answer.rows.some((row) => row[i] !== null) &&
    answer.rows.every((row) => row[i] === null || typeof row[i] === "number"),
  );
  const digits = answer.columns.map((_, i) => digitsOf(answer, i));
  const written = (value, i) =>
    noisy.has(i) && typeof value === "number" ? fixed(value, digits[i]) : shown(value);
  const ranked = answer.columns.map((_, i) => (answer.ranks ?? []).some((row) => row[i]));
  const noiseOf = (size, i, ends) =>
    size === null && ends?.includes(null) ? "unbounded" :
    digits[i] > 0 && size !== null ? fixed(roundedUp(size, digits[i]), digits[i]) : noise(size);
  const scales = new Map(
    answer.noisy.slice(0, DRAWN_COLUMNS).flatMap((i) => {
      const scale = numeric[i] && !ranked[i] ? scaleOf(answer, i) : null;
      return scale && answer.rows.length > 0 ? [[i, scale]] : [];
    }),
  );
  const head = element("tr");
  answer.columns.forEach((name, i) => {
    head.append(element("th", { scope: "col", class: numeric[i] ? "right" : undefined }, name));
    if (noisy.has(i)) head.append(element("th", { scope: "col", class: "right" }, ranked[i] ? "error" : "noise ±"));
    if (scales.has(i)) head.append(scaleHead(name, scales.get(i), digits[i]));
  });
  const body = element("tbody");
  const row = (cells, index) => {
    const line = element("tr");
    cells.forEach((value, i) => {
      line.append(element("td", { class: numeric[i] ? "right" : undefined }, written(value, i)));
      if (noisy.has(i)) {
        const words = answer.ranks?.[index]?.[i]?.words ?? noiseOf(answer.error95[index][i], i, answer.intervals[index]?.[i]);
        line.append(element("td", { class: "right quiet" }, words));
      }
      if (scales.has(i)) {
        const picture = intervalOf(value, answer.intervals[index]?.[i], scales.get(i), answer.columns[i]);
        line.append(element("td", { class: "drawn" }, picture));
      }
    });
    return line;
  };
  body.append(...answer.rows.slice(0, FIRST).map(row));
  const caption = element("caption", { class: "unseen" }, "The private answer");
  const table = element("table", {}, caption, element("thead", {}, head), body);
  const rest = answer.rows.length - FIRST;
  const whole = element("div", { class: "wide" }, table);
  if (rest <= 0) return whole;
  const more = element("button", { type: "button", class: "plain" }, `Show ${shown(rest)} more rows`);
  more.addEventListener("click", () => {
    body.append(...answer.rows.slice(FIRST).map((cells, i) => row(cells, i + FIRST)));
    more.remove();
  });
  return element("div", {}, whole, more);
}

const roundedUp = (size, digits) => Math.ceil(size * 10 ** digits - 1e-9) / 10 ** digits;

// Whole numbers stay whole; others get the digits that their noise leaves meaning to.
function digitsOf(answer, column) {
  if (answer.rows.every((row) => row[column] === null || Number.isInteger(row[column]))) return 0;
  return digitsFor(answer.error95.map((row) => row[column]));
}

function scaleHead(name, scale, digits) {
  const [low, high] = [scale.low, scale.high].map((end) => fixed(end, digits));
  const ends = element("span", { class: "scale" }, element("span", {}, low), element("span", {}, high));
  return element("th", { scope: "col", class: "drawn" }, element("span", { class: "unseen" }, `${name}, drawn; from`), ends);
}

// Before anything is spent: the shape of the answer, with the noise that is already known.
export function previewTable(explanation, keyValues) {
  const errors = explanation.expected_error;
  const keys = explanation.columns.filter((name) => !(name in errors));
  const all = keys.length === 1 ? keyValues(keys[0]) : [];
  const values = all.slice(0, 4);
  const count = keys.length ? Math.max(values.length, 2) : 1;
  const head = element("tr");
  for (const name of explanation.columns) {
    head.append(element("th", { scope: "col", class: name in errors ? "right" : undefined }, name));
    if (name in errors) head.append(element("th", { scope: "col", class: "right" }, "noise ±"));
  }
  const body = element("tbody");
  for (let i = 0; i < count; i += 1) {
    const line = element("tr");
    for (const name of explanation.columns) {
      const known = name in errors ? "?" : values[i] ?? "…";
      line.append(element("td", { class: name in errors ? "right" : undefined }, shown(known)));
      if (!(name in errors)) continue;
      line.append(element("td", { class: "right" }, errors[name] === null ? "afterwards" : noise(errors[name])));
    }
    body.append(line);
  }
  const complete = all.length > 0 && all.length === values.length;
  const more = keys.length && !complete ? element("p", { class: "quiet small" }, "…") : null;
  const caption = element("caption", { class: "quiet small" }, "What you will get");
  return element("div", { class: "wide" }, element("table", {}, caption, element("thead", {}, head), body), more);
}
