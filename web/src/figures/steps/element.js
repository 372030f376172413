// `<ws-steps>`: an order of steps, and the reader as the scheduler.

import { html, nothing } from "lit/html.js";
import { Figure, isTaken, save } from "../figure.js";
import { tied } from "../format.js";
import { Player } from "../timeline/player.js";
import { wordsOf } from "../unreadable.js";
import { momentAt, orderedRun, recordedRun } from "./derive.js";
import { conclusion, firstOrder, widestOf } from "./first.js";
import { failingOrder, firstOf, follow, keyOf, solve } from "./machine.js";
import { parseSteps, readSteps } from "./read.js";
import { asText } from "./table.js";
import { picture } from "./view.js";
import { lastChance, momentSentence, sentences, told } from "./words.js";

/** @typedef {import("./derive.js").Run} Run */
/** @typedef {import("./machine.js").Solution} Solution */
/** @typedef {{order: number[], at: number}} State the order, and how much of it has happened */

/** Longer than any program's order that a reader makes. */
const MOST_STEPS = 200;
/** Between the buttons and the step that is scrolled to, in pixels. */
const AIR = 8;
/** @type {[string, string][]} */
const KEYS = [
  ["1 … 6", "that thread takes a step"],
  [", .", "back, forward by one step"],
  ["Home End", "to the start, to the end"],
  ["Space", "play, pause"],
  ["e", "every step, or those that matter"],
  ["p", "play an order that fails, from here"],
  ["u", "undo"],
  ["r", "start over"],
  ["f", "full screen; Escape leaves it"],
  ["?", "these keys"],
];

export class StepsFigure extends Figure {
  /** What the second of two documents has, every step; the first has those that matter. */
  whole = "";
  isWhole = false;
  /** @type {import("./read.js").Steps | undefined} */
  steps = undefined;
  /** @type {Solution | undefined} */
  solution = undefined;
  /** @type {Run | undefined} */
  run = undefined;
  /** @type {State} */
  state = { order: [], at: 0 };
  /** @type {State[]} */
  past = [];
  player = new Player(this, () => false, () => this.playOn(), () => this.paused());

  start() {
    const [first, second] = this.inline;
    this.whole = second?.text ?? "";
    try {
      if (first) this.show(parseSteps(first.text));
    } catch (error) {
      this.error = wordsOf(error);
    }
  }

  /** @param {import("./read.js").Steps} steps */
  show(steps) {
    const solution = steps.programs.length > 0 ? solve(steps) : undefined;
    this.player.stop();
    this.steps = steps;
    this.solution = solution;
    this.isWhole = false;
    this.past = [];
    const order = solution ? firstOrder(steps, solution) : [];
    this.set({ order, at: solution ? order.length : steps.steps.length });
  }

  /** @param {import("../figure.js").Delivery} delivery */
  take({ document }) {
    this.show(readSteps(document));
    this.whole = "";
  }

  /** @param {string} text */
  load(text) {
    this.show(parseSteps(text));
    this.whole = "";
  }

  /** Shows every step, or only those that matter. @param {boolean} isWhole */
  showAll(isWhole) {
    const text = isWhole ? this.whole : this.inline[0]?.text;
    if (!this.whole || !text) return;
    this.show(parseSteps(text));
    this.isWhole = isWhole;
  }

  toggleAll() {
    this.tryTo(() => this.showAll(!this.isWhole));
  }

  // ---- steps

  /** @param {State} state @param {string} [before] a sentence before what is told of that place */
  set(state, before = "") {
    if (!this.steps) return;
    this.state = state;
    this.run = this.solution ? orderedRun(this.steps, state.order, this.solution) : recordedRun(this.steps);
    this.state = { ...state, at: Math.min(Math.max(state.at, 0), this.run.rows.length) };
    this.why = [before, told(this.run, this.state.at, this.solution, this.node())].filter(Boolean).join(" ");
  }

