import * as lit from "lit/html.js";
import * as figure from "./figure.js";
import * as format from "./format.js";
import { defineFigures } from "./index.js";

// What a figure's own script must have in common with this one.
window.workshopFigures = { lit, figure, format };

defineFigures();
