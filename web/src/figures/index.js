import { SweepFigure } from "./sweep/element.js";
import { TimelineFigure } from "./timeline/element.js";

/** Makes the figures of the page draw themselves, at once. */
export function defineFigures() {
  customElements.define("ws-timeline", TimelineFigure);
  customElements.define("ws-sweep", SweepFigure);
}
