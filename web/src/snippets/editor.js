// One face for the two kinds of block: edited by ACE, or plain.

const LEAVE_HINT = "Escape, then Tab, leaves the editor.";

/**
 * @typedef {object} Editor
 * @property {string} original the text of the book
 * @property {() => string} text
 * @property {(text: string) => void} setText
 * @property {(listener: () => void) => void} onChange
 */

/**
 * @param {HTMLElement} code the block's `code` element
 * @param {string} label its name for assistive technology
 * @returns {Editor}
 */
export function editorOf(code, label) {
  if (window.ace && code.classList.contains("editable")) return aceEditor(window.ace.edit(code), label);
  const original = code.textContent ?? "";
  return { original, text: () => original, setText: () => {}, onChange: () => {} };
}

/**
 * @param {AceEditor} ace
 * @param {string} label
 * @returns {Editor}
 */
function aceEditor(ace, label) {
  ace.setFontSize("var(--code-font-size)");
  ace.setOption("scrollPastEnd", 0);
  ace.renderer.setPadding(16);
  ace.renderer.setScrollMargin(12, 12);
  ace.textInput.getElement().setAttribute("aria-label", `${label}. ${LEAVE_HINT}`);
  document.fonts.ready.then(() => ace.resize(true));
  freeTabOnEscape(ace);
  return {
    original: ace.originalCode,
    text: () => ace.getValue(),
    setText: (text) => ace.setValue(text, -1),
    onChange: (listener) => ace.on("change", listener),
  };
}

/** Tab indents while one types; after Escape it leaves, as it does everywhere else. */
function freeTabOnEscape(/** @type {AceEditor} */ ace) {
  const bindTab = (/** @type {boolean} */ indents) => {
    ace.commands.bindKey("Tab", indents ? "indent" : null);
    ace.commands.bindKey("Shift-Tab", indents ? "outdent" : null);
  };
  ace.textInput.getElement().addEventListener("keydown", (event) => {
    if (event.key === "Escape") bindTab(false);
  });
  ace.on("change", () => bindTab(true));
  ace.on("blur", () => bindTab(true));
}
