import { button, element, hideAndPassFocus } from "../common/dom.js";
import { Output } from "../common/output.js";
import { lastReached } from "../common/milestones.js";
import { building, duration, firstLine, sentence } from "../common/words.js";
import { Refused, call, post, runnerState } from "../runner.js";
import { whileBusy } from "../busy.js";
import { afterGreen } from "./after.js";
import { Checklist } from "./checklist.js";
import { Hints } from "./hints.js";
import { onNews } from "./news.js";
import { FailingOrder } from "./order.js";
import { Spoilers } from "./spoilers.js";
import { onList, spokenState } from "./ticks.js";
import { Work } from "./work.js";

/** News of our own check may come after its end. */
const ECHO_MS = 1000;

/** Gives every `<div class="exercise" data-exercise="N">` its workbench. */
export function startExercises() {
  for (const place of document.querySelectorAll("main .exercise[data-exercise]")) {
    if (place instanceof HTMLElement && /^\d+$/.test(place.dataset.exercise ?? "")) new Exercise(place).start();
  }
}

class Exercise {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.number = Number(place.dataset.exercise);
    this.check = button("Check", () => this.startCheck(), { glyph: "▶", class: "primary" });
    this.stop = button("Stop", () => this.cancel?.abort(), { glyph: "■", hidden: true });
    this.reset = button("Back to the stub", () => this.startAnew());
    this.state = element("p", { class: "exercise-state" });
    this.note = element("p", { class: "exercise-note" });
    /** Where the clauses stand, in a few words. */
    this.count = element("p", { class: "exercise-count" });
    /** What is read aloud: the start and the end of a check, and not each of its steps. */
    this.aloud = element("p", { class: "ws-sr", role: "status" });
    this.tests = new Checklist(
      async (name) => (await call(`exercises/${this.number}/code`, { name })).value.text,
      () => this.hints.ask(),
    );
    this.output = new Output(`What the check of exercise ${this.number} printed`, (line) => this.work?.editor?.goTo(line));
    this.hints = new Hints(async () => (await call(`exercises/${this.number}/hint`)).value);
    this.order = new FailingOrder(this.number);
    this.after = element("div", { class: "ws-screen-only" });
    /** @type {AbortController | undefined} */
    this.cancel = undefined;
    /** @type {Set<string>} checks that this page has started itself */
    this.own = new Set();
    this.ownEnd = 0;
    this.run = "";
    /** Whether the check that goes on explores the models, and whether one of them failed the last time. */
    this.withModels = false;
    this.hasFailingModel = false;
    /** @type {import("../common/editor.js").Mark[]} */
    this.marks = [];
  }

  async start() {
    if ((await runnerState()) !== "ready") return reserve(false);
    reserve(true);
    try {
      this.opened = (await call(`exercises/${this.number}/read`)).value;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      reserve(false);
      this.place.append(this.note);
      return this.say(error.message, "bad");
    }
    this.open();
  }

  /**
   * Shows all of it. On the left stand the contract and the results, on the right
   * the editor, with the bar below it; where there is no room they follow one
   * another, and the bar stays in view.
   */
  open() {
    const work = new Work(this.number, this.opened, () => this.becomeStale());
    this.work = work;
    this.tests.milestones = this.opened.milestones ?? [];
    this.tests.order = this.opened.order ?? [];
    this.tests.setContract(this.opened.clauses ?? []);
    const bar = element("div", { class: "exercise-bar" }, this.check, this.stop, this.count, this.note, this.reset);
    bar.classList.add("ws-screen-only");
    const told = element("div", { class: "exercise-told" }, this.output.element, this.order.home, this.tests.element, this.hints.element, this.after);
    this.place.querySelector(".exercise-command")?.before(this.state);
    this.place.append(this.aloud, work.element, bar, told);
    this.place.classList.add("live");
    this.showCount();
    this.spoilers = new Spoilers(this.place, this.number);
    work.start();
    this.fit();
    foldStub(this.place);
    this.hints.show(this.opened.hints);
    if (this.opened.has_models) void this.order.restore(work);
    this.place.addEventListener("keydown", (event) => this.checkByKey(event), { capture: true });
    onNews((news) => this.hear(news));
    onList((list) => this.showState(list));
  }

  /** The editor fills its column, where it has one. */
  fit() {
    let isWide = false;
    new ResizeObserver(() => {
      const now = getComputedStyle(this.place).display === "grid";
      if (now !== isWide || now) this.work?.fill(now);
      isWide = now;
      // What stays in view below the bar has to know where that ends.
      this.place.style.setProperty("--bar-height", `${this.place.querySelector(".exercise-bar")?.clientHeight ?? 0}px`);
    }).observe(this.place);
  }

  /** @param {import("./ticks.js").Listed[]} list */
  showState(list) {
    const listed = list.find(({ number }) => number === this.number);
    if (!listed) return;
    this.state.textContent = sentence(spokenState(listed));
    const isSolved = listed.state === "solved";
    if (isSolved && this.after.childElementCount === 0) {
      const next = list.find((other) => other.next);
      this.after.replaceChildren(afterGreen(this.place, this.number, this.opened, next, () => this.startCheck(true)));
    }
    this.after.hidden = !isSolved;
    this.place.classList.toggle("green", isSolved);
    if (!isSolved) return;
    this.hints.end();
    this.spoilers?.show();
  }

  /** What the last check found isn't about this text anymore. */
  becomeStale() {
    this.work?.editor?.mark([]);
    this.tests.element.classList.add("stale");
    this.order.becomeStale();
  }

  /** Shows checks that were started elsewhere. */
  hear(/** @type {any} */ { type, number, run, event }) {
    if (type !== "elsewhere" || number !== this.number) return;
    const isEcho = this.cancel !== undefined || (run !== this.run && Date.now() - this.ownEnd < ECHO_MS);
    if (isEcho) this.own.add(run);
    if (this.own.has(run)) return;
    if (run !== this.run) {
      this.run = run;
      this.clear();
      this.say("A check was started elsewhere …");
    }
    this.show(event);
  }

  clear() {
    this.output.clear();
    this.order.begin();
    this.tests.clear();
    this.tests.element.classList.remove("stale");
    this.place.classList.remove("green");
    this.showCount();
    this.work?.editor?.mark([]);
    this.marks = [];
  }

  checkByKey(/** @type {KeyboardEvent} */ event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    this.startCheck();
  }

  async startAnew() {
    try {
      await this.work?.save();
      this.say((await call(`exercises/${this.number}/reset`)).value.text);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.say(error.message, "bad");
    }
  }

  /**
   * Checks the reader's code; a check that is still going on is stopped first. Once a
   * model has failed, the models are explored each time until they pass.
   */
  async startCheck(withModels = this.hasFailingModel) {
    this.withModels = withModels;
    this.cancel?.abort();
    const cancel = new AbortController();
    this.cancel = cancel;
    this.clear();
    this.stop.hidden = false;
    // Code and results in one view.
    if (getComputedStyle(this.place).display === "grid") this.place.scrollIntoView({ block: "start" });
    this.say("Starting …");
    try {
      await whileBusy(this.follow(cancel.signal));
    } catch (error) {
      if (this.cancel !== cancel) return;
      if (cancel.signal.aborted) this.say("Stopped.");
      else if (error instanceof Refused) this.say(error.message, "bad");
      else throw error;
    } finally {
      if (this.cancel === cancel) {
        this.cancel = undefined;
        this.ownEnd = Date.now();
        hideAndPassFocus(this.stop, this.check);
      }
    }
  }

  /** @param {AbortSignal} signal */
  async follow(signal) {
    if (!(await this.work?.save())) throw new Refused("What stands in the editor is not on disk yet: see above it.");
    let ended = false;
    for await (const event of post(`exercises/${this.number}/check`, this.withModels ? { models: true } : {}, signal)) {
      if (signal.aborted) return;
      ended ||= event.type === "exit";
      this.show(event);
    }
    if (!ended) throw new Refused("The workshop closed the connection before the check ended.");
  }

  /** @param {any} event */
  show(event) {
    switch (event.type) {
      case "queued":
        return this.say(`Waiting in line, at place ${event.position} …`);
      case "building":
        return this.say(building(event));
      case "compiling":
        return this.say("Compiling …");
      case "diagnostic":
        if (event.line != null) this.mark(event);
        return this.output.diagnostic(event);
      case "stdout":
      case "stderr":
        return this.output.print(event.type, event.text);
      case "test":
        this.tests.update(event);
        this.showCount();
        return this.say(this.progress(), "", false);
      case "telling":
        this.tests.tell(event);
        if (event.models_may_show) this.tests.wordsOf(event.first)?.after(this.modelsMayShow());
        return;
      case "order":
        return this.order.show(event, this.tests.wordsOf(event.document?.title));
      case "exit":
        return this.conclude(event);
    }
  }

  /** A model may show the failure step by step. */
  modelsMayShow() {
    const explore = button("Explore the models", () => this.startCheck(true));
    return element("p", { class: "order-more ws-screen-only" }, explore, " A model checker may find the order of steps in which it fails, and draws it.");
  }

  /** @param {{line: number, level: string, rendered: string}} diagnostic */
  mark({ line, level, rendered }) {
    const text = firstLine(rendered);
    const isFirst = level === "error" && !this.marks.some((mark) => mark.level === "error");
    // Cargo compiles the file twice, and the compiler may say the same each time.
    if (this.marks.some((mark) => mark.line === line && mark.text === text)) return;
    this.marks.push({ line, level, text });
    this.work?.editor?.mark(this.marks);
    if (isFirst) this.work?.editor?.reveal(line);
  }

  showCount() {
    const { held, of } = this.tests.held;
    this.count.textContent = of === 0 ? "" : `${held} of ${of} clauses`;
  }

  progress() {
    const running = this.tests.count("running") + this.tests.count("waiting");
    const unwritten = this.tests.count("unwritten");
    return `${this.tests.count("passed")} passed, ${this.tests.count("failed")} failed${unwritten ? `, ${unwritten} not written yet` : ""}${running ? `, ${running} to go` : ""} …`;
  }

  /** @param {import("../common/words.js").Exit} exit */
  conclude(exit) {
    this.output.flush();
    this.order.settle();
    const first = this.tests.settle();
    const models = this.tests.tests.filter(({ name, outcome }) => outcome === "failed" && name.startsWith("models::"));
    if (this.withModels || models.length > 0) this.hasFailingModel = models.length > 0;
    this.showCount();
    // Results lie below the fold on a small screen, and may on a large one.
    if (first) first.scrollIntoView({ block: "nearest" });
    const [passed, failed, unwritten] = [this.tests.count("passed"), this.tests.count("failed"), this.tests.count("unwritten")];
    if (failed + unwritten > 0 || exit.reason === "compile-error") this.hints.earn();
    const after = exit.run_ms == null ? "" : ` after ${duration(exit.run_ms)}`;
    if (exit.reason === "compile-error") this.say("Your code does not compile yet: the compiler says why below.", "bad");
    else if (exit.reason === "timeout") this.say(`The check was ended by its timeout${after}.`, "bad");
    else if (failed > 0) this.say(`${failed} of ${passed + failed + unwritten} fail${unwritten > 0 ? `, and ${unwritten} ${unwritten === 1 ? "isn’t" : "aren’t"} written yet` : ""}. Start with the one that stands open.${exit.message == null ? "" : ` ${sentence(exit.message)}`}`, "bad");
    else if (unwritten > 0) this.say(this.unwritten(passed, unwritten), passed > 0 ? "good" : "");
    else if (exit.reason === "exited" && exit.code === 0 && exit.message == null) this.say(`All ${passed} pass${after}. ${this.opened.has_models && !this.withModels ? "The models are still to be explored." : "Well done."}`, "good");
    else this.say(sentence(exit.message ?? `the check ended early (${exit.reason})`), "bad");
  }

  /**
   * Nothing is wrong, and something is still to be written.
   *
   * @param {number} passed
   * @param {number} unwritten
   */
  unwritten(passed, unwritten) {
    const reached = lastReached(this.tests.milestones, this.tests.tests);
    const start = reached ? `Milestone ${reached.number} is reached: ${reached.name.toLowerCase()}. ` : "";
    return `${start}${passed} of ${passed + unwritten} pass; the others aren’t written yet. Go on with the one that stands open.`;
  }

  /**
   * @param {string} text
   * @param {"" | "bad" | "good"} [kind]
   * @param {boolean} [aloud]
   */
  say(text, kind = "", aloud = true) {
    this.note.textContent = text;
    this.note.className = `exercise-note ${kind}`.trim();
    if (aloud) this.aloud.textContent = text;
  }
}

/** Keeps the room that the page's head has reserved, or gives it back. @param {boolean} isExpected */
function reserve(isExpected) {
  document.documentElement.classList.toggle("ws-bench", isExpected);
}

/** The stub in the text says what stands in the editor too: it is folded away. */
function foldStub(/** @type {HTMLElement} */ place) {
  const blocks = [...document.querySelectorAll("main > pre:has(> code.stub)")];
  const stub = blocks.findLast((block) => block.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING);
  if (!stub) return;
  const details = element("details", { class: "stub" }, element("summary", {}, "The stub; yours is in the editor below"));
  stub.replaceWith(details);
  details.append(stub);
}
