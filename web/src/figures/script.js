import { defineFigures } from "./index.js";

defineFigures();
