// `<ws-litmus>`: which outcomes the orderings of a small program allow.

import { html, nothing } from "lit/html.js";
import { Figure, isTaken } from "../figure.js";
import { count, listed, tied } from "../format.js";
import { choose, programOf, shownOf } from "./first.js";
import { PRESETS, PROGRAMS, orderingsIn, preset, slotsOf } from "./programs.js";
import { asText } from "./table.js";
import { picture } from "./view.js";
import { MODEL, START, codeOf, conclusion, labelOf, orderOf } from "./words.js";

/** @typedef {import("./first.js").Choice} Choice */

/** @type {[string, string][]} */
const KEYS = [
  ["t", "next program"],
  ["o", "next orderings for all of it"],
  [", .", "the outcome before, after"],
  ["u", "undo"],
  ["r", "start over"],
  ["f", "full screen; Escape leaves it"],
  ["?", "these keys"],
];

export class LitmusFigure extends Figure {
  choice = /** @type {Choice} */ ({});
  shown = /** @type {ReturnType<typeof shownOf>} */ ({});
  /** Whether what can happen is still asked. */
  isAsking = false;
  /** @type {Set<string>} the outcomes that the reader thinks can happen */
  ticked = new Set();
  /** @type {Choice[]} */
  past = [];

  start() {
    this.set(choose(this.dataset.program, this.dataset.orderings));
    const kept = this.store.getItem(this.storeKey());
    if (this.dataset.predict === undefined || this.onPaper) return;
    if (kept !== null) return this.reveal(new Set(kept.split(",")));
    this.isAsking = true;
    this.why = "";
  }

  storeKey() {
    return `workshop-guess-${this.key}`;
  }

  /** @param {Choice} choice */
  set(choice) {
    this.isAsking = false;
    this.choice = choice;
    this.shown = shownOf(choice);
    const { program, orders, chosen } = this.shown;
    this.why = conclusion(program, orders, chosen);
  }

  /** @param {Choice} choice */
  change(choice) {
    this.past.push(this.choice);
    this.set(choice);
    this.draw();
  }

  /** @param {number[]} orders */
  order(orders) {
    this.change({ ...this.choice, orders });
  }

  undo() {
    const before = this.past.pop();
    if (!before) return;
    this.set(before);
    this.why = `Undone. ${this.why}`;
    this.draw();
  }

  reset() {
    this.store.removeItem(this.storeKey());
    this.past = [];
    this.ticked = new Set();
    this.start();
    this.draw();
  }

  /** @param {1 | -1} direction */
  nextOutcome(direction) {
    const { all } = this.shown;
    const next = all[(all.findIndex(({ key }) => key === this.choice.key) + direction + all.length) % all.length];
    if (next) this.change({ ...this.choice, key: next.key });
  }

  /** The preset that the orderings are, if they are one. */
  presetNow() {
    return PRESETS.findIndex(({ id }) => String(preset(this.shown.program, id)) === String(this.choice.orders));
  }

  /** @param {string} id */
  takeProgram(id) {
    this.change(choose(id, PRESETS[this.presetNow()]?.id));
  }

  /** @param {string} id */
  takePreset(id) {
    this.order(preset(this.shown.program, id));
  }

  // ---- the prediction

  /** Compares what the reader thinks with what is so. @param {Set<string>} ticked */
  reveal(ticked) {
    const { program, all } = this.shown;
    this.isAsking = false;
    this.ticked = ticked;
    const wrong = all.filter(({ key, can }) => can.rust !== ticked.has(key)).map(({ key, can }) => `“${labelOf(program, key)}” ${can.rust ? "can" : "can't"} happen`);
    const { why } = this;
    this.why = `${wrong.length > 0 ? `You got ${all.length - wrong.length} of ${count(all.length, "outcome")} right; ${listed(wrong)}.` : `You got all ${all.length} outcomes right.`} ${why}`;
  }

  check() {
    this.store.setItem(this.storeKey(), [...this.ticked].join(","));
    this.set(this.choice);
    this.reveal(this.ticked);
    this.drawAndFocus();
  }

  look() {
    this.set(this.choice);
    this.drawAndFocus();
  }

  /** What had the focus is gone. */
  drawAndFocus() {
    this.draw();
    /** @type {HTMLElement | null} */ (this.querySelector(".litmus-outcomes button[aria-pressed='true']"))?.focus();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const { key } = event;
    if (key === "Escape") return this.closeMenu() || this.leaveLarge();
    if (isTaken(event)) return false;
    const programs = Object.keys(PROGRAMS);
    /** @type {Record<string, () => void>} */
    const does = {
      "?": () => this.toggleHelp(),
      ",": () => this.nextOutcome(-1),
      ".": () => this.nextOutcome(1),
      t: () => this.takeProgram(programs[(programs.indexOf(this.choice.id) + 1) % programs.length] ?? ""),
      o: () => this.takePreset(PRESETS[(this.presetNow() + 1) % PRESETS.length]?.id ?? ""),
      u: () => this.undo(),
      r: () => this.reset(),
      f: () => this.toggleLarge(),
    };
    if (!does[key]) return false;
    does[key]();
    return true;
  }

  // ---- the address

  linkParts() {
    const { id, orders, key } = this.choice;
    return { program: id, orderings: orders.join(""), outcome: key.replaceAll(" ", "") };
  }

  /** @param {Record<string, string>} parts */
  applyLink({ program, orderings, outcome }) {
    const choice = choose(program, PRESETS.find(({ id }) => id === orderings)?.id);
    const key = [...(outcome ?? "")].join(" ");
    const orders = orderingsIn(programOf(choice.id), orderings) ?? choice.orders;
    const isKnown = shownOf({ ...choice, orders, key }).chosen;
    this.past.push(this.choice);
    this.set({ ...choice, orders, key: isKnown ? key : choice.key });
  }

