// `workshop.steps/1`, checked and made plain: one order as it happened, or the
// programs from which a reader makes one.

import { Unreadable, checkSchema, parseDocument, textOf } from "../unreadable.js";
import { asWord, fieldOf, withField } from "./fields.js";

const SCHEMA = "workshop.steps/1";
const REMEDY = "load a file that a failing model of this book has written";
const MOST = { threads: 6, cells: 40, steps: 500, lines: 200, cases: 20, names: 40 };
const ENDS = new Set(["done", "deadlock", "failure", "race"]);

/** @typedef {string | number | boolean} Value */
/** @typedef {{kind: "done" | "deadlock" | "failure" | "race", text: string, threads: number[]}} End */
/** @typedef {[number, Value, string]} Condition a cell, a value, and the field that has it, or empty */
/** @typedef {{when: Condition[], set: [number, (values: Value[], now: Value | undefined) => Value][], to: number, says: string, fails: string}} Case `to` is a line of the same thread; `now` is what the step has made of the cell so far */
/** @typedef {{code: string, cases: Case[], waits: string, rests: Condition[] | undefined}} Line */
/** @typedef {{name: string, initial: Value, fields: import("./fields.js").Field[], isHeap: boolean}} Cell */

/**
 * @typedef {object} Recorded
 * @property {number} thread
 * @property {string} text
 * @property {string} ordering
 * @property {string} place file and line, or empty
 * @property {string} code the line itself, or empty
 * @property {[number, Value][]} changes cells and their new values
 * @property {boolean} blocks
 * @property {number[]} wakes
 * @property {Value | undefined} stale
 * @property {string} note
 */

/**
 * @typedef {object} Steps
 * @property {string} title
 * @property {string} description
 * @property {string[]} threads their names
 * @property {Cell[]} cells
 * @property {Recorded[]} steps
 * @property {End | undefined} end of the steps
 * @property {Line[][]} programs one a thread; none where steps were recorded
 * @property {number[]} show the order to be shown at first
 * @property {any} document as it came
 */

/** @param {string} text @returns {Steps} */
export function parseSteps(text) {
  return readSteps(parseDocument(text, SCHEMA, REMEDY));
}

/** @param {any} document @returns {Steps} */
export function readSteps(document) {
  checkSchema(document, SCHEMA, REMEDY);
  const threads = list(document.threads, "threads").map((thread, index) => textOf(thread?.name, `thread ${index + 1}`));
  const cells = list(document.cells ?? [], "cells").map((cell, index) => {
    const named = (/** @type {unknown} */ names, /** @type {boolean} */ isCount) => list(names ?? [], "names").map((name) => ({ name: textOf(name), isCount }));
    const fields = [...named(cell?.bits, false), ...named(cell?.counts, true)];
    return { name: textOf(cell?.name, `cell ${index + 1}`), initial: asWord(fields, valueOf(cell?.initial)), fields, isHeap: cell?.heap === true };
  });
  const steps = list(document.steps ?? [], "steps");
  const lines = list(document.lines ?? [], "lines");
  if (threads.length === 0) throw new Unreadable(`These steps are of no thread: ${REMEDY}.`);
  if ((steps.length === 0) === (lines.length === 0)) throw new Unreadable(`This has no steps, or programs besides: ${REMEDY}.`);
  const thread = threadOf(threads.length);
  return {
    title: textOf(document.title, "Steps"),
    description: textOf(document.description),
    threads,
    cells,
    steps: steps.map((step, index) => recorded(step, cells.length, thread, `Step ${index + 1}`)),
    end: steps.length > 0 ? endOf(document.end, thread) : undefined,
    programs: lines.length > 0 ? programs(lines, cells, thread, threads.length) : [],
    show: list(document.show ?? [], "steps").map((one) => thread(one, "The order that is shown")),
    document,
  };
}

/** @param {unknown} value @param {keyof typeof MOST} what @returns {any[]} */
function list(value, what) {
  if (!Array.isArray(value)) throw new Unreadable(`The ${what} of this document are no list: ${REMEDY}.`);
  if (value.length > MOST[what]) throw new Unreadable(`This has ${value.length} ${what}, and a page draws ${MOST[what]} at most: ${REMEDY}.`);
  return value;
}

/** @param {number} many @returns {(value: unknown, what: string) => number} */
function threadOf(many) {
  return (value, what) => {
    if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value >= many) throw new Unreadable(`${what} is of an unknown thread: ${REMEDY}.`);
    return value;
  };
}

/** @param {unknown} value @returns {Value} */
function valueOf(value) {
  if (typeof value === "boolean" || (typeof value === "number" && Number.isSafeInteger(value))) return value;
  return textOf(value);
}

