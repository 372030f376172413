import { LitmusFigure } from "./element.js";

customElements.define("ws-litmus", LitmusFigure);
