// What only a page that `cargo workshop` serves has: the panels of the exercises,
// how they stand, and the news. A script of its own, so that no other page loads it.

import "./style/workbench.css";
import { startExercises } from "./exercise/panel.js";
import { startTicks } from "./exercise/ticks.js";
import { startLive } from "./live.js";
import { isPrintPage } from "./print.js";

if (!isPrintPage()) {
  startExercises();
  startTicks();
  startLive();
}
