// `<ws-scheduler>`: a scheduler that the reader takes apart.

import { html, nothing } from "lit/html.js";
import { Figure, isTaken, wantsLessMotion } from "../figure.js";
import { tied } from "../format.js";
import { Player } from "../timeline/player.js";
import { FEWEST, MOST, MOST_COST, MOST_SEED, bitsOf, costIn, endOf, firstAt, firstChoice, loadCalled, panelsOf, partsIn, runsOf, shownOf, workersIn } from "./choice.js";
import { stateAt, timesOf } from "./derive.js";
import { conclusion } from "./first.js";
import { LOADS } from "./loads.js";
import { KIND, PARTS } from "./model.js";
import { LOAD, PART, us } from "./names.js";
import { asText, meterTable } from "./table.js";
import { layout, picture, signs } from "./view.js";
import { MODEL, momentSentence, sentences } from "./words.js";

/** @typedef {import("./choice.js").Choice} Choice */
/** @typedef {{choice: Choice, at: number}} State */

/** So far from the lanes a press still counts as one on their start. */
const SLACK_PX = 8;
/** @type {[string, string][]} */
const KEYS = [
  ["1 … 5", "takes that part out, or puts it back"],
  ["l w n", "next load, number of workers, seed"],
  [", .", "back, forward by one event"],
  ["Home End", "to the start, to the end"],
  ["Space", "play, pause"],
  ["p", "next point of interest"],
  ["u", "undo"],
  ["r", "start over"],
  ["f", "full screen; Escape leaves it"],
  ["?", "these keys"],
];

export class SchedulerFigure extends Figure {
  choice = /** @type {Choice} */ ({});
  runs = /** @type {import("./choice.js").Runs} */ ({});
  /** In the model's time. */
  at = 0;
  /** Where a run that plays is, between two tenths of a microsecond. */
  position = 0;
  isDragging = false;
  /** The slider that has made the last change, if one has. */
  slider = "";
  /** @type {State[]} */
  past = [];
  player = new Player(this, (part) => this.playOn(part), () => this.jumpOn(), () => this.paused());

  start() {
    this.choose(firstChoice(this.dataset));
  }

  /** @param {Choice} choice @param {number} [at] */
  choose(choice, at) {
    this.player.stop();
    this.choice = choice;
    this.runs = runsOf(choice);
    this.at = at ?? firstAt(this.runs);
    this.why = conclusion(this.runs);
  }

  /** A change that can be undone. @param {Partial<Choice>} change @param {string} [slider] of which several changes are one */
  change(change, slider = "") {
    if (!slider || slider !== this.slider) this.past.push({ choice: this.choice, at: this.at });
    this.slider = slider;
    this.choose({ ...this.choice, ...change });
    this.draw();
  }

  /** @param {typeof PARTS[number] | undefined} part */
  toggle(part) {
    const { now } = this.choice;
    if (part) this.change({ before: now, now: { ...now, [part]: !now[part] } });
  }

  undo() {
    const before = this.past.pop();
    this.slider = "";
    if (!before) return;
    this.choose(before.choice, before.at);
    this.why = `Undone. ${this.why}`;
    this.draw();
  }

  reset() {
    this.change(firstChoice(this.dataset));
  }

  // ---- time

  /** @param {number} at @param {boolean} [isTold] */
  seek(at, isTold = true) {
    this.at = Math.min(Math.max(Math.round(at), 0), endOf(this.runs));
    this.why = isTold ? this.momentIs() : "";
    this.draw();
  }

  /** @param {number} at */
  seekTo(at) {
    this.player.stop();
    this.seek(at);
  }

  momentIs() {
    return momentSentence(this.runs.now, this.at);
  }

  times() {
    return [...new Set(shownOf(this.runs).flatMap(timesOf))].sort((one, other) => one - other);
  }

  /** @param {1 | -1} direction */
  nextEvent(direction) {
    const times = timesOf(this.runs.now);
    const next = direction > 0 ? times.find((time) => time > this.at) : times.findLast((time) => time < this.at);
    this.seekTo(next ?? this.at);
  }

  /** What is worth looking at, in the order of time. */
  nextPoint() {
    const points = shownOf(this.runs).flatMap(({ events, meters }) => {
      const moves = events.filter(([, kind]) => kind === KIND.stole || kind === KIND.notified).map(([time]) => time);
      return [...moves, ...(meters.waiter && meters.longest > 0 ? [meters.waiter.start, meters.waiter.end] : []), meters.end];
    });
    const ahead = points.filter((time) => time > this.at);
    this.seekTo(Math.min(...(ahead.length > 0 ? ahead : points)));
  }