  // ---- what is drawn

  template() {
    const { program, orders, chosen } = this.shown;
    const shown = { ...this.shown, isCovered: this.isAsking && !this.onPaper };
    const label = shown.isCovered ? `The outcomes of “${program.name}”; what can happen is asked` : conclusion(program, orders, chosen);
    const drawing = picture(shown, { width: this.width, label, withProgram: this.onPaper });
    const text = asText(shown, this.onPaper, this.textState());
    if (this.onPaper) return html`${this.head()}<p class="fig-why">${tied(label)}</p><div class="fig-canvas steps-canvas">${drawing}</div>${text}${this.linkOnPaper()}`;
    return html`${this.head(html`<span class="fig-tools">${this.largeButton()}${this.menu("", nothing)}</span>`)}
      ${this.help(KEYS)}${this.choices()}<p class="scheduler-load">${program.says} ${START}</p>${this.code()}
      ${this.isAsking ? this.question() : this.outcomes()}${this.whyLine()}
      <div class="fig-canvas steps-canvas" @click=${this.pick}>${drawing}</div>
      <p class="fig-source">${MODEL}</p>
      ${this.isAsking ? nothing : text}`;
  }

  choices() {
    const at = this.presetNow();
    const { id } = this.choice;
    const picked = (/** @type {Event} */ event) => /** @type {HTMLSelectElement} */ (event.target).value;
    return html`<div class="fig-bar">
      <label class="fig-knob">Program <select aria-label="Program" @change=${(/** @type {Event} */ event) => this.takeProgram(picked(event))}>${Object.entries(PROGRAMS).map(([name, one]) => html`<option value=${name} ?selected=${name === id} .selected=${name === id}>${one.name}</option>`)}</select></label>
      <label class="fig-knob">All orderings <select aria-label="All orderings" @change=${(/** @type {Event} */ event) => this.takePreset(picked(event))}>${at < 0 ? html`<option selected .selected=${true} disabled>as chosen below</option>` : nothing}${PRESETS.map(({ id, name }, index) => html`<option value=${id} ?selected=${index === at} .selected=${index === at}>${name}</option>`)}</select></label>
      <button type="button" class="ws-button" aria-disabled=${String(this.past.length === 0)} @click=${() => this.undo()}>Undo</button>
      <button type="button" class="ws-button" @click=${() => this.reset()}>Start over</button>
    </div>`;
  }

  /** The threads, with the ordering of each operation to be chosen. */
  code() {
    const { program } = this.shown;
    const slots = slotsOf(program).map((slot, index) => ({ slot, index }));
    return html`<div class="litmus-code">${program.threads.map(({ name }, thread) => html`<div role="group" aria-label=${name}><p class=${`litmus-thread hue-${thread}`}>${name}</p>
      ${slots.filter(({ slot }) => slot.thread === thread).map(({ slot, index }) => this.line(name, slot, index))}</div>`)}</div>`;
  }

  /** @param {string} name of the thread @param {import("./programs.js").Slot} slot @param {number} index */
  line(name, slot, index) {
    const { orders } = this.choice;
    const { before, after } = codeOf(slot, orders[index] ?? 0);
    if (slot.choices.length === 1) return html`<p class="litmus-line"><code>${before}${orderOf(slot, 0)}${after}</code></p>`;
    const set = (/** @type {Event} */ event) => this.order(orders.with(index, Number(/** @type {HTMLSelectElement} */ (event.target).value)));
    const what = slot.op ? `${name}, line ${slot.line}: ordering of ${slot.op.at}` : `${name}: fence after line ${slot.line}`;
    return html`<p class="litmus-line"><code>${before}</code><select aria-label=${what} @change=${set}>${slot.choices.map((one) => html`<option value=${one} ?selected=${one === orders[index]} .selected=${one === orders[index]}>${orderOf(slot, one)}</option>`)}</select><code>${after}</code></p>`;
  }

  outcomes() {
    const { program, all, chosen } = this.shown;
    return html`<div class="fig-bar litmus-outcomes" role="group" aria-label="Outcome to explain"><span class="fig-now">Explain: ${labelOf(program, program.bad).replace(/ = \d/g, "")}</span>${all.map((outcome) => html`<button type="button" class="ws-button fig-chip" aria-pressed=${String(outcome === chosen)} aria-label=${`${outcome.key}: ${labelOf(program, outcome.key)}`} @click=${() => this.change({ ...this.choice, key: outcome.key })}>${outcome.key}</button>`)}</div>`;
  }

  question() {
    const { program, all } = this.shown;
    const tick = (/** @type {string} */ key) => {
      if (!this.ticked.delete(key)) this.ticked.add(key);
      this.draw();
    };
    return html`<div class="fig-predict"><p>Which of these does Rust's memory model allow with these orderings?</p>
      <div class="litmus-ticks">${all.map(({ key }) => html`<label class="ws-check"><input type="checkbox" .checked=${this.ticked.has(key)} @change=${() => tick(key)} />${labelOf(program, key)}</label>`)}</div>
      <button type="button" class="ws-button primary" @click=${() => this.check()}>Check</button>
      <button type="button" class="ws-button" @click=${() => this.look()}>I'll just look</button></div>`;
  }

  /** A row of the board was pressed. @param {PointerEvent} event */
  pick({ target }) {
    const key = target instanceof Element ? target.closest("[data-key]")?.getAttribute("data-key") : undefined;
    if (key && !this.isAsking) this.change({ ...this.choice, key });
  }
}
