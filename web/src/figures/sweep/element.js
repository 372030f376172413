// `<ws-sweep>`: what a knob does to throughput and to waits, and what the
// reader guesses, sets and asks.

import { html, nothing } from "lit/html.js";
import { grouped, share, tied, time } from "../format.js";
import { wordsOf } from "../unreadable.js";
import { Figure, isTaken, save, words } from "../figure.js";
import { derive } from "../timeline/derive.js";
import { readTrace } from "../timeline/read.js";
import { choices, firstState, said } from "./first.js";
import { drawn, fit, knee } from "./model.js";
import { parseSweep, readSweep } from "./read.js";
import { asText } from "./table.js";
import { numberOf, readTurns, turnsPanel, turnsPicture } from "./turns.js";
import { picture, plan } from "./view.js";
import { budgetSentence, modelSentence, readout, verdict } from "./words.js";

/** @typedef {import("./read.js").Sweep} Sweep */
/** @typedef {import("./model.js").State} State */

/** Sliders over a logarithmic range have this many steps. */
const STEPS = 400;
const COSTS = { c: [0.1, 1e5], y: [1, 1e7] };
/** @type {[string, string][]} */
const KEYS = [
  ["← →", "the handle, when its slider has the focus"],
  [", .", "the handle, one point back or on"],
  ["p", "to the knee"],
  ["u", "undo"],
  ["r", "start again"],
  ["f", "full screen; Escape leaves it"],
  ["?", "these keys"],
];

export class SweepFigure extends Figure {
  /** @type {Map<string, Sweep>} */
  recorded = new Map();
  /** @type {Map<string, Sweep>} */
  own = new Map();
  /** What the worker did, for some N. @type {import("./turns.js").Turns} */
  turns = new Map();
  chosen = choices({});
  /** @type {State} */
  state = firstState([], this.chosen);
  /** @type {State[]} */
  past = [];
  /** The panel and the point where the pen was last. @type {{panel: "shares" | "waits", index: number} | undefined} */
  pen = undefined;
  isDragging = false;

  start() {
    this.chosen = choices(this.dataset);
    try {
      for (const { name, text } of this.inline) this.recorded.set(name, parseSweep(text));
      this.turns = readTurns(tracesOf(this.traceNames()));
    } catch (error) {
      this.error = wordsOf(error);
    }
    this.begin();
  }

  begin() {
    this.past = [];
    this.state = firstState(this.curves().map(({ sweep }) => sweep), this.chosen);
    const kept = this.keptGuess();
    const points = this.first()?.points.length ?? 0;
    if (kept && kept.shares.length === points) Object.assign(this.state, kept);
    else if (this.chosen.predicts && !this.onPaper && points > 0) this.state.phase = "asking";
    this.why = this.state.phase === "asking" ? "" : this.readout();
  }

  /** @returns {import("./view.js").Curve[]} the recorded ones first */
  curves() {
    const recorded = [...this.recorded].map(([name, sweep]) => ({ sweep, label: this.own.has(name) ? `${sweep.title}, recorded` : sweep.title, isOwn: false }));
    const own = [...this.own.values()].map((sweep) => ({ sweep, label: `${sweep.title}, yours`, isOwn: true }));
    return [...recorded, ...own];
  }

  traceNames() {
    return words(this.dataset.traces);
  }

  inlineNames() {
    return [...super.inlineNames(), ...this.traceNames()];
  }

  first() {
    return this.curves()[0]?.sweep;
  }

  /** @param {import("../figure.js").Delivery} delivery */
  take({ name, document }) {
    if (this.traceNames().includes(name)) return void this.turns.set(numberOf(name), derive(readTrace(document)));
    this.own.set(name, readSweep(document));
    this.accepted();
  }

  /** @param {string} text */
  load(text) {
    this.own.set(this.inlineNames()[0] ?? "loaded", parseSweep(text));
    this.accepted();
  }

