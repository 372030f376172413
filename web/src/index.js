import "./style/index.css";
import * as busy from "./busy.js";
import { startCommands } from "./exercise/command.js";
import * as load from "./figures/load.js";
import { startPredictions } from "./predict.js";
import { copyEditorsWhilePrinting, flattenEditors, isPrintPage } from "./print.js";
import * as runner from "./runner.js";
import { startScrollable } from "./scrollable.js";
import { startSkipLink } from "./skip.js";
import { startSnippets } from "./snippets/snippet.js";
import { startSuspects } from "./suspect.js";

// What both scripts of a served page must have in common.
window.workshopShared = { busy, load, runner };

runner.adoptToken();
runner.adoptLaterTokens();
load.loadFigures();
if (isPrintPage()) {
  flattenEditors();
} else {
  copyEditorsWhilePrinting();
  startSkipLink();
  startPredictions();
  startSnippets();
  startSuspects();
  startCommands();
  startScrollable();
}
