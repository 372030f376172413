const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const STYLES = new Map([[1, "bold"], [2, "dim"], [3, "italic"], [4, "underline"]]);

/**
 * Splits text with ANSI escapes into pieces of plain text, each with the
 * classes (`ansi-bold`, `ansi-red`) that were in force. Escapes other than
 * colors are dropped. What an escape sets lasts until the end of `text`.
 *
 * @param {string} text
 * @returns {{text: string, classes: string[]}[]}
 */
export function ansiPieces(text) {
  /** @type {{text: string, classes: string[]}[]} */
  const pieces = [];
  /** @type {Set<string>} */
  let styles = new Set();
  let colour = "";
  let from = 0;
  const escapes = /\x1b(?:\[([0-9;:?]*)([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)/g;
  const push = (/** @type {string} */ plain) => {
    if (plain) pieces.push({ text: plain, classes: [...styles, ...(colour ? [colour] : [])].map((name) => `ansi-${name}`) });
  };
  for (const escape of text.matchAll(escapes)) {
    push(text.slice(from, escape.index));
    from = escape.index + escape[0].length;
    if (escape[2] === "m") ({ styles, colour } = select(escape[1] ?? "", styles, colour));
  }
  push(text.slice(from));
  return pieces;
}

/**
 * Applies the codes of one "select graphic rendition" escape.
 *
 * @param {string} codes
 * @param {Set<string>} styles
 * @param {string} colour
 */
function select(codes, styles, colour) {
  const next = { styles: new Set(styles), colour };
  const numbers = codes.split(/[;:]/).map(Number);
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    const style = STYLES.get(code);
    if (code === 0) {
      next.styles.clear();
      next.colour = "";
    } else if (style) {
      next.styles.add(style);
    } else if (code === 38 || code === 48) {
      // `38;5;n` counts the eight colors and their bright twins first; of
      // other palettes and of backgrounds nothing is shown.
      const [mode, n = 0] = numbers.slice(at + 1);
      if (code === 38 && mode === 5 && n < 16) next.colour = COLOURS[n % 8] ?? "";
      at += mode === 5 ? 2 : 4;
    } else if (code === 39) {
      next.colour = "";
    } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
      next.colour = COLOURS[code % 10] ?? "";
    } else if (code === 22) {
      next.styles.delete("bold");
      next.styles.delete("dim");
    }
  }
  return next;
}
