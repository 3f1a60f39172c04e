// The answer as a chart: points with intervals, drawn by Vega-Lite from our own origin.
import { element, sayProblem } from "./dom.js";
import { shown } from "./words.js";

const MOST = 400;
let library;

// A script element, not import(): the bundle names its function on window.
export function loadLibrary() {
  library ??= new Promise((resolve, reject) => {
    const script = element("script", { type: "module", src: "/static/charts.js" });
    script.addEventListener("load", () => resolve(window.vegaEmbed));
    script.addEventListener("error", () => {
      library = undefined;
      reject(new Error("The chart library could not be loaded."));
    });
    document.head.append(script);
  });
  return library;
}

const colour = (name) => {
  const probe = element("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

function pointsOf(answer, column, keys) {
  return answer.rows.slice(0, MOST).flatMap((row, i) => {
    if (row[column] === null) return [];
    const [low, high] = answer.intervals[i]?.[column] ?? [row[column], row[column]];
    const key = keys.map((k) => shown(row[k])).join(", ") || answer.columns[column];
    return [{ key, value: row[column], low: low ?? row[column], high: high ?? row[column] }];
  });
}

function specOf(answer, column, width) {
  const keys = answer.columns.map((_, i) => i).filter((i) => i < answer.keys);
  const ink = colour("ink");
  const quiet = colour("quiet");
  const font = getComputedStyle(document.body).fontFamily;
  const y = { field: "key", type: "nominal", sort: null, title: null };
  const x = { type: "quantitative", title: `${answer.columns[column]} (noise ±, 95%)`, scale: { zero: false, nice: true } };
  const axis = { labelColor: ink, titleColor: quiet, gridColor: colour("rule"), domainColor: quiet, tickColor: quiet, labelFont: font, titleFont: font, labelFontSize: 13, titleFontSize: 13, titleFontWeight: "normal", labelLimit: 140 };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    background: null,
    ...(answer.watermark ? { title: { text: answer.watermark, color: colour("warning"), font } } : {}),
    width,
    height: { step: 22 },
    data: { values: pointsOf(answer, column, keys) },
    encoding: { y },
    layer: [
      { mark: { type: "rule", color: quiet }, encoding: { x: { field: "low", ...x }, x2: { field: "high" } } },
      { mark: { type: "tick", color: quiet, thickness: 1, size: 8 }, encoding: { x: { field: "low", ...x } } },
      { mark: { type: "tick", color: quiet, thickness: 1, size: 8 }, encoding: { x: { field: "high", ...x } } },
      { mark: { type: "point", filled: true, opacity: 1, size: 55, color: colour("accent") }, encoding: { x: { field: "value", ...x } } },
    ],
    config: { axis, axisY: { grid: false }, view: { stroke: null } },
  };
}

export async function drawChart(panel, answer) {
  const column = answer.noisy.find((i) => answer.rows.some((row) => typeof row[i] === "number"));
  if (column === undefined || !answer.rows.length) {
    panel.replaceChildren(element("p", {}, "There is no noisy number in this answer to draw."));
    return;
  }
  const place = element("div", { class: "chart" }, element("p", { class: "quiet" }, "Drawing…"));
  panel.replaceChildren(place);
  try {
    const embed = await loadLibrary();
    const width = Math.max(180, Math.min(760, panel.clientWidth - 180));
    const options = { ast: true, actions: false, defaultStyle: false, renderer: "svg", tooltip: false };
    await embed(place, specOf(answer, column, width), options);
    place.querySelector("svg")?.setAttribute("aria-label", `${answer.columns[column]} with its noise ±; the table has the same numbers`);
  } catch (error) {
    sayProblem(panel, { message: error.message, hint: "The table holds the same numbers." });
    return;
  }
  if (answer.rows.length > MOST) panel.append(element("p", { class: "quiet small" }, `The first ${MOST} rows.`));
}