  /** @param {number} part of the whole */
  playOn(part) {
    const end = endOf(this.runs);
    this.position += part * end;
    this.seek(this.position, false);
    return this.position < end;
  }

  jumpOn() {
    const next = this.times().find((time) => time > this.at);
    if (next !== undefined) this.seek(next, false);
    return next !== undefined;
  }

  togglePlay() {
    if (this.player.isPlaying) {
      this.player.stop();
      return this.paused();
    }
    if (this.at >= endOf(this.runs)) this.at = 0;
    this.position = this.at;
    this.why = "";
    this.player.start(wantsLessMotion());
    this.draw();
  }

  paused() {
    this.why = this.momentIs();
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const { key } = event;
    if (key === "Escape") return this.closeMenu() || this.leaveLarge();
    if (isTaken(event)) return false;
    const { load, workers } = this.choice;
    /** @type {Record<string, () => void>} */
    const does = {
      "?": () => this.toggleHelp(),
      " ": () => this.togglePlay(),
      ",": () => this.nextEvent(-1),
      ".": () => this.nextEvent(1),
      Home: () => this.seekTo(0),
      End: () => this.seekTo(endOf(this.runs)),
      l: () => this.change({ load: after(Object.keys(LOAD), load) }),
      w: () => this.change({ workers: workers === MOST ? FEWEST : workers + 1 }),
      n: () => this.nextSeed(),
      p: () => this.nextPoint(),
      u: () => this.undo(),
      r: () => this.reset(),
      f: () => this.toggleLarge(),
    };
    if (/^[1-5]$/.test(key)) this.toggle(PARTS[Number(key) - 1]);
    else if (does[key]) does[key]();
    else return false;
    return true;
  }

  nextSeed() {
    const { seed } = this.choice;
    this.change({ seed: seed >= MOST_SEED ? 1 : seed + 1 });
  }

  // ---- the pointer

  /** In pixels of the picture. @param {PointerEvent} event */
  placeOf(event) {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * this.width;
  }

  /** @param {PointerEvent} event */
  down(event) {
    const { x, left, isWide } = this.plan();
    const place = this.placeOf(event);
    if (event.button !== 0 || (isWide && place < left - SLACK_PX)) return;
    /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
    this.isDragging = true;
    this.seekTo(x.invert(place));
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (this.isDragging) this.seekTo(this.plan().x.invert(this.placeOf(event)));
  }

  // ---- the address

  linkParts() {
    const { load, workers, seed, unpark, wake, before, now } = this.choice;
    return { load, workers: String(workers), seed: String(seed), unpark: String(unpark), wake: String(wake), before: bitsOf(before), now: bitsOf(now), at: String(this.at) };
  }

  /** @param {Record<string, string>} parts */
  applyLink({ load, workers, seed, unpark, wake, before, now, at }) {
    const first = firstChoice(this.dataset);
    const number = Number(seed);
    this.past.push({ choice: this.choice, at: this.at });
    this.choose({
      load: LOADS.some((one) => one === load) ? loadCalled(load) : first.load,
      workers: workersIn(workers ?? String(first.workers)),
      seed: Number.isInteger(number) && number >= 1 && number <= MOST_SEED ? number : first.seed,
      unpark: costIn("unpark", unpark),
      wake: costIn("wake", wake),
      before: partsIn(before) ?? first.before,
      now: partsIn(now) ?? first.now,
    });
    if (Number(at) >= 0) this.at = Math.min(Math.floor(Number(at)), endOf(this.runs));
  }

  // ---- what is drawn

  settings() {
    return { at: this.at, width: this.width, id: this.key, label: conclusion(this.runs) };
  }

  plan() {
    return layout(panelsOf(this.runs), this.settings());
  }

  template() {
    const panels = panelsOf(this.runs);
    const drawing = picture(panels, this.settings());
    const legend = html`<ul class="fig-signs">${signs(panels).map(({ glyph, text }) => html`<li><svg class="fig-picture" width="26" height="16" aria-hidden="true">${glyph}</svg>${text}</li>`)}</ul>`;
    if (this.onPaper) return html`${this.head()}<p class="fig-why">${tied(conclusion(this.runs))}</p><div class="fig-canvas">${drawing}</div>${legend}${meterTable(this.runs)}<p class="fig-source">${MODEL}</p>${this.text(true)}${this.linkOnPaper()}`;
    const stop = () => (this.isDragging = false);
    return html`${this.head(html`<span class="fig-tools">${this.largeButton()}${this.menu("", nothing)}</span>`)}
      ${this.help(KEYS)}${this.loads()}${this.switches()}${this.costs()}${this.whyLine()}
      <div class="fig-canvas" @pointerdown=${this.down} @pointermove=${this.move} @pointerup=${stop} @pointercancel=${stop}>${drawing}</div>
      ${this.transport()}${legend}${meterTable(this.runs)}
      <p class="fig-source">${MODEL}</p>
      ${this.text(false)}`;
  }

