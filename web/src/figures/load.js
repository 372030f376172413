import { ask, runnerState } from "../runner.js";

/** Figures and charts have scripts of their own: only a page with one of them asks for it. */
export function loadFigures() {
  if (document.querySelector("main div.chart")) load(`charts.js?${CHARTS_VERSION}`);
  if (document.querySelector("ws-timeline, ws-sweep, ws-steps, ws-scheduler, ws-litmus")) requestFigures();
}

/** Asks for it once. What a single page needs has one more of its own, which runs after it. */
export function requestFigures() {
  if (window.workshopRunner) return;
  // There is one way to the runner, and one token.
  window.workshopRunner = { ask, runnerState };
  load(`figures.js?${FIGURES_VERSION}`);
  for (const name of ["litmus", "scheduler"]) {
    if (document.querySelector(`ws-${name}`)) load(`${name}.js?${FIGURES_VERSION}`);
  }
}

/** @param {string} file */
function load(file) {
  const root = typeof path_to_root === "string" ? path_to_root : "";
  const script = document.createElement("script");
  // The page isn't loaded, and so isn't printed, before it has run.
  script.async = false;
  script.src = `${root}scripts/${file}`;
  document.head.append(script);
}
