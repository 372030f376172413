import { ansiPieces } from "./ansi.js";
import { button, element, keepArrowKeys } from "./dom.js";

// A flood of short lines must not cost a layout each, nor a layout of all that came before.
const FLUSH_MS = 40;
const BLOCK_CHARACTERS = 8 * 1024;
/** As rustc names a place: `main.rs:3:18`. */
const PLACE = /(?<=(?:-->|:::) )(\S+?):(\d+):\d+/g;

/** What a program or the compiler printed, in the order it came. */
export class Output {
  /**
   * @param {string} label
   * @param {(line: number) => void} [goTo] shows a line of the program
   */
  constructor(label, goTo) {
    this.goTo = goTo;
    // Focusable, so that the keyboard can scroll it.
    this.element = element("pre", { class: "output", tabIndex: 0, role: "region", "aria-label": label });
    keepArrowKeys(this.element);
    /** @type {{stream: string, text: string}[]} */
    this.pending = [];
    this.timer = 0;
  }

  clear() {
    this.pending = [];
    this.element.replaceChildren();
  }

  /**
   * @param {"stdout" | "stderr"} stream
   * @param {string} text
   */
  print(stream, text) {
    const last = this.pending.at(-1);
    if (last?.stream === stream) last.text += text;
    else this.pending.push({ stream, text });
    this.timer ||= window.setTimeout(() => this.flush(), FLUSH_MS);
  }

  /** @param {{level: string, rendered: string, line?: number | null}} diagnostic in the compiler's own words */
  diagnostic({ level, rendered, line }) {
    this.flush();
    const [head = "", ...rest] = rendered.split(/(?<=\n)/);
    const isError = level === "error";
    const title = element("span", { class: `ansi-bold ${isError ? "ansi-red" : "ansi-yellow"}` }, ...styled(head));
    const shown = element("span", { class: isError ? "diagnostic error" : "diagnostic" }, title, ...this.#linked(`${rest.join("").trimEnd()}\n`, line));
    // What keeps the program from running comes first.
    const before = isError ? this.element.querySelector(".diagnostic:not(.error)") : null;
    // The first fault is the one to look at: the end isn't followed.
    this.element.insertBefore(shown, before);
  }

  /**
   * The words, in which the places in the reader's own text lead there.
   *
   * @param {string} text
   * @param {number | null} [line] that they speak of
   */
  #linked(text, line) {
    const goTo = this.goTo;
    if (line == null || !goTo) return styled(text);
    const places = [...text.matchAll(PLACE)];
    const own = places.find((place) => Number(place[2]) === line)?.[1];
    if (own === undefined) return [...styled(text), button(`Go to line ${line}`, () => goTo(line))];
    const pieces = [];
    let from = 0;
    for (const { 0: place, 1: file, 2: number, index } of places) {
      if (file !== own) continue;
      const link = element("button", { type: "button", class: "ws-place", "aria-label": `${place}, go to line ${number}`, on: { click: () => goTo(Number(number)) } }, place);
      pieces.push(...styled(text.slice(from, index)), link);
      from = index + place.length;
    }
    return [...pieces, ...styled(text.slice(from))];
  }

  /** Shows what has been printed so far. */
  flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.pending.length === 0) return;
    this.#keepAtEnd(() => {
      for (const { stream, text } of this.pending) this.#append(stream, text);
    });
    this.pending = [];
  }

  /**
   * @param {string} stream
   * @param {string} text
   */
  #append(stream, text) {
    let from = 0;
    while (from < text.length) {
      const lineEnd = text.indexOf("\n", from + BLOCK_CHARACTERS) + 1;
      const to = lineEnd === 0 ? text.length : lineEnd;
      this.#blockFor(stream).append(...styled(text.slice(from, to)));
      from = to;
    }
  }

  /** The last block if it takes more of this stream, otherwise a new one. */
  #blockFor(/** @type {string} */ stream) {
    const last = this.element.lastElementChild;
    const text = last?.textContent ?? "";
    if (last?.classList.contains(stream) && !(text.length > BLOCK_CHARACTERS && text.endsWith("\n"))) return last;
    const block = element("span", { class: stream });
    if (stream === "stderr") block.append(element("span", { class: "ws-sr" }, "Standard error: "));
    this.element.append(block);
    return block;
  }

  /** Follows the end while the reader is there, and stays put once they scrolled up. */
  #keepAtEnd(/** @type {() => void} */ change) {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    const atEnd = scrollHeight - scrollTop - clientHeight < 4;
    change();
    if (atEnd) this.element.scrollTop = this.element.scrollHeight;
  }
}

/** @param {string} text */
function styled(text) {
  return ansiPieces(text).map(({ text, classes }) =>
    classes.length === 0 ? text : element("span", { class: classes.join(" ") }, text),
  );
}
