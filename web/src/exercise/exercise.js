import { button, element, hideAndPassFocus } from "../common/dom.js";
import { Output } from "../common/output.js";
import { TestList } from "../common/test-list.js";
import { building, duration, sentence } from "../common/words.js";
import { Refused, post, runnerState } from "../runner.js";
import { whileBusy } from "../busy.js";

const COPIED_MS = 2000;

/** Gives every `<div class="exercise" data-exercise="N">` its panel. */
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
    this.command = `cargo test -p exercise-${this.number}`;
    this.check = button("Check", () => this.startCheck(), { glyph: "▶", class: "primary" });
    this.stop = button("Stop", () => this.cancel?.abort(), { glyph: "■", hidden: true });
    this.note = element("p", { class: "exercise-note", role: "status" });
    this.tests = new TestList();
    this.output = new Output(`What the check of exercise ${this.number} printed`);
    /** @type {AbortController | undefined} */
    this.cancel = undefined;
  }

  async start() {
    const id = `exercise-${this.number}-panel`;
    const heading = element(headingBelow(this.place), { id }, `Exercise ${this.number}`);
    const row = element("div", { class: "exercise-row" }, element("code", {}, this.command), this.copy());
    this.place.setAttribute("role", "group");
    this.place.setAttribute("aria-labelledby", id);
    this.place.prepend(heading);
    this.place.append(row);
    if ((await runnerState()) !== "ready") return;
    row.append(this.check, this.stop);
    this.place.append(this.note, this.tests.element, this.output.element);
  }

  copy() {
    const copy = button("Copy", async () => {
      await navigator.clipboard.writeText(this.command);
      copy.textContent = "Copied";
      setTimeout(() => (copy.textContent = "Copy"), COPIED_MS);
    }, { "aria-label": `Copy the command ${this.command}`, class: "ws-screen-only" });
    // Only pages from this machine or over https may write to the clipboard.
    copy.hidden = !navigator.clipboard;
    return copy;
  }

  /** Checks the reader's code; a check that is still going on is stopped first. */
  async startCheck() {
    this.cancel?.abort();
    const cancel = new AbortController();
    this.cancel = cancel;
    this.output.clear();
    this.tests.clear();
    this.stop.hidden = false;
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
        hideAndPassFocus(this.stop, this.check);
      }
    }
  }

  /** @param {AbortSignal} signal */
  async follow(signal) {
    let ended = false;
    for await (const event of post(`exercises/${this.number}/check`, {}, signal)) {
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
        return this.output.diagnostic(event);
      case "stdout":
      case "stderr":
        return this.output.print(event.type, event.text);
      case "test":
        this.tests.update(event);
        return this.say(this.progress());
      case "exit":
        return this.conclude(event);
    }
  }

  progress() {
    const running = this.tests.count("running");
    return `${this.tests.count("passed")} passed, ${this.tests.count("failed")} failed${running ? `, ${running} running` : ""} …`;
  }

  /** @param {import("../common/words.js").Exit} exit */
  conclude(exit) {
    this.output.flush();
    this.tests.openFirstFailure();
    const [passed, failed] = [this.tests.count("passed"), this.tests.count("failed")];
    const after = exit.run_ms == null ? "" : ` after ${duration(exit.run_ms)}`;
    if (exit.reason === "compile-error") this.say("Your code does not compile yet: the compiler says why below.", "bad");
    else if (exit.reason === "timeout") this.say(`The check was ended by its time-out${after}.`, "bad");
    else if (failed > 0) this.say(`${failed} of ${passed + failed} fail. Start with the one that stands open.`, "bad");
    else if (exit.reason === "exited" && exit.code === 0) this.say(`All ${passed} pass${after}. Well done.`, "good");
    else this.say(sentence(exit.message ?? `the check ended early (${exit.reason})`), "bad");
  }

  /**
   * @param {string} text
   * @param {"" | "bad" | "good"} [kind]
   */
  say(text, kind = "") {
    this.note.textContent = text;
    this.note.className = `exercise-note ${kind}`.trim();
  }
}

/**
 * The level of heading that fits below the one before `place`.
 *
 * @param {HTMLElement} place
 * @returns {"h2" | "h3" | "h4"}
 */
function headingBelow(place) {
  const before = [...document.querySelectorAll("main :is(h1, h2, h3)")].filter(
    (heading) => heading.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  switch (before.at(-1)?.tagName) {
    case "H3":
      return "h4";
    case "H2":
      return "h3";
    default:
      return "h2";
  }
}
