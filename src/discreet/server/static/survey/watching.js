// A survey watched while reports come in: asked every two seconds, slower when the page is not looked at.
import { call } from "../api.js";

const EVERY = 2_000;
const HIDDEN = 30_000;

// `wishes` returns what else is wanted (words of open questions), or null.
export function watch(name, shown, failed, wishes = () => null) {
  const look = async () => {
    let closed = false;
    try {
      const found = await estimates(name, wishes());
      shown(found);
      closed = found.closed;
    } catch (problem) {
      failed(problem);
    }
    setTimeout(look, document.hidden || closed ? HIDDEN : EVERY);
  };
  return look();
}

export function estimates(name, wishes) {
  const path = `/surveys/${encodeURIComponent(name)}`;
  return wishes ? call("POST", `${path}/estimate`, { ...wishes, consistent: true }) : call("GET", path);
}

// The estimates of a question as lines: what, value, low, high, and the bounds that all of them lie in.
// An interval within the bounds holds the share among the respondents as often as the whole one does.
export function linesOf(question) {
  if (question.mean) return [line("mean", question.mean, question.lower, question.upper, false)];
  return Object.entries(question.estimates ?? {}).map(([what, each]) => line(what, each, 0, 1, true));
}

function line(what, { value, low, high }, lower, upper, share) {
  const within = (number) => (number === null ? null : Math.min(Math.max(number, lower), upper));
  return { what, value: within(value), low: within(low), high: within(high), lower, upper, share };
}

// Whether nothing is known yet: the interval is all there is.
export const isOpen = ({ value, low, high, lower, upper }) => value === null || (low <= lower && high >= upper);

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
