// A survey watched while reports come in: asked every two seconds, slower when the page is not looked at.
import { call } from "../api.js";

const EVERY = 2_000;
const HIDDEN = 30_000;

export function watch(name, shown, failed) {
  const look = async () => {
    let closed = false;
    try {
      const found = await call("GET", `/surveys/${encodeURIComponent(name)}`);
      shown(found);
      closed = found.closed;
    } catch (problem) {
      failed(problem);
    }
    setTimeout(look, document.hidden || closed ? HIDDEN : EVERY);
  };
  document.addEventListener("visibilitychange", () => !document.hidden && once(name, shown, failed));
  return look();
}

async function once(name, shown, failed) {
  try {
    shown(await call("GET", `/surveys/${encodeURIComponent(name)}`));
  } catch (problem) {
    failed(problem);
  }
}

// The estimates of a question as lines: what, value, low, high, and the ends of the scale they are drawn on.
export function linesOf(question, lower = 0, upper = 1) {
  if (question.mean) return [{ what: "mean", ...question.mean, lower: null, upper: null, share: false }];
  return Object.entries(question.estimates ?? {}).map(([what, each]) => ({ what, ...each, lower, upper, share: true }));
}

// A number with as many digits as its interval leaves meaning.
export function written(value, line) {
  if (value === null || value === undefined) return "–";
  if (line.share) return `${Math.round(100 * value)}%`;
  const width = line.high - line.low;
  const digits = width > 0 ? Math.min(4, Math.max(0, 1 - Math.floor(Math.log10(width)))) : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

export function noiseOf(line) {
  if (line.value === null) return "";
  const reach = Math.max(line.high - line.value, line.value - line.low);
  return line.share ? String(Math.ceil(100 * reach)) : written(reach, line);
}
