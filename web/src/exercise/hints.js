// The hints, level by level: each after another red check, or when the reader
// insists.

import { button, element } from "../common/dom.js";
import { prose } from "../common/prose.js";

/** @typedef {{given: {heading: string, text: string}[], to_come: string[], earned: boolean}} State */

export class Hints {
  /** @param {() => Promise<State>} askForNext */
  constructor(askForNext) {
    this.askForNext = askForNext;
    this.given = element("div");
    this.offer = element("div", { class: "exercise-row ws-screen-only" });
    this.element = element("div", { class: "hints" }, this.given, this.offer);
    this.isOver = false;
  }

  /** @param {State} state */
  show(state) {
    this.state = state;
    const shown = this.given.childElementCount;
    state.given.slice(shown).forEach(({ heading, text }, at) => {
      const summary = element("summary", {}, `Hint ${shown + at + 1}: ${heading.toLowerCase()}`);
      this.given.append(element("details", { class: "hint" }, summary, ...prose(text)));
    });
    this.#offerNext();
  }

  /** Gives the next hint, or the last once more. */
  ask() {
    if (this.state?.to_come.length) return void this.#next();
    const last = this.given.lastElementChild;
    if (last instanceof HTMLDetailsElement) this.#open(last);
  }

  /** A check was red: the next hint is earned. */
  earn() {
    if (!this.state) return;
    this.state.earned = true;
    this.isOver = false;
    this.#offerNext();
  }

  /** The exercise is solved. */
  end() {
    this.isOver = true;
    this.#offerNext();
  }

  #offerNext() {
    const { given, to_come, earned } = this.state ?? { given: [], to_come: [], earned: false };
    const next = to_come[0]?.toLowerCase();
    if (next === undefined || this.isOver) return this.offer.replaceChildren();
    const text = earned ? `Show hint ${given.length + 1}: ${next}` : "Show it now";
    const ask = button(text, () => this.#next());
    const when = given.length === 0 ? `A first hint, ${next}, comes with a red check.` : `The next hint, ${next}, comes with another red check.`;
    this.offer.replaceChildren(...(earned ? [ask] : [element("span", {}, when), ask]));
  }

  async #next() {
    this.show(await this.askForNext());
    const last = this.given.lastElementChild;
    if (last instanceof HTMLDetailsElement) this.#open(last);
  }

  #open(/** @type {HTMLDetailsElement} */ hint) {
    hint.open = true;
    hint.querySelector("summary")?.focus();
  }
}
