// The contract as a checklist: each clause with its words, how it stands, and
// the checks that failed below it.

import { button, element, hideAndPassFocus, keepArrowKeys } from "../common/dom.js";
import { prose } from "../common/prose.js";
import { TestList } from "../common/test-list.js";

/** @typedef {{number: number, name: string, text: string}} Clause */
/** @typedef {"open" | "held" | "failed" | "unwritten"} Stands */

const MARKS = { open: "○", held: "✓", failed: "✗", unwritten: "·" };
const IN_WORDS = { open: "", held: "holds", failed: "doesn’t hold yet", unwritten: "not written yet" };

export class Checklist extends TestList {
  /**
   * @param {(name: string) => Promise<string>} codeOf the source of a check
   * @param {() => void} askForHint
   */
  constructor(codeOf, askForHint) {
    super();
    this.codeOf = codeOf;
    this.askForHint = askForHint;
    /** @type {Clause[]} */
    this.contract = [];
    /** @type {Map<number, {item: HTMLLIElement, details: HTMLDetailsElement, mark: HTMLElement, state: HTMLElement}>} */
    this.clauses = new Map();
    this.fold = element("li", { class: "fold", hidden: true });
    this.toggle = button("", () => this.showAll(!this.element.classList.contains("all")));
    this.fold.append(this.toggle);
  }

  /** @param {Clause[]} contract */
  setContract(contract) {
    this.contract = contract;
    for (const { number, name, text } of contract) {
      const mark = element("span", { class: "test-mark", "aria-hidden": "true" }, MARKS.open);
      const state = element("span", { class: "clause-state" });
      const summary = element("summary", {}, mark, element("span", { class: "clause-name" }, `${number}. ${name}`), state);
      const details = element("details", { open: true }, summary, ...prose(text));
      this.clauses.set(number, { item: element("li", { class: "clause" }, details), details, mark, state });
    }
    this.clear();
  }

  clear() {
    super.clear();
    // The parent's constructor calls this, too.
    if (!this.clauses) return;
    for (const number of this.clauses.keys()) this.#stand(number, "open");
    const placed = [...this.contract].sort((a, b) => this.compare(asTest(a), asTest(b)));
    for (const { number } of placed) {
      const { item } = /** @type {{item: HTMLLIElement}} */ (this.clauses.get(number));
      this.element.append(item);
      this.head(item, asTest({ number }));
    }
    this.fold.hidden = true;
    this.element.append(this.fold);
    this.element.hidden = this.contract.length === 0;
    this.showAll(false);
  }

  /**
   * @param {HTMLLIElement} item
   * @param {import("../common/test-list.js").TestEvent} test
   */
  insert(item, test) {
    super.insert(item, test);
    const known = [...this.rows.values()].filter((row) => row.item !== item && row.test.clause === test.clause);
    const before = known.filter((row) => this.compare(row.test, test) < 0).sort((a, b) => this.compare(a.test, b.test)).at(-1)?.item;
    const place = before ?? (test.clause == null ? undefined : this.clauses.get(test.clause)?.item);
    if (place) place.after(item);
    else this.fold.before(item);
  }

  /** @param {import("../common/test-list.js").TestEvent} test */
  update(test) {
    super.update(test);
    if (test.clause != null && this.clauses.has(test.clause)) this.#stand(test.clause, this.standsOf(test.clause));
    this.#countFolded();
  }

  /**
   * @param {number} clause
   * @returns {Stands} `open` while its checks run
   */
  standsOf(clause) {
    const outcomes = new Set(this.tests.filter((test) => test.clause === clause).map(({ outcome }) => outcome));
    if (outcomes.size === 0 || outcomes.has("waiting") || outcomes.has("running")) return "open";
    if (outcomes.has("failed")) return "failed";
    return outcomes.has("unwritten") ? "unwritten" : "held";
  }

  /** How many clauses hold, of how many. */
  get held() {
    const held = this.contract.filter(({ number }) => this.standsOf(number) === "held").length;
    return { held, of: this.contract.length };
  }

  /** Folds what holds, and leaves open what is to be read. */
  settle() {
    for (const [number, { details }] of this.clauses) details.open = this.standsOf(number) !== "held";
    const first = this.openFirstFailure();
    first?.parentElement?.classList.add("first");
    this.#countFolded();
    return first;
  }

  /** @param {number} number @param {Stands} stands */
  #stand(number, stands) {
    const clause = this.clauses.get(number);
    if (!clause) return;
    clause.item.dataset.stands = stands;
    clause.mark.textContent = MARKS[stands];
    clause.state.textContent = IN_WORDS[stands];
    if (stands === "open") clause.details.open = true;
  }

  /** What passed, and what isn't written yet, stands behind one line. */
  #countFolded() {
    const passed = this.count("passed");
    const unwritten = this.element.querySelectorAll(":scope > .unwritten:not(.first)").length;
    this.folded = [passed && `${passed} that pass${passed === 1 ? "es" : ""}`, unwritten && `${unwritten} not written yet`].filter(Boolean).join(", ");
    this.fold.hidden = this.folded === "";
    this.showAll(this.element.classList.contains("all"));
  }

  /** @param {boolean} all */
  showAll(all) {
    this.element.classList.toggle("all", all);
    this.toggle.textContent = all ? "Fold these again" : `Show ${this.folded}`;
    this.toggle.setAttribute("aria-expanded", String(all));
  }

  /**
   * A failure has its hint, and the code that saw it, beside it.
   *
   * @param {import("../common/test-list.js").TestEvent} test
   */
  line(test) {
    const made = super.line(test);
    if (made instanceof HTMLDetailsElement) made.append(this.#beside(test.name));
    return made;
  }

  /** @param {string} name */
  #beside(name) {
    const code = element("div");
    const show = button("Show its code", async () => {
      const source = element("code", { class: "language-rust" }, await this.codeOf(name));
      window.hljs?.highlightBlock(source);
      const block = element("pre", { class: "check-code", tabIndex: 0, role: "region", "aria-label": "The check’s code" }, source);
      keepArrowKeys(block);
      code.replaceChildren(block);
      hideAndPassFocus(show, block);
    });
    const hint = button("Hint", () => this.askForHint());
    return element("div", { class: "beside ws-screen-only" }, element("div", { class: "exercise-row" }, show, hint), code);
  }
}

/** A clause as a test of it, to be placed by. @param {{number: number}} clause */
function asTest({ number }) {
  return { name: "", clause: number, outcome: /** @type {const} */ ("waiting") };
}

