import { element } from "./dom.js";
import { linkPieces } from "./links.js";
import { spoken } from "./words.js";
import { fromRoot } from "../runner.js";

/**
 * @typedef {object} TestEvent
 * @property {string} name
 * @property {number | null} [clause] of the contract
 * @property {"waiting" | "running" | "passed" | "failed" | "ignored"} outcome
 * @property {string | null} [message]
 */

const MARKS = { waiting: "·", running: "…", passed: "✓", failed: "✗", ignored: "–" };

/** Tests, one line each, in the order of their clauses; the first failure stands open. */
export class TestList {
  constructor() {
    this.element = element("ul", { class: "tests", hidden: true });
    /** @type {Map<string, {item: HTMLLIElement, test: TestEvent}>} */
    this.rows = new Map();
  }

  clear() {
    this.rows.clear();
    this.element.replaceChildren();
    this.element.hidden = true;
  }

  /** @param {TestEvent} test */
  update(test) {
    this.element.hidden = false;
    const known = this.rows.get(test.name);
    const item = known?.item ?? element("li");
    this.rows.set(test.name, { item, test });
    item.className = test.outcome;
    item.replaceChildren(line(test));
    if (!known) this.#insert(item, test);
  }

  /** Opens the failure that the reader should look at first. */
  openFirstFailure() {
    const first = this.element.querySelector("details");
    if (first) first.open = true;
  }

  get isEmpty() {
    return this.rows.size === 0;
  }

  /** @param {TestEvent["outcome"]} outcome */
  count(outcome) {
    return [...this.rows.values()].filter(({ test }) => test.outcome === outcome).length;
  }

  /**
   * @param {HTMLLIElement} item
   * @param {TestEvent} test
   */
  #insert(item, test) {
    const after = [...this.rows.values()]
      .filter((row) => row.item !== item && compare(row.test, test) > 0)
      .sort((a, b) => compare(a.test, b.test))[0];
    this.element.insertBefore(item, after?.item ?? null);
  }
}

/**
 * @param {TestEvent} a
 * @param {TestEvent} b
 */
function compare(a, b) {
  return (a.clause ?? 0) - (b.clause ?? 0) || a.name.localeCompare(b.name, "en");
}

/** @param {TestEvent} test */
function line(test) {
  const parts = [
    element("span", { class: "test-mark", "aria-hidden": "true" }, MARKS[test.outcome]),
    element("span", { class: "test-name", title: test.name }, spoken(test.name)),
    ...(test.clause == null ? [] : [element("span", { class: "test-clause" }, `clause ${test.clause}`)]),
    element("span", { class: "test-outcome" }, test.outcome),
  ];
  if (!test.message || test.outcome !== "failed") return element("div", { class: "test-line" }, ...parts);
  return element(
    "details",
    {},
    element("summary", { class: "test-line" }, ...parts),
    element("pre", { class: "test-message" }, ...linked(test.message)),
  );
}

/**
 * The message as it is; only pages of this book become links.
 *
 * @param {string} message
 */
function linked(message) {
  return linkPieces(message.trimEnd()).map(({ text, page }) =>
    page === undefined ? text : element("a", { href: fromRoot(page).href }, text),
  );
}
