// On the page of a bug: the reader suspects a line of the program, has the exercise's
// checks look at the program, and compares the line with the answer.

import { whileBusy } from "./busy.js";
import { button, element, hideAndPassFocus } from "./common/dom.js";
import { Output } from "./common/output.js";
import { localStore } from "./common/storage.js";
import { TestList } from "./common/test-list.js";
import { Refused, post, runnerState } from "./runner.js";

/** @typedef {{said?: number, text?: string, isOver?: boolean}} Kept the line, what stands there, and whether the reader has seen the answer */

/**
 * @param {number | undefined} said
 * @param {number[]} atFault in order
 */
export function verdict(said, atFault) {
  const several = atFault.length > 1;
  const where = several ? `lines ${atFault.slice(0, -1).join(", ")} and ${atFault.at(-1)}` : `line ${atFault[0]}`;
  if (said === undefined) return `The bug is in ${where}.`;
  if (atFault.includes(said)) return several ? `You said line ${said}, and it’s one of those at fault: ${where}.` : `You said line ${said}, and that’s where the bug is.`;
  const [nearest = 0] = atFault.toSorted((a, b) => Math.abs(a - said) - Math.abs(b - said));
  const far = Math.abs(nearest - said);
  const away = `${far === 1 ? "one line" : `${far} lines`} further ${nearest > said ? "down" : "up"}`;
  return several ? `You said line ${said}. It’s ${where}, the nearest of which is ${away}.` : `You said line ${said}. It’s ${where}, ${away}.`;
}

/** The numbers, from 1, of the lines that these texts are. @param {string[]} lines @param {string} texts */
export function numbersOf(lines, texts) {
  const wanted = texts.split("\n").map((text) => text.trim()).filter(Boolean);
  return lines.flatMap((line, index) => (wanted.includes(line.trim()) ? [index + 1] : []));
}

/** Whether a line says something that can be wrong. @param {string} line */
function canBeSuspected(line) {
  return /\w/.test(line) && !/^\s*\/\//.test(line);
}

export function startSuspects() {
  const box = document.querySelector("main div.suspect");
  if (!(box instanceof HTMLElement)) return;
  const { snippet } = box.dataset;
  const editor = snippet && document.querySelector(`.snippet[data-name="${CSS.escape(snippet)}"] .ace_editor`);
  if (editor) new Suspicion(box, (say) => new Edited(/** @type {HTMLElement} */ (editor), say)).start();
  else if (!snippet) new Suspicion(box, (say) => new Listing(say)).start();
}

/**
 * The lines as they stand in the page, one option each.
 */
class Listing {
  help = "Which line do you suspect? Click or tap it, or go to the program with Tab and to the line with the arrow keys, and press Enter.";
  /** @type {HTMLElement[]} */
  controls = [];

  /** @param {(line: number) => void} say */
  constructor(say) {
    this.say = say;
    /** @type {HTMLElement[]} */
    this.rows = [];
    for (const code of document.querySelectorAll("main pre > code.suspect")) {
      const rows = splitIntoLines(/** @type {HTMLElement} */ (code));
      code.setAttribute("role", "listbox");
      code.setAttribute("aria-label", "The program: which line do you suspect?");
      code.addEventListener("keydown", (event) => this.move(/** @type {KeyboardEvent} */ (event)));
      code.addEventListener("click", (event) => this.choose(event.target));
      this.rows.push(...rows);
      rows.forEach((row) => (row.dataset.line = String(this.rows.indexOf(row) + 1)));
      const options = rows.filter((row) => canBeSuspected(row.textContent ?? ""));
      options.forEach((row, index) => {
        row.setAttribute("role", "option");
        row.tabIndex = index === 0 ? 0 : -1;
      });
    }
  }

  get lines() {
    return this.rows.map((row) => row.textContent ?? "");
  }

