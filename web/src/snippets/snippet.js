import { button, element, hideAndPassFocus } from "../common/dom.js";
import { Output } from "../common/output.js";
import { localStore } from "../common/storage.js";
import { TestList } from "../common/test-list.js";
import { building, ending, firstLine } from "../common/words.js";
import { Refused, post, runnerState } from "../runner.js";
import { whileBusy } from "../busy.js";
import { isOpen, tellPredictions } from "../predict.js";
import { copyFor } from "./copies.js";
import { Edits } from "./edits.js";
import { editorOf } from "../common/editor.js";
import { HiddenLines } from "./hidden.js";
import { execute, remoteRunner } from "./remote.js";
import { localReason, runsTests, settingsOf } from "./settings.js";

/** @typedef {import("./settings.js").Settings} Settings */

const SAVE_DELAY_MS = 300;
const PRINTED_MOST = 64 * 1024;

/** Gives every snippet of the page its controls. */
export function startSnippets() {
  for (const code of document.querySelectorAll('main pre > code[class*="snippet-"]')) {
    const settings = settingsOf(code.classList);
    if (settings && code instanceof HTMLElement) new Snippet(code, settings).start();
  }
}

class Snippet {
  /**
   * @param {HTMLElement} code
   * @param {Settings} settings
   */
  constructor(code, settings) {
    this.settings = settings;
    this.editor = editorOf(code, `Program ${settings.name}, in Rust`);
    this.edits = new Edits(localStore(), settings.name, this.editor.original);

    this.run = button("Run", () => this.startRun(), { glyph: "▶", class: "primary" });
    this.stop = button("Stop", () => this.cancel?.abort(), { glyph: "■", hidden: true });
    this.reset = button("Reset", () => this.restore(), { hidden: true });
    this.undo = button("Take back the reset", () => this.takeBack(), { hidden: true });
    // Not for screen readers: a second isn't news.
    this.seconds = element("span", { class: "snippet-seconds", "aria-hidden": "true" });
    this.release = element("input", { type: "checkbox", checked: settings.release });
    this.status = element("p", { class: "snippet-status", role: "status" });
    this.bar = element("div", { class: "snippet-bar ws-screen-only" });
    this.tests = new TestList();
    this.output = new Output(`Output of ${settings.name}`, (line) => this.editor.goTo(line));
    /** @type {import("../common/editor.js").Mark[]} */
    this.marks = [];
    /** @type {URL | undefined} where the program is sent, if it doesn't run here */
    this.server = undefined;
    this.hidden = HiddenLines.of(code, this.editor);
    /** The figures that the last run has redrawn. @type {Set<string>} */
    this.copied = new Set();
    this.figures = element("div", { class: "snippet-figures ws-screen-only" });
    /** What the program has printed, for what was predicted. */
    this.printed = "";
    this.place(code);

    /** @type {AbortController | undefined} */
    this.cancel = undefined;
  }

  /** Puts the block into its frame; the recorded output that follows it comes along. */
  place(/** @type {HTMLElement} */ code) {
    const block = /** @type {HTMLElement} */ (code.parentElement);
    const frame = element("div", { class: "snippet", role: "group", "aria-label": `Program ${this.settings.name}`, "data-name": this.settings.name });
    const next = block.nextElementSibling;
    block.replaceWith(frame);
    frame.append(block, this.bar, this.tests.element, this.output.element, this.figures);
    if (next?.matches("pre:has(> code.recorded)")) {
      this.recorded = element("details", { class: "recorded", open: true }, element("summary", {}, "Output, as recorded"), next);
      frame.append(this.recorded);
    }
    frame.addEventListener("keydown", (event) => this.runByKey(event), { capture: true });
  }

  async start() {
    this.keepEdits();
    const state = await runnerState();
    if (state === "ready") this.showControls();
    else if (state === "no-token") this.showReadOnly("To run programs from this page, open the link printed in your terminal once.");
    else this.showRemote();
    this.offerEarlierEdit();
  }

