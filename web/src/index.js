import "./style/index.css";
import { startExercises } from "./exercise/exercise.js";
import { startLive } from "./live.js";
import { copyEditorsWhilePrinting, flattenEditors, isPrintPage } from "./print.js";
import { adoptToken } from "./runner.js";
import { startScrollable } from "./scrollable.js";
import { startSnippets } from "./snippets/snippet.js";

adoptToken();
if (isPrintPage()) {
  flattenEditors();
} else {
  copyEditorsWhilePrinting();
  startSnippets();
  startExercises();
  startScrollable();
  startLive();
}
