// The order of steps in which a model fails, as a figure. Its script is loaded only
// once there is one.

import { element } from "../common/dom.js";
import { spoken } from "../common/words.js";
import { requestFigures } from "../figures/load.js";
import { ask } from "../runner.js";

const OF_NOW = "How it fails, step by step";
const OF_BEFORE = "How it failed, step by step: from the code before your edit";

/** @typedef {{document: any, whole?: any, changed?: boolean}} Order `document` has the steps that matter, and `whole` every step; both as they came */

export class FailingOrder {
  /** @param {number} number of the exercise */
  constructor(number) {
    this.number = number;
    this.summary = element("summary");
    this.place = element("div");
    const command = element("code", {}, `cargo workshop order ${number}`);
    const more = element("p", { class: "order-more" }, "In a terminal, ", command, " shows it, too.");
    this.details = element("details", { class: "order" }, this.summary, this.place, more);
    /** Where it stands without the failure that it belongs to. */
    this.home = element("div", { class: "order-home" });
    /** Whether the check that goes on, or was last, has found it. */
    this.isFresh = false;
    /** Whether the reader has typed since it was asked for. */
    this.isStale = false;
    /** What the model is called. */
    this.model = "";
  }

  /**
   * A page that has just been loaded shows the last order.
   *
   * @param {import("./work.js").Work} work
   */
  async restore(work) {
    // This page writes what was typed just before the previous one was closed.
    await work.save();
    this.isStale = false;
    const order = await this.#last();
    if (!order || this.details.isConnected) return;
    const changed = order.changed === true || this.isStale || !work.isSame;
    this.home.append(this.details);
    this.#draw({ ...order, changed });
    this.details.open = !changed;
  }

  /** @param {Order} order @param {Element | null | undefined} below the failure's words */
  show(order, below) {
    this.isFresh = true;
    if (below) below.after(this.details);
    else this.home.append(this.details);
    this.#draw(order);
    // Another failure may be told first, and this one folded.
    for (let around = /** @type {Element | null} */ (this.details); around; around = around.parentElement) {
      if (around instanceof HTMLDetailsElement) around.open = true;
    }
  }

  /** A check begins: the results that it stood among go away, and it stays. */
  begin() {
    this.isFresh = false;
    if (this.details.isConnected) this.home.append(this.details);
  }

  /** A check has ended: what it found counts, and otherwise what the workshop remembers. */
  async settle() {
    if (this.isFresh || !this.details.isConnected) return;
    this.isStale = false;
    const order = await this.#last();
    if (this.isFresh) return;
    if (order) this.#age(order.changed === true || this.isStale);
    else this.details.remove();
  }

  becomeStale() {
    this.isStale = true;
    this.#age(true);
  }

  /** @returns {Promise<Order | undefined>} */
  async #last() {
    const text = await ask(`exercises/${this.number}/order`);
    return text ? JSON.parse(text) : undefined;
  }

  /** @param {boolean} isOld */
  #age(isOld) {
    this.summary.textContent = isOld ? OF_BEFORE : OF_NOW;
  }

  /** @param {Order} order */
  #draw({ document, whole, changed }) {
    this.#age(changed === true);
    const name = typeof document?.title === "string" ? spoken(document.title).slice(0, 100) : "the model";
    const steps = window.document.createElement("ws-steps");
    Object.assign(steps.dataset, { question: `Which order breaks “${name}”?`, follow: "" });
    for (const one of [document, whole]) {
      if (one) steps.append(element("script", { type: "application/json", "data-name": "failing-order" }, JSON.stringify(one)));
    }
    this.place.replaceChildren(element("figure", { class: "fig", id: `fig-order-${this.number}` }, steps));
    requestFigures();
  }
}
