import { element } from "./dom.js";
import { linkPieces } from "./links.js";
import { milestoneOf, standing } from "./milestones.js";
import { partsOf } from "./report.js";
import { spoken } from "./words.js";
import { fromRoot } from "../runner.js";

/**
 * @typedef {object} TestEvent
 * @property {string} name
 * @property {number | null} [clause] of the contract
 * @property {"waiting" | "running" | "passed" | "failed" | "unwritten" | "unjudged" | "ignored"} outcome
 * @property {string | null} [message]
 */

/**
 * @typedef {object} Telling which failure tells most
 * @property {string} first the test's name
 * @property {string} message with the advice that fits what was seen
 * @property {{name: string, line: string}[]} others
 */

const MARKS = { waiting: "·", running: "…", passed: "✓", failed: "✗", unwritten: "·", unjudged: "·", ignored: "–" };
/** @type {Record<string, string>} */
const IN_WORDS = { unwritten: "not written yet", unjudged: "can't judge it" };
const OF_MILESTONES = { open: "", reached: "✓ reached", unwritten: "not written yet", failed: "not yet" };

/**
 * Tests, one line each, in the order of their milestones and clauses; the first
 * failure stands open.
 */
export class TestList {
  /** @param {import("./milestones.js").Milestone[]} [milestones] */
  constructor(milestones = []) {
    this.milestones = milestones;
    /** @type {Map<number, HTMLLIElement>} */
    this.headings = new Map();
    this.element = element("ul", { class: "tests", hidden: true });
    /** @type {Map<string, {item: HTMLLIElement, test: TestEvent}>} */
    this.rows = new Map();
    /** @type {HTMLLIElement | undefined} the failure that tells most */
    this.first = undefined;
    /** @type {string[]} the names in the order in which to read them; what isn't among them comes last */
    this.order = [];
  }

  clear() {
    this.rows.clear();
    this.first = undefined;
    this.headings.clear();
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
    item.replaceChildren(this.line(test));
    if (!known) this.insert(item, test);
    this.head(item, test);
  }

  /**
   * Takes in which failure tells most, and a line about each of the others.
   *
   * @param {Telling} telling
   */
  tell({ first, message, others }) {
    const row = this.rows.get(first);
    if (row) {
      row.test = { ...row.test, message };
      row.item.replaceChildren(this.line(row.test));
    }
    this.first = row?.item;
    for (const { name, line } of others) {
      const item = this.rows.get(name)?.item;
      item?.querySelector(".test-seen")?.remove();
      item?.querySelector("summary")?.append(element("span", { class: "test-seen" }, line));
    }
  }

  /** Where a failure's words stand. @param {unknown} name of the test */
  wordsOf(name) {
    return this.rows.get(String(name))?.item.querySelector(".test-message");
  }

  /**
   * Opens what the reader should look at first, a failure or what is to be
   * written next, and returns it.
   *
   * @returns {HTMLDetailsElement | undefined}
   */
  openFirstFailure() {
    const inFirst = this.first?.querySelector("details");
    const first = inFirst ?? this.element.querySelector(".failed > details") ?? this.element.querySelector(":is(.unwritten, .unjudged) > details");
    if (!(first instanceof HTMLDetailsElement)) return undefined;
    first.open = true;
    return first;
  }

  /**
   * What is shown of a test.
   *
   * @param {TestEvent} test
   * @returns {HTMLElement}
   */
  line(test) {
    return line(test);
  }

  /** All tests, as they stand. */
  get tests() {
    return [...this.rows.values()].map(({ test }) => test);
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
  insert(item, test) {
    const after = [...this.rows.values()]
      .filter((row) => row.item !== item && this.compare(row.test, test) > 0)
      .sort((a, b) => this.compare(a.test, b.test))[0];
    const isFirstOfNext = after && milestoneOf(this.milestones, after.test.clause) !== milestoneOf(this.milestones, test.clause);
    const heading = isFirstOfNext ? this.headings.get(milestoneOf(this.milestones, after.test.clause)?.number ?? 0) : undefined;
    this.element.insertBefore(item, heading ?? after?.item ?? null);
  }

  /**
   * The heading of the test's milestone says how that stands.
   *
   * @param {HTMLLIElement} item
   * @param {TestEvent} test
   */
  head(item, test) {
    const milestone = milestoneOf(this.milestones, test.clause);
    if (!milestone) return;
    let heading = this.headings.get(milestone.number);
    if (!heading) {
      heading = element("li", { class: "milestone" });
      this.headings.set(milestone.number, heading);
      item.before(heading);
    }
    const stands = standing(milestone, this.tests);
    const name = element("span", { class: "milestone-name" }, `Milestone ${milestone.number}: ${milestone.name}`);
    heading.replaceChildren(name, element("span", { class: `milestone-state ${stands}` }, OF_MILESTONES[stands]));
  }

  /**
   * @param {TestEvent} a
   * @param {TestEvent} b
   */
  compare(a, b) {
    const place = (/** @type {TestEvent} */ { clause }) => milestoneOf(this.milestones, clause)?.number ?? 0;
    const rank = (/** @type {TestEvent} */ { name }) => (this.order.indexOf(functionOf(name)) + 1 || Infinity);
    const byRank = rank(a) === rank(b) ? 0 : rank(a) - rank(b);
    return place(a) - place(b) || (a.clause ?? 0) - (b.clause ?? 0) || byRank || a.name.localeCompare(b.name, "en");
  }
}

/** @param {string} name */
function functionOf(name) {
  return name.split("::").at(-1) ?? name;
}

/** @param {TestEvent} test */
function line(test) {
  const parts = [
    element("span", { class: "test-mark", "aria-hidden": "true" }, MARKS[test.outcome]),
    element("span", { class: "test-name", title: test.name }, spoken(test.name)),
    ...(test.clause == null ? [] : [element("span", { class: "test-clause" }, `clause ${test.clause}`)]),
    element("span", { class: "test-outcome" }, IN_WORDS[test.outcome] ?? test.outcome),
  ];
  if (!test.message || !["failed", "unwritten", "unjudged"].includes(test.outcome)) return element("div", { class: "test-line" }, ...parts);
  return element(
    "details",
    {},
    element("summary", { class: "test-line" }, ...parts),
    element("pre", { class: "test-message" }, ...report(test.message)),
  );
}

/**
 * The message in its rows, beside or below their labels; only pages of this book become links.
 *
 * @param {string} message
 */
function report(message) {
  return partsOf(message.trimEnd()).map(({ label, text }) =>
    label === undefined
      ? element("span", { class: "test-plain" }, ...linked(text.replace(/^\n|\n$/g, "")))
      : element("span", { class: "test-row" }, element("span", { class: "test-label" }, label), " ", element("span", { class: "test-text" }, ...linked(text))),
  );
}

/** @param {string} text */
function linked(text) {
  return linkPieces(text).map(({ text, page }) => (page === undefined ? text : element("a", { href: fromRoot(page).href }, text)));
}