  /** @param {EventTarget | null} target */
  choose(target) {
    // A reader who selects text doesn't choose a line.
    if (!getSelection()?.isCollapsed) return;
    const row = target instanceof Element ? target.closest("[role=option]") : null;
    if (row instanceof HTMLElement) this.say(Number(row.dataset.line));
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const row = event.target;
    if (!(row instanceof HTMLElement) || row.role !== "option") return;
    // In the book these keys turn pages and open the search.
    event.stopPropagation();
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return this.say(Number(row.dataset.line));
    }
    const options = [...(row.parentElement?.querySelectorAll("[role=option]") ?? [])];
    const at = options.indexOf(row);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: options.length - 1 }[event.key];
    const next = to === undefined ? undefined : options[to];
    if (to !== undefined) event.preventDefault();
    if (next instanceof HTMLElement) focusOption(next);
  }

  /** @param {number | undefined} said @param {number[]} atFault */
  show(said, atFault) {
    for (const [index, row] of this.rows.entries()) {
      if (row.role !== "option") continue;
      const line = index + 1;
      row.setAttribute("aria-selected", String(line === said));
      row.setAttribute("aria-label", `Line ${line}: ${row.textContent?.trim()}${atFault.includes(line) ? ": the bug" : ""}`);
      row.classList.toggle("at-fault", atFault.includes(line));
    }
  }

  focus() {
    const row = this.rows.find((row) => row.tabIndex === 0);
    row?.focus();
  }
}

/** Makes `option` the one of its list that Tab comes to. @param {HTMLElement} option */
function focusOption(option) {
  for (const other of option.parentElement?.querySelectorAll("[role=option]") ?? []) other.setAttribute("tabindex", "-1");
  option.tabIndex = 0;
  option.focus();
}

/** A program that runs in the page: the line is the one with the caret. */
class Edited {
  help = "Which line do you suspect? Put the caret there.";

  /** @param {HTMLElement} code @param {(line: number) => void} say */
  constructor(code, say) {
    this.ace = /** @type {AceEditor} */ (window.ace?.edit(code));
    this.ace.setOption("showGutter", true);
    this.lines = this.ace.originalCode.split("\n");
    const label = () => `I suspect line ${this.row + 1}`;
    this.controls = [button(label(), () => say(this.row + 1))];
    this.ace.selection.on("changeCursor", () => this.controls[0]?.replaceChildren(label()));
  }

  get row() {
    return this.ace.selection.getCursor().row;
  }

  show() {
    // The sentence has the numbers that the gutter shows.
  }

  focus() {
    this.ace.focus();
  }
}

/**
 * Puts each line of the block into an element of its own, with what highlights it.
 *
 * @param {HTMLElement} code
 */
function splitIntoLines(code) {
  /** @type {HTMLElement[]} */
  const lines = [element("span")];
  const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = /** @type {Text} */ (walker.currentNode);
    for (const piece of text.data.split(/(?<=\n)/)) {
      if (lines.at(-1)?.textContent?.endsWith("\n")) lines.push(element("span"));
      /** @type {Node} */
      let node = document.createTextNode(piece);
      for (let around = text.parentNode; around && around !== code; around = around.parentNode) {
        const copy = around.cloneNode(false);
        copy.appendChild(node);
        node = copy;
      }
      lines.at(-1)?.append(node);
    }
  }
  code.replaceChildren(...lines);
  return lines;
}

class Suspicion {
  /**
   * @param {HTMLElement} box
   * @param {(say: (line: number) => void) => Listing | Edited} program
   */
  constructor(box, program) {
    this.box = box;
    this.program = program((line) => this.say(line));
    this.answer = document.querySelector("main code.guilty");
    this.atFault = numbersOf(this.program.lines, this.answer?.textContent ?? "");
    this.fold = this.answer?.closest("details");
    this.store = localStore();
    this.key = `workshop-suspect-${location.pathname.replace(/.*\//, "")}`;
    /** @type {Kept} */
    this.kept = {};
    this.status = element("p", { role: "status" });
    this.check = button("Check this program", () => this.startCheck(), { glyph: "▶", hidden: true });
    this.stop = button("Stop", () => this.cancel?.abort(), { glyph: "■", hidden: true });
    this.compare = button("Compare with the answer", () => this.end(), { class: "primary", hidden: true });
    this.again = button("Ask me again", () => this.forget(), { hidden: true });
    this.progress = element("p", { role: "status", class: "suspect-progress" });
    this.tests = new TestList();
    this.output = new Output("What the checks say");
    /** @type {AbortController | undefined} */
    this.cancel = undefined;
  }