  accepted() {
    this.state = { ...(this.recorded.size ? this.state : firstState(this.curves().map(({ sweep }) => sweep), this.chosen)), phase: "shown" };
    const [own] = [...this.own.values()].slice(-1);
    this.why = own ? `Your own run is drawn with open dots. ${readout(own, knee(own))}` : "";
  }

  // ---- the guess

  /** @returns {Pick<State, "shares" | "waits"> | undefined} */
  keptGuess() {
    try {
      const kept = JSON.parse(this.store.getItem(`workshop-guess-${this.key}`) ?? "null");
      const values = (/** @type {any} */ list) => list.map((/** @type {unknown} */ value) => (typeof value === "number" ? value : undefined));
      return this.chosen.predicts && kept ? { shares: values(kept.shares), waits: values(kept.waits) } : undefined;
    } catch {
      return undefined;
    }
  }

  /** @param {boolean} guessed */
  reveal(guessed) {
    const { shares, waits } = this.state;
    const first = this.first();
    const blank = shares.map(() => undefined);
    if (guessed) this.store.setItem(`workshop-guess-${this.key}`, JSON.stringify({ shares, waits }));
    this.state = { ...this.state, phase: "shown", ...(guessed ? {} : { shares: blank, waits: blank }) };
    this.why = [guessed && first ? verdict(first, shares, waits) : "", this.readout()].filter(Boolean).join(" ");
    this.draw();
    /** @type {HTMLElement | null} */ (this.querySelector(".fig-scrubber"))?.focus();
  }

  hasGuess() {
    return [...this.state.shares, ...this.state.waits].some((value) => value !== undefined);
  }

  /** @param {"shares" | "waits"} panel @param {number} index @param {number} value @param {number} [last] */
  guess(panel, index, value, last) {
    this.state = { ...this.state, [panel]: drawn(this.state[panel], index, value, last) };
    this.draw();
  }

  // ---- steps

  /** @param {Partial<State>} change @param {string} [why] */
  change(change, why) {
    this.past.push(this.state);
    this.state = { ...this.state, ...change };
    this.why = why ?? this.readout();
    this.draw();
  }

  /** @param {number} index */
  seek(index) {
    const most = (this.first()?.points.length ?? 1) - 1;
    this.state = { ...this.state, at: Math.min(Math.max(index, 0), most) };
    this.why = this.readout();
    this.draw();
  }

  readout() {
    const first = this.first();
    return first ? readout(first, this.state.at) : "";
  }

  undo() {
    this.state = this.past.pop() ?? this.state;
    this.why = this.readout();
    this.draw();
  }

  reset() {
    this.store.removeItem(`workshop-guess-${this.key}`);
    this.begin();
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const { key } = event;
    if (key === "Escape") return this.closeMenu() || this.leaveLarge();
    if (isTaken(event)) return false;
    if (key === "?") return this.toggleHelp(), true;
    const first = this.first();
    if (!first || this.state.phase === "asking") return false;
    /** @type {Record<string, () => void>} */
    const does = {
      ",": () => this.seek(this.state.at - 1),
      ".": () => this.seek(this.state.at + 1),
      Home: () => this.seek(0),
      End: () => this.seek(Infinity),
      p: () => this.seek(knee(first)),
      f: () => this.toggleLarge(),
      u: () => this.undo(),
      r: () => this.reset(),
    };
    does[key]?.();
    return key in does;
  }

  // ---- the pointer