  /** What is known of the place where the reader is. */
  node() {
    if (!this.steps || !this.solution) return undefined;
    const { states } = follow(this.steps, this.state.order.slice(0, this.state.at));
    return this.solution.nodes.get(keyOf(states.at(-1) ?? firstOf(this.steps)));
  }

  /** @param {State} state @param {string} [before] */
  change(state, before) {
    this.player.stop();
    this.past.push(this.state);
    this.set(state, before);
    this.draw();
  }

  /** @param {number} at */
  seek(at) {
    this.player.stop();
    this.set({ ...this.state, at });
    this.draw();
    this.follow();
  }

  /** Scrolls an order that is longer than its place, so that the step is seen below the buttons. */
  follow() {
    const { run, state } = this;
    const bar = this.querySelector(".fig-transport");
    if (this.dataset.follow === undefined || !run || !bar) return;
    const shown = [...this.querySelectorAll(state.at === 0 ? ".cell" : state.at < run.rows.length ? ".step.now" : ".step.now, .end")].map((one) => one.getBoundingClientRect());
    const scroller = scrollerOf(this);
    const top = bar.getBoundingClientRect().bottom + AIR;
    const above = Math.min(...shown.map((one) => one.top)) - top;
    const below = Math.max(...shown.map((one) => one.bottom)) + AIR - Math.min(innerHeight, scroller.getBoundingClientRect().bottom);
    if (shown.length > 0 && (above < 0 || below > 0)) scroller.scrollBy({ top: above < 0 ? above : Math.min(below, above), behavior: "instant" });
  }

  /** Why a thread can't take a step now; empty if it can. @param {number} thread */
  hindrance(thread) {
    const { run, steps, state } = this;
    if (!run || !steps) return "";
    const moment = momentAt(run, state.at);
    const name = steps.threads[thread] ?? "";
    if (this.node()?.end === "failure") return "The failure has ended this order.";
    return moment.waits[thread] ? `${name} ${moment.waits[thread]}.` : moment.ended[thread] ? `${name} has ended.` : "";
  }

  /** The reader is the scheduler. @param {number} thread */
  stepOf(thread) {
    const { order, at } = this.state;
    if (!this.solution || thread >= (this.steps?.threads.length ?? 0)) return;
    const hindrance = this.hindrance(thread);
    if (hindrance || at >= MOST_STEPS) {
      this.why = hindrance || `An order has at most ${MOST_STEPS} steps here.`;
      this.draw();
      return;
    }
    const dropped = order.length - at;
    const isSame = order[at] === thread;
    this.change(isSame ? { order, at: at + 1 } : { order: [...order.slice(0, at), thread], at: at + 1 }, !isSame && dropped > 0 ? `You changed the order here; ${dropped === 1 ? "one later step was" : `${dropped} later steps were`} dropped.` : "");
  }

  startOver() {
    this.change({ order: [], at: 0 });
    /** @type {HTMLElement | null} */ (this.querySelector(".steps-step"))?.focus();
  }

  /** Plays an order that fails, from here if there is one, else from the start. */
  findFailure() {
    const { solution, steps, state } = this;
    if (!solution?.canFail || !steps) return;
    const here = this.node();
    const canHere = here && here.distance > 0 && here.distance < Infinity;
    const start = canHere ? state.order.slice(0, state.at) : [];
    const order = [...start, ...failingOrder(solution, canHere ? here : solution.first)];
    this.change({ order, at: start.length }, canHere || state.at === 0 ? "" : "From the start:");
    this.play();
  }

  backToChance() {
    const { run, solution } = this;
    if (!run || !solution) return;
    this.change({ ...this.state, at: lastChance(run.rows, solution) });
  }

  undo() {
    const before = this.past.pop();
    if (!before) return;
    this.player.stop();
    this.set(before, "Undone.");
    this.draw();
  }

  reset() {
    if (!this.steps) return;
    if (this.solution) return this.startOver();
    this.seek(0);
  }

  play() {
    if (this.state.at >= (this.run?.rows.length ?? 0)) this.set({ ...this.state, at: 0 });
    this.why = "";
    this.player.start(true);
    this.draw();
  }