  async start() {
    try {
      this.kept = JSON.parse(this.store.getItem(this.key) ?? "{}");
    } catch {
      // What can't be read is no suspicion.
    }
    // The book's text has changed since.
    if (this.kept.said !== undefined && this.program.lines[this.kept.said - 1]?.trim() !== this.kept.text) this.kept = {};
    const bar = element("div", { class: "suspect-bar" }, ...this.program.controls, this.compare, this.check, this.stop, this.again);
    this.box.classList.add("ws-screen-only");
    this.box.append(this.status, bar, this.progress, this.tests.element, this.output.element);
    this.fold?.addEventListener("toggle", () => this.fold?.open && !this.isPrinting && this.end());
    addEventListener("beforeprint", () => (this.isPrinting = true));
    addEventListener("afterprint", () => (this.isPrinting = false));
    this.show();
    if (this.box.dataset.version && (await runnerState()) === "ready") this.check.hidden = false;
  }

  /** @param {number} said */
  say(said) {
    if (!this.kept.isOver) this.keep({ said, text: this.program.lines[said - 1]?.trim() ?? "" });
  }

  end() {
    if (this.kept.isOver) return;
    const hadFocus = this.compare === document.activeElement;
    this.keep({ ...this.kept, isOver: true });
    if (this.fold) this.fold.open = true;
    if (hadFocus) this.again.focus();
  }

  forget() {
    if (this.fold) this.fold.open = false;
    this.keep({});
    this.program.focus();
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
    const { said, isOver } = this.kept;
    const waiting = said === undefined ? this.program.help : `You suspect line ${said}. You can still choose another.`;
    this.status.textContent = isOver ? verdict(said, this.atFault) : waiting;
    this.compare.hidden = isOver || said === undefined;
    this.again.hidden = !isOver;
    for (const control of this.program.controls) control.hidden = Boolean(isOver);
    this.program.show(said, isOver ? this.atFault : []);
  }

  async startCheck() {
    const cancel = new AbortController();
    this.cancel = cancel;
    this.tests.clear();
    this.output.clear();
    this.tests.element.classList.remove("only-failed");
    this.stop.hidden = false;
    hideAndPassFocus(this.check, this.stop);
    this.tell("Compiling … The first time, this takes a minute.");
    try {
      await whileBusy(this.follow(cancel.signal));
    } catch (error) {
      if (cancel.signal.aborted) this.tell("Stopped.");
      else if (error instanceof Refused) this.tell(error.message);
      else throw error;
    } finally {
      this.check.hidden = false;
      hideAndPassFocus(this.stop, this.check);
    }
  }

  /** @param {AbortSignal} signal */
  async follow(signal) {
    const { of, version } = this.box.dataset;
    let ended = false;
    for await (const event of post(`exercises/${of}/wrong`, { name: version }, signal)) {
      ended ||= event.type === "exit";
      this.hear(event);
    }
    if (!ended) throw new Refused("The connection was closed before the checks ended.");
  }

  /** @param {any} event */
  hear(event) {
    switch (event.type) {
      case "queued":
        return this.tell(`Waiting in line, at place ${event.position} …`);
      case "compiling":
        return this.tests.isEmpty ? undefined : this.tell("No test fails reliably, so the models come next. Compiling …");
      case "test":
        if (this.tests.isEmpty) this.tell("Running the checks …");
        return this.tests.update(event);
      case "telling":
        return this.tests.tell(event);
      case "stdout":
      case "stderr":
        return this.output.print(event.type, event.text);
      case "exit":
        this.output.flush();
        this.tests.openFirstFailure();
        this.tests.element.classList.add("only-failed");
        return this.tell(this.sum(event));
    }
  }

  /** @param {{reason: string, message?: string | null}} exit */
  sum({ reason, message }) {
    const all = this.tests.tests.length;
    const failed = this.tests.count("failed");
    if (failed > 0) return `${failed === 1 ? "One check" : `${failed} checks`} of ${all} caught it:`;
    if (reason === "compile-error") return "It doesn’t compile here:";
    return message ? `The checks didn’t end: ${message}.` : `All ${all} checks pass this time: whether they catch the bug is a matter of chance.`;
  }

  /** @param {string} text */
  tell(text) {
    this.progress.textContent = text;
  }
}
