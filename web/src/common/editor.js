// One face for the two kinds of block: edited by ACE, or plain.

const LEAVE_HINT = "Escape, then Tab, leaves the editor.";

/** @typedef {{line: number, level: string, text: string}} Mark what the compiler says of a line, counted from 1 */

/**
 * @typedef {object} Editor
 * @property {string} original the text of the book
 * @property {() => string} text
 * @property {(text: string) => void} setText by the smallest change, so that the cursor stays where it was
 * @property {(listener: () => void) => void} onChange
 * @property {(marks: Mark[]) => void} mark shows these below their lines, and no others
 * @property {(line: number) => void} goTo
 * @property {(line: number) => void} reveal shows this line, and leaves the focus where it is
 * @property {(line: number, column: number) => void} place puts the caret there
 * @property {(size: {minLines: number, maxLines: number} | undefined) => void} size in lines, or what its place has
 * @property {(lines: [number, number][], what?: string) => void} fold hides these lines, first and last counted from 0, and shows all others
 */

/**
 * @param {HTMLElement} code the block's `code` element
 * @param {string} label its name for assistive technology
 * @returns {Editor}
 */
export function editorOf(code, label) {
  if (window.ace && code.classList.contains("editable")) return aceEditor(window.ace.edit(code), label);
  const original = code.textContent ?? "";
  const nothing = () => {};
  return { original, text: () => original, setText: nothing, onChange: nothing, mark: nothing, goTo: nothing, reveal: nothing, place: nothing, size: nothing, fold: nothing };
}

/**
 * An editor of our own, set up as mdBook sets up its own.
 *
 * @param {HTMLElement} code
 * @param {string} label
 * @param {{minLines?: number, maxLines?: number}} size
 */
export function newEditor(code, label, size) {
  if (!window.ace) return undefined;
  code.classList.add("editable");
  // A size in lines, or the size of its place.
  const ace = window.ace.edit(code);
  for (const [name, value] of Object.entries({ highlightActiveLine: false, showPrintMargin: false, showGutter: true, ...size })) {
    ace.setOption(name, value);
  }
  ace.session.setMode("ace/mode/rust");
  ace.originalCode = "";
  // mdBook changes the theme of those that it knows.
  window.editors?.push(ace);
  return aceEditor(ace, label);
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
  // Chromium lets Tab stop at anything that scrolls; the text scrolls with the cursor.
  for (const bar of ace.container.querySelectorAll(".ace_scrollbar")) bar.setAttribute("tabindex", "-1");
  document.fonts.ready.then(() => ace.resize(true));
  freeTabOnEscape(ace);
  return {
    original: ace.originalCode,
    text: () => ace.getValue(),
    setText: (text) => replace(ace, text),
    onChange: (listener) => ace.on("change", listener),
    mark: marker(ace),
    goTo: (line) => {
      ace.gotoLine(line, 0, false);
      ace.focus();
    },
    reveal: (line) => ace.renderer.scrollToLine(line - 1, true, false),
    size: (lines) => {
      ace.setOption("minLines", lines?.minLines ?? 0);
      ace.setOption("maxLines", lines?.maxLines ?? 0);
      if (!lines) ace.container.style.height = "";
      ace.resize(true);
    },
    place: (line, column) => ace.gotoLine(line, column, false),
    fold: (lines, what = "hidden lines") => {
      const { Range } = window.ace?.require("ace/range") ?? {};
      ace.session.unfold();
      for (const [first, last] of lines) {
        const range = new Range(first, 0, last, ace.session.getLine(last).length);
        ace.session.addFold(first === last ? "… a hidden line" : `… ${last - first + 1} ${what}`, range);
      }
    },
  };
}

/** @param {AceEditor} ace @param {string} text */
function replace(ace, text) {
  const now = ace.getValue();
  // Half of a line break isn't a place in the editor's document.
  if (`${now}${text}`.includes("\r")) return ace.setValue(text, -1);
  const shorter = Math.min(now.length, text.length);
  let before = 0;
  while (before < shorter && now[before] === text[before]) before += 1;
  let after = 0;
  while (after < shorter - before && now[now.length - 1 - after] === text[text.length - 1 - after]) after += 1;
  const { doc } = ace.session;
  const range = { start: doc.indexToPosition(before, 0), end: doc.indexToPosition(now.length - after, 0) };
  doc.replace(range, text.slice(before, text.length - after));
}

/** Puts what the compiler says below the lines that it speaks of; they move with their lines. */
function marker(/** @type {AceEditor} */ ace) {
  /** @type {any[]} */
  let shown = [];
  return (/** @type {Mark[]} */ marks) => {
    const { session } = ace;
    if (!session.widgetManager && marks.length > 0) session.widgetManager = widgetsOf(ace);
    for (const widget of shown) session.widgetManager?.removeLineWidget(widget);
    // ACE keeps one widget a line.
    const lines = Map.groupBy(marks, ({ line }) => Math.min(line, session.getLength()) - 1);
    shown = [...lines].map(([row, marks]) => {
      const el = document.createElement("div");
      el.className = "ws-mark";
      // The output below says the same, and says it to all.
      el.setAttribute("aria-hidden", "true");
      for (const { level, text } of marks) {
        const line = document.createElement("div");
        // mdBook has a sign of its own for the class `warning`.
        line.className = `ws-${level}`;
        line.textContent = text;
        el.append(line);
      }
      return session.widgetManager?.addLineWidget({ row, el, fixedWidth: true });
    });
  };
}

/** @param {AceEditor} ace @returns {AceSession["widgetManager"]} */
function widgetsOf(ace) {
  const { LineWidgets } = window.ace?.require("ace/line_widgets") ?? {};
  const widgets = new LineWidgets(ace.session);
  widgets.attach(ace);
  return widgets;
}

/**
 * Tab indents while one types. Where the keyboard has just come to, and after
 * Escape, it leaves, as it does everywhere else.
 */
function freeTabOnEscape(/** @type {AceEditor} */ ace) {
  const bindTab = (/** @type {boolean} */ indents) => {
    ace.commands.bindKey("Tab", indents ? "indent" : null);
    ace.commands.bindKey("Shift-Tab", indents ? "outdent" : null);
  };
  ace.textInput.getElement().addEventListener("keydown", (event) => {
    if (event.key === "Escape") bindTab(false);
  });
  // A text may change without the reader, too.
  ace.on("change", () => ace.isFocused() && bindTab(true));
  ace.container.addEventListener("pointerdown", () => bindTab(true));
  ace.on("blur", () => bindTab(false));
  bindTab(false);
}
