import "./style/index.css";
import { startExercises } from "./exercise/exercise.js";
import { defineFigures } from "./figures/index.js";
import { startLive } from "./live.js";
import { copyEditorsWhilePrinting, flattenEditors, isPrintPage } from "./print.js";
import { adoptToken } from "./runner.js";
import { startScrollable } from "./scrollable.js";
import { startSnippets } from "./snippets/snippet.js";

adoptToken();
defineFigures();
if (isPrintPage()) {
  flattenEditors();
} else {
  copyEditorsWhilePrinting();
  startSnippets();
  startExercises();
  startScrollable();
  startLive();
}