  togglePlay() {
    if (!this.player.isPlaying) return this.play();
    this.player.stop();
    this.paused();
  }

  /** One step a second; it's told when the order stands still. */
  playOn() {
    const { at, order } = this.state;
    this.set({ order, at: at + 1 });
    this.why = "";
    this.draw();
    this.follow();
    return this.state.at < (this.run?.rows.length ?? 0);
  }

  paused() {
    this.set(this.state);
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const { key } = event;
    if (key === "Escape") return this.closeMenu() || this.leaveLarge();
    if (isTaken(event)) return false;
    if (key === "?") return this.toggleHelp(), true;
    const { run, state } = this;
    if (!run) return false;
    /** @type {Record<string, () => void>} */
    const does = {
      " ": () => this.togglePlay(),
      ",": () => this.seek(state.at - 1),
      ".": () => this.seek(state.at + 1),
      Home: () => this.seek(0),
      End: () => this.seek(run.rows.length),
      e: () => this.toggleAll(),
      p: () => this.findFailure(),
      u: () => this.undo(),
      r: () => this.reset(),
      f: () => this.toggleLarge(),
    };
    if (/^[1-9]$/.test(key)) this.stepOf(Number(key) - 1);
    else if (does[key]) does[key]();
    else return false;
    return true;
  }

  // ---- the address

  linkParts() {
    return { at: String(this.state.at), ...(this.isWhole ? { all: "1" } : {}), ...(this.solution ? { order: this.state.order.map((thread) => thread + 1).join("") } : {}) };
  }

  /** @param {Record<string, string>} parts */
  applyLink({ at, order, all }) {
    this.tryTo(() => this.showAll(all === "1"));
    const threads = /^[1-9]*$/.test(order ?? "") ? [...(order ?? "").slice(0, MOST_STEPS)].map((digit) => Number(digit) - 1) : [];
    this.player.stop();
    this.set({ order: this.solution ? threads : [], at: Number(at) >= 0 ? Math.floor(Number(at)) : Infinity });
    // As much of it as the programs can take.
    if (this.run) this.state.order = this.run.rows.map(({ thread }) => (this.solution ? thread : -1)).filter((thread) => thread >= 0);
  }

  // ---- what is drawn

  template() {
    const { run, steps } = this;
    if (!run || !steps) {
      if (this.onPaper) return html`${this.head()}<p>${this.error || "Steps that wait for an order, on the screen."}</p>`;
      if (this.error) return html`${this.head()}${this.whyLine()}`;
      return html`${this.head()}<div class="fig-empty"><p>No order is here yet.</p>${this.fileButton("Load an order …")}</div>${this.whyLine()}`;
    }
    const { at } = this.state;
    const drawing = html`<div class="fig-canvas steps-canvas">${picture(run, { at, width: this.width, widest: widestOf(run, this.solution), label: conclusion(run), id: `${this.key}-steps` })}</div>`;
    if (this.onPaper) return html`${this.head()}${this.lead()}${drawing}${this.text(true)}${this.linkOnPaper()}`;
    return html`${this.head(html`<span class="fig-tools">${this.allButton()}${this.largeButton()}${this.menu("an order", this.exports())}</span>`)}
      ${this.help(KEYS.filter(([keys]) => this.solution?.canFail || (keys !== "p" && (this.solution || keys !== "1 … 6"))).filter(([keys]) => this.whole || keys !== "e"))}
      ${this.lead()}
      ${this.schedule()}
      ${this.whyLine()}
      ${this.transport()}
      ${drawing}
      ${this.text(false)}`;
  }

  /** Why a recorded order fails, in a sentence or two. */
  lead() {
    const { steps } = this;
    return steps?.end && steps.end.kind !== "done" ? html`<p class="steps-lead">${tied(steps.description)}</p>` : nothing;
  }

  allButton() {
    if (!this.whole) return nothing;
    return html`<button type="button" class="ws-button" @click=${() => this.toggleAll()}>${this.isWhole ? "The steps that matter" : "Every step"}</button>`;
  }

