// A device that randomises answers before they leave it; no dependencies. docs/survey-reports.md
export { Changed, Device, twin } from "./device.js";
export { BrokenPromise, checkPromise, factsOf } from "./promise.js";
export { MECHANISMS, report } from "./randomizers.js";
export { Draws } from "./draws.js";
export { BadAnswer, readSurvey, valueOf } from "./survey.js";