  get toggles() {
    return this.hidden ? [this.hidden.toggle] : [];
  }

  /** @param {string} text */
  setText(text) {
    this.editor.setText(text);
    this.hidden?.again();
  }

  keepEdits() {
    const edit = this.edits.current();
    if (edit !== undefined) this.setText(edit);
    this.reset.hidden = edit === undefined;
    let timer = 0;
    const save = () => {
      clearTimeout(timer);
      timer = 0;
      this.edits.save(this.editor.text());
    };
    this.editor.onChange(() => {
      this.reset.hidden = this.editor.text() === this.editor.original;
      if (!this.reset.hidden) this.undo.hidden = true;
      clearTimeout(timer);
      timer = window.setTimeout(save, SAVE_DELAY_MS);
    });
    addEventListener("pagehide", () => timer && save());
  }

  showControls() {
    if (this.recorded) this.recorded.open = false;
    const release = element("label", { class: "ws-check" }, this.release, "release ", element("small", {}, "optimized, takes longer to compile"));
    this.bar.append(this.run, this.stop, this.seconds, this.reset, this.undo, release, ...this.toggles, this.status);
    this.bar.append(element("p", { class: "snippet-hint editing" }, "Ctrl-Enter runs. Escape, then Tab, leaves the editor."));
    const { hangs, limitSeconds } = this.settings;
    // Where the page has asked what happens, that would be the answer.
    if (hangs && !this.isAsked()) this.say(`This program is meant to hang: the runner ends it after ${limitSeconds} s.`);
  }

  /** Whether the page has a question about this program that the reader hasn't answered. */
  isAsked() {
    return isOpen(this.settings.name);
  }

  /** @param {string} why */
  showReadOnly(why) {
    if (this.recorded) this.recorded.open = !this.isAsked();
    this.bar.append(this.status, this.reset, this.undo, ...this.toggles);
    this.say(why);
  }

  /** Nothing runs here: the program may be sent elsewhere, and the reader is told so first. */
  showRemote() {
    const server = remoteRunner();
    const reason = localReason(this.settings);
    if (!server || reason) {
      const why = reason ? `Local only: ${reason}. ` : "This page is read-only here: ";
      return this.showReadOnly(`${why}\`cargo workshop\` runs it on your machine.`);
    }
    this.server = server;
    this.run.lastChild?.replaceWith(`Run on ${server.host}`);
    this.showControls();
    if (this.recorded) this.recorded.open = !this.isAsked();
    this.bar.append(element("p", { class: "snippet-hint" }, `Run sends this program to ${server.host}, which compiles and runs it. Nothing is sent before.`));
  }

  /** The book's text has changed since the reader's edit: both stay within reach. */
  offerEarlierEdit() {
    const earlier = this.edits.earlier();
    if (earlier === undefined) return;
    const note = element("p", { class: "snippet-hint" }, "The book changed this program since you edited it. ");
    const show = button("Show my edit", () => {
      this.setText(earlier);
      hideAndPassFocus(note, this.run);
    });
    const drop = button("Forget it", () => {
      this.edits.dropEarlier();
      hideAndPassFocus(note, this.run);
    });
    note.append(show, " ", drop);
    this.bar.append(note);
  }

  restore() {
    const edit = this.editor.text();
    this.undone = edit;
    this.setText(this.editor.original);
    this.edits.save(this.editor.original);
    this.undo.hidden = false;
    hideAndPassFocus(this.reset, this.undo);
  }

  takeBack() {
    this.setText(this.undone ?? this.editor.original);
    hideAndPassFocus(this.undo, this.reset);
  }

