// The lines of a program that the book hides at first.

import { button } from "../common/dom.js";

/**
 * Where the hidden lines stand in a text that the reader may have changed. A
 * block of them that isn't as it was is the reader's own, and not to be hidden.
 *
 * @param {string} original
 * @param {[number, number][]} blocks of lines of the original, first and last counted from 0, in order
 * @param {string} text
 * @returns {[number, number][]}
 */
export function whereHidden(original, blocks, text) {
  if (text === original) return blocks;
  const [were, are] = [original.split("\n"), text.split("\n")];
  /** @type {[number, number][]} */
  const found = [];
  let from = 0;
  for (const [first, last] of blocks) {
    const wanted = were.slice(first, last + 1);
    const isAt = (/** @type {number} */ at) => wanted.every((line, index) => are[at + index] === line);
    const at = are.findIndex((_, index) => index >= from && isAt(index));
    if (at === -1) continue;
    from = at + wanted.length;
    found.push([at, from - 1]);
  }
  return found;
}

/**
 * The blocks without the blank lines at their ends, which stay as the gap around what is folded.
 *
 * @param {[number, number][]} blocks
 * @param {string} original
 * @returns {[number, number][]}
 */
export function withoutMargins(blocks, original) {
  const lines = original.split("\n");
  return blocks.flatMap(([first, last]) => {
    while (first <= last && lines[first] === "") first += 1;
    while (last > first && lines[last] === "") last -= 1;
    return first > last ? [] : [[first, last]];
  });
}

/** Folds the hidden lines away, and has a button that shows them. */
export class HiddenLines {
  /**
   * The page's head has noted which they are, before the editor took the place of the block.
   *
   * @param {HTMLElement} code
   * @param {import("../common/editor.js").Editor} editor
   * @returns {HiddenLines | undefined} nothing if there are none
   */
  static of(code, editor) {
    const blocks = withoutMargins(window.workshopHidden?.get(code) ?? [], editor.original);
    return blocks.length === 0 ? undefined : new HiddenLines(blocks, editor);
  }

  /**
   * @param {[number, number][]} blocks
   * @param {import("../common/editor.js").Editor} editor
   */
  constructor(blocks, editor) {
    this.blocks = blocks;
    this.editor = editor;
    this.toggle = button("", () => this.fold(!this.isFolded), { class: "ws-screen-only" });
    this.isFolded = false;
    this.fold(true);
  }

  /** @param {boolean} isFolded */
  fold(isFolded) {
    this.isFolded = isFolded;
    this.toggle.textContent = isFolded ? "Show hidden lines" : "Hide them again";
    this.again();
  }

  /** While the reader types, the editor keeps its folds; a text that replaces another one has none. */
  again() {
    this.editor.fold(this.isFolded ? whereHidden(this.editor.original, this.blocks, this.editor.text()) : []);
  }
}
