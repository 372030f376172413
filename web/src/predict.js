// Predictions that a reader commits to: choices or a number under a question.
// The prediction is kept, and compared when the program has run.

import { button, element } from "./common/dom.js";
import { localStore } from "./common/storage.js";
import { hashOf } from "./snippets/edits.js";

/** @typedef {{said?: string, was?: string}} Kept what the reader said, and what it was */
/** @typedef {{snippet: string, printed: string, edited: boolean}} Ran */

/**
 * What it was: what the program printed, if the question says where, otherwise the answer that the book knows. That
 * isn't the answer of an edited program.
 *
 * @param {{found?: string | undefined, answer?: string | undefined}} question
 * @param {Ran} ran
 */
export function outcome({ found, answer }, { printed, edited }) {
  if (found) return new RegExp(found, "m").exec(printed)?.[1];
  return edited ? undefined : answer;
}

/**
 * @param {string | undefined} said
 * @param {string | undefined} was
 * @param {string} unit
 */
export function verdict(said, was, unit) {
  if (was === undefined) return "";
  const named = (/** @type {string} */ value) => (unit ? `${value} ${unit}` : quoted(value));
  if (said === undefined) return `It was: ${named(was)}.`;
  return isSame(said, was) ? `You said ${named(said)}, and so it was.` : `You said ${named(said)}; it was ${named(was)}.`;
}

/** Several words don't run into ours. @param {string} value */
function quoted(value) {
  return /\s/.test(value) ? `“${value}”` : value;
}

/** @param {string} said @param {string} was */
function isSame(said, was) {
  return said === was || (said.trim() !== "" && Number(said) === Number(was));
}

/** The questions about this program that aren't answered yet. @param {string} snippet */
export function isOpen(snippet) {
  return [...document.querySelectorAll("main .predict")].some((box) => box instanceof HTMLElement && box.dataset.snippet === snippet && box.dataset.said === undefined);
}

export function startPredictions() {
  for (const box of document.querySelectorAll("main .predict[data-answer]")) {
    if (box instanceof HTMLElement) new Prediction(box).start();
  }
}

/** Tells the questions that a program has run. @param {Ran} ran */
export function tellPredictions(ran) {
  document.dispatchEvent(new CustomEvent("workshop-ran", { detail: ran }));
}

class Prediction {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    // What the page's head has put there keeps the room.
    box.querySelector(":scope > .predict-choices")?.remove();
    this.question = { found: box.dataset.found, answer: box.dataset.answer };
    this.unit = box.dataset.unit ?? "";
    this.snippet = box.dataset.snippet;
    this.choices = (box.dataset.choices ?? "").split("|").map((choice) => choice.trim()).filter(Boolean);
    this.store = localStore();
    this.key = `workshop-predict-${hashOf(`${box.textContent}${box.dataset.choices ?? ""}`)}`;
    /** @type {Kept} */
    this.kept = {};
    /** @type {HTMLButtonElement[]} */
    this.buttons = this.choices.map((choice) => button(choice, () => this.say(choice), { class: "choice" }));
    this.number = element("input", { type: "number", step: "any", "aria-label": "Your prediction", on: { keydown: (event) => this.sayByKey(/** @type {KeyboardEvent} */ (event)) } });
    this.status = element("p", { class: "predict-said", role: "status" });
    this.again = button("Ask me again", () => this.forget(), { hidden: true });
  }

  start() {
    try {
      this.kept = JSON.parse(this.store.getItem(this.key) ?? "{}");
    } catch {
      // What can't be read is no prediction.
    }
    const asked = this.choices.length > 0 ? this.buttons : [element("label", {}, this.number, ` ${this.unit}`), button("Keep it", () => this.say(this.number.value))];
    this.box.append(element("div", { class: "predict-choices ws-screen-only", role: "group", "aria-label": "Your prediction" }, ...asked, this.again), this.status);
    document.addEventListener("workshop-ran", (event) => this.compare(/** @type {CustomEvent<Ran>} */ (event).detail));
    this.show();
  }

  sayByKey(/** @type {KeyboardEvent} */ event) {
    // In the book these keys turn pages and open the search.
    event.stopPropagation();
    if (event.key === "Enter") this.say(this.number.value);
  }

  /** Whether its program has a button that runs it. */
  canRun() {
    return Boolean(this.snippet && document.querySelector(`.snippet[data-name="${CSS.escape(this.snippet)}"] .snippet-bar .primary`));
  }

  /** Where no program runs, there is nothing to wait for. @param {string} said */
  say(said) {
    if (said.trim() === "" || this.kept.was !== undefined) return;
    this.keep({ said, ...(this.canRun() ? {} : { was: this.question.answer }) });
  }

  /** @param {Ran} ran */
  compare(ran) {
    if (ran.snippet !== this.snippet) return;
    const was = outcome(this.question, ran);
    if (was !== undefined) this.keep({ ...this.kept, was });
  }

  forget() {
    this.keep({});
    (this.buttons[0] ?? this.number).focus();
  }

  /** @param {Kept} kept */
  keep(kept) {
    this.kept = kept;
    try {
      if (kept.said === undefined) this.store.removeItem(this.key);
      else this.store.setItem(this.key, JSON.stringify(kept));
    } catch {
      // The storage is full: it is kept as long as the page.
    }
    this.show();
  }

  show() {
    const { said, was } = this.kept;
    if (said === undefined) delete this.box.dataset.said;
    else this.box.dataset.said = said;
    for (const choice of this.buttons) {
      const text = choice.textContent ?? "";
      choice.setAttribute("aria-pressed", String(text === said));
      choice.setAttribute("aria-disabled", String(was !== undefined));
      choice.classList.toggle("right", was !== undefined && isSame(text, was));
    }
    this.number.readOnly = was !== undefined;
    this.number.value = said ?? "";
    this.again.hidden = was === undefined;
    const waiting = said === undefined ? "" : `You say ${this.unit ? `${said} ${this.unit}` : quoted(said)}. Run the program to compare.`;
    this.status.textContent = verdict(said, was, this.unit) || waiting;
  }
}
