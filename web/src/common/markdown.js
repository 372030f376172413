// As much Markdown as the hints are written in, as a tree. Nothing of it is
// ever parsed as HTML.

/**
 * @typedef {{kind: "paragraph", text: string} | {kind: "code", text: string}
 *     | {kind: "list", ordered: boolean, items: string[]}} Block
 * @typedef {{kind: "text" | "code" | "em" | "strong", text: string}} Piece
 */

const FENCE = /^```/;
const INDENTED = /^(?: {4}|$)/;
const ITEM = /^(?:[-*]|(\d+)\.) +(.*)$/;

/**
 * @param {string} text
 * @returns {Block[]}
 */
export function blocks(text) {
  const lines = text.split("\n");
  /** @type {Block[]} */
  const found = [];
  while (lines.length > 0) {
    const line = lines[0] ?? "";
    if (line.trim() === "") lines.shift();
    else if (FENCE.test(line)) found.push({ kind: "code", text: fenced(lines) });
    else if (line.startsWith("    ")) found.push({ kind: "code", text: indented(lines) });
    else if (ITEM.test(line)) found.push(list(lines));
    else found.push({ kind: "paragraph", text: taken(lines, (next) => next.trim() !== "" && !FENCE.test(next) && !ITEM.test(next)).join(" ") });
  }
  return found;
}

/** @param {string[]} lines */
function fenced(lines) {
  lines.shift();
  const code = taken(lines, (line) => !FENCE.test(line));
  lines.shift();
  return code.join("\n");
}

/** @param {string[]} lines */
function indented(lines) {
  return taken(lines, (line) => INDENTED.test(line)).map((line) => line.slice(4)).join("\n").trimEnd();
}

/**
 * @param {string[]} lines
 * @returns {Block}
 */
function list(lines) {
  const ordered = ITEM.exec(lines[0] ?? "")?.[1] !== undefined;
  const items = [];
  while (ITEM.test(lines[0] ?? "")) {
    const first = ITEM.exec(lines.shift() ?? "")?.[2] ?? "";
    const rest = taken(lines, (line) => /^ +\S/.test(line)).map((line) => line.trim());
    items.push([first, ...rest].join(" "));
    // A blank line between two items doesn't end the list.
    if (lines[0]?.trim() === "" && ITEM.test(lines[1] ?? "")) lines.shift();
  }
  return { kind: "list", ordered, items };
}

/**
 * Takes lines from the front while they are `wanted`.
 *
 * @param {string[]} lines
 * @param {(line: string) => boolean} wanted
 */
function taken(lines, wanted) {
  const end = lines.findIndex((line) => !wanted(line));
  return lines.splice(0, end === -1 ? lines.length : end);
}

/**
 * @param {string} text of a paragraph or an item
 * @returns {Piece[]}
 */
export function pieces(text) {
  /** @type {Piece[]} */
  const found = [];
  let from = 0;
  for (const match of text.matchAll(/`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*/g)) {
    if (match.index > from) found.push({ kind: "text", text: text.slice(from, match.index) });
    const [whole, code, strong, em = ""] = match;
    if (code !== undefined) found.push({ kind: "code", text: code });
    else if (strong !== undefined) found.push({ kind: "strong", text: strong });
    else found.push({ kind: "em", text: em });
    from = match.index + whole.length;
  }
  if (from < text.length) found.push({ kind: "text", text: text.slice(from) });
  return found;
}