  runByKey(/** @type {KeyboardEvent} */ event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !this.run.isConnected) return;
    event.preventDefault();
    event.stopPropagation();
    this.startRun();
  }

  /** Runs the program; a run that is still going on is stopped first. */
  async startRun() {
    this.cancel?.abort();
    const cancel = new AbortController();
    this.cancel = cancel;
    this.output.clear();
    this.tests.clear();
    this.figures.replaceChildren();
    this.copied.clear();
    this.printed = "";
    this.marks = [];
    this.editor.mark([]);
    this.stop.hidden = false;
    this.say("Starting …");
    const stopClock = this.startClock();
    try {
      await whileBusy(this.follow(cancel.signal));
    } catch (error) {
      if (this.cancel !== cancel) return;
      if (cancel.signal.aborted) this.say("Stopped.");
      else if (error instanceof Refused) this.say(error.message, true);
      else throw error;
    } finally {
      stopClock();
      if (this.cancel === cancel) {
        this.cancel = undefined;
        hideAndPassFocus(this.stop, this.run);
      }
    }
  }

  /** Shows for how many seconds the run has gone on. */
  startClock() {
    const start = performance.now();
    const shown = element("span");
    this.seconds.replaceChildren(shown);
    const timer = setInterval(() => (shown.textContent = `${Math.floor((performance.now() - start) / 1000)} s`), 1000);
    return () => {
      clearInterval(timer);
      shown.remove();
    };
  }

  /** @param {AbortSignal} signal */
  async follow(signal) {
    const code = this.editor.text();
    const request = {
      code,
      mode: this.release.checked ? "release" : "debug",
      tests: runsTests(this.settings, code),
      limit: this.settings.limitSeconds,
    };
    let ended = false;
    const events = this.server ? execute(this.server, request, signal) : post("run", request, signal);
    for await (const event of events) {
      if (signal.aborted) return;
      ended ||= event.type === "exit";
      this.show(event);
    }
    if (!ended) throw new Refused("The connection was closed before the program ended.");
  }

  /** @param {any} event */
  show(event) {
    switch (event.type) {
      case "queued":
        return this.say(`Waiting in line, at place ${event.position} …`);
      case "building":
        return this.say(building(event));
      case "compiling":
        return this.say(this.server ? `Waiting for ${this.server.host} …` : "Compiling …");
      case "diagnostic":
        if (event.line != null) {
          this.marks.push({ line: event.line, level: event.level, text: firstLine(event.rendered) });
          this.editor.mark(this.marks);
        }
        return this.output.diagnostic(event);
      case "stdout":
      case "stderr":
        if (this.status.textContent === "Compiling …") this.say("Running …");
        if (this.printed.length < PRINTED_MOST) this.printed += event.text;
        return this.output.print(event.type, event.text);
      case "test":
        return this.tests.update(event);
      case "figure": {
        this.placeCopy(event.name);
        const detail = { snippet: this.settings.name, name: event.name, document: event.document };
        return document.dispatchEvent(new CustomEvent("workshop-figure", { detail }));
      }
      case "exit": {
        const { text, bad } = ending(event, { ...this.settings, tests: !this.tests.isEmpty });
        this.output.flush();
        this.tests.openFirstFailure();
        if (hasRun(event)) tellPredictions({ snippet: this.settings.name, printed: this.printed, edited: this.editor.text() !== this.editor.original });
        return this.say(text, bad);
      }
    }
  }

  /** @param {string} name of a document that has come */
  placeCopy(name) {
    const copy = copyFor(this.figures, this.settings.name, name);
    const key = copy?.querySelector("[data-copy-of]")?.getAttribute("data-copy-of");
    if (!copy || !key || this.copied.has(key)) return;
    this.copied.add(key);
    this.figures.append(copy);
  }

  /**
   * @param {string} text
   * @param {boolean} [bad]
   */
  say(text, bad = false) {
    this.status.textContent = text;
    this.status.classList.toggle("bad", bad);
  }
}

/** Whether the program came so far that one can say what it did. @param {{reason: string}} exit */
function hasRun({ reason }) {
  return ["exited", "timeout", "signal"].includes(reason);
}
