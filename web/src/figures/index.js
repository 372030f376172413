import { StepsFigure } from "./steps/element.js";
import { SweepFigure } from "./sweep/element.js";
import { TimelineFigure } from "./timeline/element.js";

/** Makes the figures of the page draw themselves, at once. */
export function defineFigures() {
  // First, while the timelines' data is still in the page: a sweep may show it, too.
  customElements.define("ws-sweep", SweepFigure);
  customElements.define("ws-timeline", TimelineFigure);
  customElements.define("ws-steps", StepsFigure);
}