  /** @param {PointerEvent} event */
  placeOf(event) {
    const svg = this.querySelector(".fig-picture");
    const first = this.first();
    if (!svg || !first) return undefined;
    const box = svg.getBoundingClientRect();
    const { x, rate, wait, upper, lower } = plan(this.curves(), this.settings());
    const px = ((event.clientX - box.left) / box.width) * this.width;
    const py = ((event.clientY - box.top) / box.width) * this.width;
    const distance = (/** @type {number} */ index) => Math.abs(x(first.points[index]?.n ?? 1) - px);
    const index = first.points.reduce((best, _, place) => (distance(place) < distance(best) ? place : best), 0);
    const inside = (/** @type {{top: number, bottom: number}} */ { top, bottom }) => Math.min(Math.max(py, top), bottom);
    const panel = /** @type {"shares" | "waits"} */ (py < (upper.bottom + lower.top) / 2 ? "shares" : "waits");
    const value = panel === "shares" ? Math.min(1, rate.invert(inside(upper)) / first.peak) : wait.invert(inside(lower));
    return { index, panel, value };
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0) return;
    /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
    this.isDragging = true;
    this.pen = undefined;
    this.move(event);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const place = this.isDragging && this.placeOf(event);
    if (!place) return;
    if (this.state.phase === "shown") return this.seek(place.index);
    const panel = this.pen?.panel ?? place.panel;
    if (panel !== place.panel) return;
    this.guess(panel, place.index, place.value, this.pen?.index);
    this.pen = { panel, index: place.index };
  }

  up() {
    this.isDragging = false;
  }

  // ---- the address

  linkParts() {
    const { at, budget, costs } = this.state;
    return {
      at: String(this.first()?.points[at]?.n ?? ""),
      ...(budget === undefined ? {} : { budget: String(Math.round(budget)) }),
      ...(costs ? { c: costs.c.toPrecision(4), y: costs.y.toPrecision(4) } : {}),
    };
  }

  /** @param {Record<string, string>} parts */
  applyLink({ at, budget, c, y }) {
    const sweeps = this.curves().map(({ sweep }) => sweep);
    const state = firstState(sweeps, { ...this.chosen, at: Number(at) > 0 ? Number(at) : undefined });
    const [newC, newY] = [Number(c), Number(y)];
    this.state = {
      ...this.state,
      at: state.at,
      budget: Number(budget) > 0 ? Number(budget) : undefined,
      costs: this.chosen.hasModel ? (newC > 0 && newY > 0 ? { c: newC, y: newY } : state.costs) : undefined,
      phase: "shown",
    };
    this.why = this.readout();
  }

  // ---- what is drawn

  settings() {
    const first = this.first();
    return { width: this.width, xLabel: this.chosen.xLabel || (first?.x ?? ""), items: this.chosen.items, label: this.conclusion() };
  }

  turnsSettings() {
    return { width: this.width, id: `${this.key}-turns` };
  }

  conclusion() {
    if (this.state.phase === "asking") return "Two empty charts, to draw a guess into: throughput and waits.";
    return this.sentences()[0] ?? "";
  }

  sentences() {
    const first = this.first();
    return first ? said(first, this.state, this.chosen.items) : [];
  }

  template() {
    const curves = this.curves();
    if (curves.length === 0) return html`${this.head()}<div class="fig-empty"><p>No sweep is here yet.</p>${this.fileButton("Load a sweep …")}</div>${this.whyLine()}`;
    const asking = this.state.phase === "asking";
    const first = this.first();
    const drawing = html`<div class=${`fig-canvas ${asking ? "guess" : ""}`} @pointerdown=${this.down} @pointermove=${this.move} @pointerup=${this.up} @pointercancel=${this.up}>${picture(curves, this.state, { ...this.settings(), still: this.onPaper })}</div>`;
    if (this.onPaper) return html`${this.head()}${drawing}${first ? turnsPicture(first.points[this.state.at]?.n ?? 0, first.x, this.turns, this.turnsSettings()) : nothing}${this.sentenceOf()}${asText(curves, this.chosen.items, true)}${this.legend(curves)}${this.linkOnPaper()}`;
    return html`${this.head(html`<span class="fig-tools">${this.largeButton()}${this.menu("a sweep", this.exports())}</span>`)}
      ${asking ? this.askTemplate() : nothing}
      ${this.help(KEYS)}
      ${drawing}
      ${asking ? this.drawByKeys() : this.handleSlider()}
      ${this.whyLine()}
      ${asking || !first ? nothing : turnsPanel(first.points[this.state.at]?.n ?? 0, first.x, this.turns, this.turnsSettings(), (n) => this.seek(first.points.findIndex((point) => point.n === n)))}
      ${asking ? nothing : html`<div class="fig-bar fig-knobs">${this.budgetKnob()}${this.costKnobs()}</div>
        ${this.sentenceOf()}${asText(curves, this.chosen.items, false)}`}
      ${this.legend(curves)}`;
  }

  /** The sentence about the knobs, which stands still while the handle moves. */
  sentenceOf() {
    return html`<ul class="fig-said-list">${this.sentences().map((sentence) => html`<li>${tied(sentence)}</li>`)}</ul>`;
  }

  askTemplate() {
    const ready = this.hasGuess();
    return html`<div class="fig-predict">
      <p>${this.dataset.predictText ?? "Draw both curves as you expect them: press and drag in the charts, or use the sliders below."}</p>
      <button type="button" class="ws-button primary" aria-disabled=${String(!ready)} @click=${() => ready && this.reveal(true)}>Reveal</button>
      <button type="button" class="ws-button" @click=${() => this.reveal(false)}>I'll just look</button>
    </div>`;
  }

  /** The same guess without a pointer: two sliders for each point. */
  drawByKeys() {
    const first = this.first();
    if (!first) return nothing;
    const [low, high] = plan(this.curves(), this.settings()).wait.domain;
    const { shares, waits } = this.state;
    const slider = (/** @type {string} */ label, /** @type {string} */ told, /** @type {number} */ value, /** @type {number} */ most, /** @type {(value: number) => void} */ set) =>
      html`<label><span>${label}</span><input type="range" min="0" max=${most} .value=${String(value)} aria-valuetext=${told} @input=${(/** @type {Event} */ event) => set(Number(/** @type {HTMLInputElement} */ (event.target).value))} /><span class="fig-told">${told}</span></label>`;
    return html`<details class="fig-text fig-pen"><summary>Draw with sliders instead</summary>
      ${first.points.map(({ n }, index) => {
        const [part, wait] = [shares[index], waits[index]];
        return html`<div class="fig-pen-row" role="group" aria-label=${`${first.x} = ${grouped(n)}`}><strong>${first.x} = ${grouped(n)}</strong>
          ${slider("throughput", part === undefined ? "not drawn" : `${share(part)} of the peak`, Math.round((part ?? 0) * 100), 100, (value) => this.guess("shares", index, value / 100))}
          ${slider("wait", wait === undefined ? "not drawn" : time(wait), toStep(wait ?? low, low, high), STEPS, (value) => this.guess("waits", index, fromStep(value, low, high)))}
        </div>`;
      })}
    </details>`;
  }

  handleSlider() {
    const first = this.first();
    if (!first) return nothing;
    const { left, right } = plan(this.curves(), this.settings());
    return html`<input class="fig-scrubber" type="range" min="0" max=${first.points.length - 1} .value=${String(this.state.at)} style=${`margin-inline-start: ${left - 8}px; width: ${right - left + 16}px`}
      aria-label=${this.settings().xLabel} aria-valuetext=${this.readout()} @input=${(/** @type {Event} */ event) => this.seek(Number(/** @type {HTMLInputElement} */ (event.target).value))} />`;
  }

  budgetKnob() {
    const first = this.first();
    if (!first) return nothing;
    const { budget } = this.state;
    const [low, high] = plan(this.curves(), this.settings()).wait.domain;
    const set = (/** @type {number | undefined} */ value) => this.change({ budget: value }, value === undefined ? "The budget is off." : budgetSentence(first, value));
    const standard = 10 ** Math.round(Math.log10(Math.sqrt(low * high)));
    return html`<label class="ws-check"><input type="checkbox" .checked=${budget !== undefined} @change=${() => set(budget === undefined ? standard : undefined)} />victims may wait at most</label>
      <input type="range" min="0" max=${STEPS} ?disabled=${budget === undefined} .value=${String(toStep(budget ?? standard, low, high))} aria-label="The longest wait allowed"
        aria-valuetext=${time(budget ?? standard)} @input=${(/** @type {Event} */ event) => set(tidy(fromStep(Number(/** @type {HTMLInputElement} */ (event.target).value), low, high)))} />
      <output class="fig-told">${budget === undefined ? "" : time(budget)}</output>`;
  }

  costKnobs() {
    const first = this.first();
    const { costs } = this.state;
    if (!first || !costs) return nothing;
    const set = (/** @type {import("./model.js").Costs} */ next) => this.change({ costs: next }, modelSentence(first, next));
    const knob = (/** @type {"c" | "y"} */ name, /** @type {string} */ text) => {
      const [low = 1, high = 1] = COSTS[name];
      return html`<label class="fig-knob"><span>${text}</span><input type="range" min="0" max=${STEPS} .value=${String(toStep(costs[name], low, high))} aria-valuetext=${time(costs[name])}
        @input=${(/** @type {Event} */ event) => set({ ...costs, [name]: fromStep(Number(/** @type {HTMLInputElement} */ (event.target).value), low, high) })} /><span class="fig-told">${time(costs[name])}</span></label>`;
    };
    return html`<span class="fig-model" role="group" aria-label="The model">${knob("c", "an item costs c =")}${knob("y", "a yield costs y =")}
      <button type="button" class="ws-button" @click=${() => set(fit(first))}>fit</button></span>`;
  }

  exports() {
    const sweep = [...this.own.values()].at(-1) ?? this.first();
    return sweep ? html`<button type="button" class="ws-button" @click=${() => save("sweep.json", JSON.stringify(sweep.document))}>Save the sweep</button>` : nothing;
  }

  /** Which curve is whose, from which machine. @param {import("./view.js").Curve[]} curves */
  legend(curves) {
    return html`<ul class="fig-legend">${curves.map(({ sweep: { machine, recorded, runtime, noise }, label, isOwn }, hue) => html`<li>
      <svg class=${`fig-picture curve hue-${hue % 6} ${isOwn ? "own" : ""}`} width="34" height="12" aria-hidden="true"><path class="median" d="M1 6H33"></path><circle cx="17" cy="6" r="3.6"></circle></svg>
      <span>${label}: ${[runtime, machine, recorded].filter(Boolean).join(", ")}${noise === undefined ? "" : noise > 0.1 ? `; a noisy machine: the same work took up to ${share(noise)} longer in between` : `; steady within ${share(noise)}`}</span></li>`)}
      ${this.state.costs && this.state.phase === "shown" ? html`<li><svg class="fig-picture" width="34" height="12" aria-hidden="true"><path class="model" d="M1 6H33"></path></svg><span>the model: n / (n·c + y) items a second, and a wait of n·c / 2</span></li>` : nothing}
    </ul>`;
  }
}

/** Traces of these names, from any figure of the page. @param {string[]} names */
function tracesOf(names) {
  const scripts = [...document.querySelectorAll('script[type="application/json"][data-name]')];
  return names.flatMap((name) => {
    const script = scripts.find((script) => script.getAttribute("data-name") === name);
    return script ? [{ name, text: script.textContent ?? "" }] : [];
  });
}

/** @param {number} value @param {number} low @param {number} high */
function toStep(value, low, high) {
  return Math.round((STEPS * Math.log(value / low)) / Math.log(high / low));
}

/** @param {number} step @param {number} low @param {number} high */
function fromStep(step, low, high) {
  return low * (high / low) ** (step / STEPS);
}

/** Two figures are enough for a budget. @param {number} value */
function tidy(value) {
  return Number(value.toPrecision(2));
}