  loads() {
    const { load, workers, seed } = this.choice;
    const chosen = (/** @type {Event} */ event) => /** @type {HTMLSelectElement} */ (event.target).value;
    return html`<div class="fig-bar">
      <label class="fig-knob">Load <select aria-label="Load" @change=${(/** @type {Event} */ event) => this.change({ load: chosen(event) })}>${Object.entries(LOAD).map(([name, one]) => html`<option value=${name} ?selected=${name === load} .selected=${name === load}>${one.name}</option>`)}</select></label>
      <label class="fig-knob">Workers <select aria-label="Workers" @change=${(/** @type {Event} */ event) => this.change({ workers: Number(chosen(event)) })}>${Array.from({ length: MOST - FEWEST + 1 }, (_, index) => index + FEWEST).map((count) => html`<option value=${count} ?selected=${count === workers} .selected=${count === workers}>${count}</option>`)}</select></label>
      <button type="button" class="ws-button" aria-label=${`Seed ${seed}: take the next one`} @click=${() => this.nextSeed()}>seed ${seed} ›</button>
      <button type="button" class="ws-button" aria-disabled=${String(this.past.length === 0)} @click=${() => this.undo()}>Undo</button>
      <button type="button" class="ws-button" @click=${() => this.reset()}>Start over</button>
    </div><p class="scheduler-load">${LOAD[load]?.says}</p>`;
  }

  switches() {
    const { now } = this.choice;
    return html`<div class="fig-bar scheduler-parts" role="group" aria-label="Parts of the scheduler: pressed means it's there">
      ${PARTS.map((part) => html`<button type="button" class="ws-button" aria-pressed=${String(now[part])} title=${PART[part].does} @click=${() => this.toggle(part)}>${PART[part].name}</button>`)}
    </div>`;
  }

  /** The two costs on which most depends. */
  costs() {
    const { choice } = this;
    const slider = (/** @type {keyof typeof MOST_COST} */ which, /** @type {string} */ name, /** @type {string} */ what) =>
      html`<label class="fig-knob"><span>${name} <span class="fig-told">${us(choice[which])}</span></span><input type="range" min="0" max=${MOST_COST[which]} .value=${String(choice[which])} aria-label=${what} aria-valuetext=${us(choice[which])} @input=${(/** @type {Event} */ event) => this.change({ [which]: Number(/** @type {HTMLInputElement} */ (event.target).value) }, which)} /></label>`;
    return html`<div class="fig-bar">${slider("unpark", "unparking costs", "What unparking a worker costs the thread that does it")}${slider("wake", "the worker runs after", "How long an unparked worker takes until it runs")}</div>`;
  }

  transport() {
    const end = endOf(this.runs);
    const press = (/** @type {string} */ label, /** @type {string} */ glyph, /** @type {() => void} */ action) =>
      html`<button type="button" class="ws-button" aria-label=${label} @click=${action}><span aria-hidden="true">${glyph}</span></button>`;
    return html`<div class="fig-bar fig-transport">
      <span class="fig-group" role="group" aria-label="Time">
        ${press("To the start", "|◀", () => this.seekTo(0))}${press("Back by one event", "‹", () => this.nextEvent(-1))}
        ${press(this.player.isPlaying ? "Pause" : "Play", this.player.isPlaying ? "II" : "▶", () => this.togglePlay())}
        ${press("Forward by one event", "›", () => this.nextEvent(1))}${press("To the end", "▶|", () => this.seekTo(end))}
      </span>
      <input class="fig-scrubber steps-scrubber" type="range" min="0" max=${end} .value=${String(this.at)} aria-label="Time" aria-valuetext=${this.momentIs()} @input=${(/** @type {Event} */ event) => this.seekTo(Number(/** @type {HTMLInputElement} */ (event.target).value))} />
      <span class="fig-told">${us(this.at)}</span>
    </div>`;
  }

  /** @param {boolean} isOpen */
  text(isOpen) {
    const { before, now } = this.runs;
    return asText(this.runs, sentences(before, now), { at: this.at, state: stateAt(now, this.at) }, isOpen, this.textState(), (at) => this.seekTo(at));
  }
}

/** @param {string[]} all @param {string} one */
function after(all, one) {
  return /** @type {string} */ (all[(all.indexOf(one) + 1) % all.length]);
}