  /** The buttons with which the reader makes an order. */
  schedule() {
    const { solution, steps, run } = this;
    if (!solution || !steps || !run) return nothing;
    const node = this.node();
    const isLost = solution.canFail && node?.distance === Infinity;
    const next = momentAt(run, this.state.at).lines;
    return html`<div class="fig-bar steps-bar" role="group" aria-label="You are the scheduler">
      ${steps.threads.map((name, thread) => {
        const hindrance = this.hindrance(thread);
        const code = steps.programs[thread]?.[next[thread] ?? -1]?.code.trim() ?? "";
        return html`<button type="button" class="ws-button steps-step" aria-disabled=${String(Boolean(hindrance))} title=${hindrance || code} aria-label=${[`Step ${name}`, hindrance || code].filter(Boolean).join(": ")} @click=${() => this.stepOf(thread)}>Step ${name}</button>`;
      })}
      <button type="button" class=${`ws-button ${run.end && this.state.at === run.rows.length ? "primary" : ""}`} aria-disabled=${String(this.state.at === 0)} @click=${() => this.state.at > 0 && this.startOver()}>Start over</button>
      <button type="button" class="ws-button" aria-disabled=${String(this.past.length === 0)} @click=${() => this.undo()}>Undo</button>
      ${isLost ? html`<button type="button" class="ws-button" @click=${() => this.backToChance()}>Back to the last chance</button>` : nothing}
      ${solution.canFail ? html`<button type="button" class="ws-button fig-chip bad" @click=${() => this.findFailure()}>Find the ${solution.kind === "hang" ? "losing" : "failing"} order</button>` : nothing}
    </div>`;
  }

  transport() {
    const { run } = this;
    if (!run) return nothing;
    const { at } = this.state;
    const last = run.rows.length;
    const press = (/** @type {string} */ label, /** @type {string} */ glyph, /** @type {() => void} */ action) =>
      html`<button type="button" class="ws-button" aria-label=${label} @click=${action}><span aria-hidden="true">${glyph}</span></button>`;
    return html`<div class="fig-bar fig-transport">
      <span class="fig-group" role="group" aria-label="Steps">
        ${press("To the start", "|◀", () => this.seek(0))}${press("Back by one step", "‹", () => this.seek(at - 1))}
        ${press(this.player.isPlaying ? "Pause" : "Play", this.player.isPlaying ? "II" : "▶", () => this.togglePlay())}
        ${press("Forward by one step", "›", () => this.seek(at + 1))}${press("To the end", "▶|", () => this.seek(last))}
      </span>
      <input class="fig-scrubber steps-scrubber" type="range" min="0" max=${Math.max(last, 1)} .value=${String(at)} aria-label="Steps" aria-valuetext=${momentSentence(run, at)} @input=${(/** @type {Event} */ event) => this.seek(Number(/** @type {HTMLInputElement} */ (event.target).value))} />
      <span class="fig-told">${at} of ${last}</span>
    </div>`;
  }

  /** @param {boolean} isOpen */
  text(isOpen) {
    const { run } = this;
    return run ? asText(run, sentences(run, this.solution), this.state.at, isOpen, this.textState(), (at) => this.seek(at)) : nothing;
  }

  exports() {
    const { steps } = this;
    if (!steps) return nothing;
    return html`<button type="button" class="ws-button" @click=${() => save(`${steps.title.replace(/[^\w-]+/g, "-").toLowerCase()}.json`, JSON.stringify(steps.document))}>Save ${this.solution ? "the programs" : "the order"}</button>`;
  }
}

/** What scrolls the figure. @param {Element} figure @returns {Element} */
function scrollerOf(figure) {
  for (let one = figure.parentElement; one; one = one.parentElement) {
    if (one.scrollHeight > one.clientHeight && /auto|scroll/.test(getComputedStyle(one).overflowY)) return one;
  }
  return document.documentElement;
}
