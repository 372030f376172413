import "./style/index.css";
import { startExercises } from "./exercise/panel.js";
import { startTicks } from "./exercise/ticks.js";
import { loadFigures } from "./figures/load.js";
import { startLive } from "./live.js";
import { copyEditorsWhilePrinting, flattenEditors, isPrintPage } from "./print.js";
import { adoptLaterTokens, adoptToken } from "./runner.js";
import { startScrollable } from "./scrollable.js";
import { startSnippets } from "./snippets/snippet.js";

adoptToken();
adoptLaterTokens();
loadFigures();
if (isPrintPage()) {
  flattenEditors();
} else {
  copyEditorsWhilePrinting();
  startSnippets();
  startExercises();
  startScrollable();
  startTicks();
  startLive();
}
