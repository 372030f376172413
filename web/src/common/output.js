import { ansiPieces } from "./ansi.js";
import { element, keepArrowKeys } from "./dom.js";

/** What a program or the compiler printed, in the order it came. */
export class Output {
  /** @param {string} label */
  constructor(label) {
    // Focusable, so that the keyboard can scroll it.
    this.element = element("pre", { class: "output", tabIndex: 0, role: "region", "aria-label": label });
    keepArrowKeys(this.element);
  }

  clear() {
    this.element.replaceChildren();
  }

  /**
   * @param {"stdout" | "stderr"} stream
   * @param {string} text
   */
  print(stream, text) {
    this.#keepAtEnd(() => {
      let last = this.element.lastElementChild;
      if (!last?.classList.contains(stream)) {
        last = element("span", { class: stream });
        if (stream === "stderr") last.append(element("span", { class: "ws-sr" }, "Standard error: "));
        this.element.append(last);
      }
      last.append(...styled(text));
    });
  }

  /** @param {{level: string, rendered: string}} diagnostic in the compiler's own words */
  diagnostic({ level, rendered }) {
    const [head = "", ...rest] = rendered.split(/(?<=\n)/);
    const title = element("span", { class: `ansi-bold ${level === "error" ? "ansi-red" : "ansi-yellow"}` }, ...styled(head));
    this.#keepAtEnd(() => this.element.append(element("span", { class: "diagnostic" }, title, ...styled(rest.join("")))));
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
