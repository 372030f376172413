// What of a stub is documentation, and where the reader has to write.

/** A comment shorter than this stays in view. */
const LEAST = 4;

/**
 * The comments of documentation that are folded at first, first and last line
 * counted from 0: the contract stands beside the editor.
 *
 * @param {string} text
 * @returns {[number, number][]}
 */
export function documentation(text) {
  const lines = text.split("\n");
  const isComment = (/** @type {string | undefined} */ line) => line !== undefined && /^\s*\/\/[/!]/.test(line);
  /** @type {[number, number][]} */
  const blocks = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (!isComment(lines[at])) continue;
    let last = at;
    while (isComment(lines[last + 1])) last += 1;
    // The first line says what it is about.
    if (last - at + 1 >= LEAST) blocks.push([at + 1, last]);
    at = last;
  }
  return blocks;
}

/**
 * Where the first `todo!` stands, line counted from 1 and column from 0; nothing
 * where all is written.
 *
 * @param {string} text
 * @returns {{line: number, column: number} | undefined}
 */
export function firstTodo(text) {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => /^(?!\s*\/\/).*\btodo!/.test(line));
  return at < 0 ? undefined : { line: at + 1, column: lines[at]?.search(/\btodo!/) ?? 0 };
}