/** @param {any} step @param {number} cells @param {(value: unknown, what: string) => number} thread @param {string} what @returns {Recorded} */
function recorded(step, cells, thread, what) {
  const changes = list(step?.changes ?? [], "cells").map((change) => {
    const cell = change?.cell;
    if (!Number.isInteger(cell) || cell < 0 || cell >= cells) throw new Unreadable(`${what} changes an unknown cell: ${REMEDY}.`);
    return /** @type {[number, Value]} */ ([cell, valueOf(change.value)]);
  });
  const { file, line, code } = step?.source ?? {};
  return {
    thread: thread(step?.thread, what),
    text: textOf(step.text),
    ordering: textOf(step.ordering),
    place: file ? `${textOf(file)}${Number.isInteger(line) ? `:${line}` : ""}` : "",
    code: textOf(code).trim(),
    changes,
    blocks: step.blocks === true,
    wakes: list(step.wakes ?? [], "threads").map((one) => thread(one, what)),
    stale: step.stale === undefined || step.stale === null ? undefined : valueOf(step.stale),
    note: textOf(step.note),
  };
}

/** @param {any} end @param {(value: unknown, what: string) => number} thread @returns {End} */
function endOf(end, thread) {
  if (!ENDS.has(end?.kind)) throw new Unreadable(`These steps don't say how they ended: ${REMEDY}.`);
  return { kind: end.kind, text: textOf(end.text), threads: list(end.threads ?? [], "threads").map((one) => thread(one, "The end")) };
}

/** @param {any[]} lines @param {Cell[]} cells @param {(value: unknown, what: string) => number} thread @param {number} many threads @returns {Line[][]} */
function programs(lines, cells, thread, many) {
  const byThread = Array.from({ length: many }, () => /** @type {any[]} */ ([]));
  lines.forEach((line, index) => byThread[thread(line?.thread, `Line ${index + 1}`)]?.push(line));
  const cell = (/** @type {unknown} */ name) => {
    const index = cells.findIndex((one) => one.name === name);
    if (index < 0) throw new Unreadable(`A line names the cell ${textOf(name, "?")}, which isn't there: ${REMEDY}.`);
    return index;
  };
  const pairs = (/** @type {unknown} */ object) => {
    const entries = Object.entries(object ?? {});
    if (entries.length > MOST.names) throw new Unreadable(`A line names ${entries.length} cells, more than a page can draw: ${REMEDY}.`);
    return entries;
  };
  // A cell, or a field of one: `state.RUNNING`.
  const place = (/** @type {string} */ name) => {
    const [, word, field = ""] = /^(.*)\.(.*)$/.exec(name) ?? [];
    const index = cells.findIndex((one) => one.name === word && one.fields.some((other) => other.name === field));
    return index < 0 ? { index: cell(name), field: "" } : { index, field };
  };
  const fieldsOf = (/** @type {number} */ index) => cells[index]?.fields ?? [];
  const conditions = (/** @type {unknown} */ object) => pairs(object).map(([name, value]) => {
    const { index, field } = place(name);
    return /** @type {Condition} */ ([index, field ? Number(value) : asWord(fieldsOf(index), valueOf(value)), field]);
  });
  const updates = (/** @type {unknown} */ object) => pairs(object).map(([name, update]) => {
    const { index, field } = place(name);
    const fields = fieldsOf(index);
    const { add } = update ?? {};
    const own = (/** @type {Value | undefined} */ word) => withField(fields, word, field, add === undefined ? Number(update) : fieldOf(word, field) + Number(add));
    return /** @type {Case["set"][0]} */ ([index, field ? (_, now) => own(now) : updateOf(update, index, fields, cell)]);
  });
  return byThread.map((own) => {
    const target = (/** @type {unknown} */ to, /** @type {number} */ next) => {
      if (to === undefined || to === null) return next;
      if (to === "end") return own.length;
      const index = own.findIndex(({ label }) => label === to);
      if (index < 0) throw new Unreadable(`A line leads to ${textOf(to, "?")}, which isn't there: ${REMEDY}.`);
      return index;
    };
    return own.map((line, index) => ({
      code: textOf(line.code),
      waits: textOf(line.waits, "waits"),
      rests: line.rests ? conditions(line.rests) : undefined,
      cases: list(line.cases ?? [], "cases").map((one) => ({
        when: conditions(one?.when),
        set: updates(one?.set),
        to: target(one?.to, index + 1),
        says: textOf(one?.says),
        fails: textOf(one?.fails),
      })),
    }));
  });
}

/** @param {any} update @param {number} own @param {Cell["fields"]} fields @param {(name: unknown) => number} cell @returns {(values: Value[]) => Value} */
function updateOf(update, own, fields, cell) {
  if (update && typeof update === "object") {
    if ("of" in update) {
      const other = cell(update.of);
      return (values) => values[other] ?? "";
    }
    const { add } = update;
    if (Number.isSafeInteger(add)) return (values) => Number(values[own]) + add;
  }
  const value = asWord(fields, valueOf(update));
  return () => value;
}
