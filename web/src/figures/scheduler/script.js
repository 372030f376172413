import { SchedulerFigure } from "./element.js";

customElements.define("ws-scheduler", SchedulerFigure);
