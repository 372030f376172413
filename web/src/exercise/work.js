// The reader's file, in an editor on the page.

import { button, element, hideAndPassFocus } from "../common/dom.js";
import { newEditor } from "../common/editor.js";
import { localStore } from "../common/storage.js";
import { call } from "../runner.js";
import { Binding } from "./binding.js";
import { difference } from "./difference.js";
import { onNews } from "./news.js";
import { documentation, firstTodo } from "./outline.js";

/** Where the page has no place that it fills. */
const SIZE = { minLines: 8, maxLines: 32 };
const CONFLICT = 409;

/** @typedef {import("./binding.js").Standing} Standing */

export class Work {
  /**
   * @param {number} number
   * @param {any} opened what the server says of the exercise
   * @param {() => void} onChange
   */
  constructor(number, opened, onChange) {
    this.number = number;
    this.file = String(opened.file);
    const code = element("code");
    this.pre = element("pre", {}, code);
    this.standing = element("p", { class: "work-standing", role: "status" });
    this.conflict = element("div", { class: "work-conflict", role: "group", "aria-label": "Two versions of your file", hidden: true });
    const name = element("div", { class: "work-name" }, element("code", {}, this.file), this.standing);
    const hint = element("p", { class: "snippet-hint editing" }, "Escape, then Tab, leaves the editor. Ctrl-Enter checks.");
    this.element = element("div", { class: "work" }, name, this.conflict, this.pre, hint);
    this.code = code;
    this.opened = opened;
    this.onChange = onChange;
    this.isDecided = false;
  }

  /** Begins; the element must be on the page. */
  start() {
    this.editor = newEditor(this.code, `Your ${this.file}`, SIZE);
    if (!this.editor) return;
    const disk = {
      read: async () => (await call(`exercises/${this.number}/read`)).value,
      write: async (/** @type {import("./binding.js").Writing} */ writing) => {
        const { status, value } = await call(`exercises/${this.number}/write`, writing, CONFLICT);
        return status === CONFLICT ? { conflict: value } : { written: value };
      },
    };
    this.binding = new Binding(disk, this.editor, drafts(this.number), (standing) => this.tell(standing));
    this.binding.open({ text: this.opened.text, hash: this.opened.hash });
    this.begin(this.editor);
    this.editor.onChange(() => {
      this.binding?.changed();
      this.onChange();
    });
    onNews((news) => {
      if (news.type === "exercise-file" && news.number === this.number) this.binding?.look(news.hash);
      if (news.type === "connected") this.binding?.look();
    });
  }

  /** The contract stands beside the editor: its copy is folded, and the caret is where there is something to write. */
  begin(/** @type {import("../common/editor.js").Editor} */ editor) {
    const text = editor.text();
    editor.fold(documentation(text), "lines of documentation");
    const todo = firstTodo(text);
    if (todo) editor.place(todo.line, todo.column);
  }

  /** Whether the editor fills its place instead of having a size in lines. */
  fill(/** @type {boolean} */ fills) {
    this.editor?.size(fills ? undefined : SIZE);
  }

  /** Brings to disk what is in the editor. Returns false if the reader has to decide first. */
  async save() {
    await this.binding?.flush();
    return this.isSame;
  }

  /** Whether what is in the editor is what is on disk, as far as is known. */
  get isSame() {
    return this.binding?.isSame ?? true;
  }

  /** @param {Standing} standing */
  tell(standing) {
    this.standing.classList.toggle("bad", standing.kind === "failed" || standing.kind === "conflict");
    this.say(standing);
    if (standing.kind === "conflict") this.showConflict(standing.theirs);
    else if (standing.kind !== "writing") this.hideConflict();
  }

  /** @param {Standing} standing */
  say(standing) {
    const now = this.standing.textContent;
    // What was decided stays to be read until something is written.
    if (standing.kind === "writing") this.isDecided = false;
    if (standing.kind === "decided") this.isDecided = standing.kept !== null;
    const words = standing.kind === "same" && this.isDecided ? now : standingInWords(standing);
    // The same words again would be read aloud at each key.
    if (words !== null && words !== now) this.standing.textContent = words;
  }

  /** @param {string | null} theirs */
  showConflict(theirs) {
    const mine = this.editor?.text() ?? "";
    const decide = (/** @type {"mine" | "theirs"} */ whose) => () => this.binding?.decide(whose);
    const asks = theirs === null
      ? `${this.file} is gone. What stands below is only on this page.`
      : `${this.file} was changed elsewhere, and you have changed it here. Nothing is written until you decide; the version that you do not choose is kept in a file beside it.`;
    this.conflict.replaceChildren(element("p", {}, asks));
    if (theirs !== null) {
      const lines = difference(mine, theirs);
      const shown = element("details", {}, element("summary", {}, "How the file differs from what stands here"), lines);
      this.conflict.append(shown, button("Take the file's", decide("theirs")), " ");
    }
    this.conflict.append(button(theirs === null ? "Write it again" : "Keep what stands here", decide("mine")));
    this.conflict.hidden = false;
  }

  hideConflict() {
    const area = /** @type {HTMLElement | null} */ (this.pre.querySelector("textarea"));
    if (area) hideAndPassFocus(this.conflict, area);
  }
}

/**
 * @param {Standing} standing
 * @returns {string | null} nothing where there is nothing new to say
 */
function standingInWords(standing) {
  switch (standing.kind) {
    case "same":
      return "as on disk";
    case "writing":
      return null;
    case "decided":
      return standing.kept === null ? "as on disk" : `as on disk; the other version is in ${standing.kept}`;
    case "failed":
      return `Not on disk: ${standing.message} What you typed is kept here.`;
    case "conflict":
      return "not on disk: you have to decide";
  }
}

/**
 * @param {number} number
 * @returns {import("./binding.js").Drafts}
 */
function drafts(number) {
  const store = localStore();
  const key = `workshop-draft-${number}`;
  return {
    load() {
      try {
        const draft = JSON.parse(store.getItem(key) ?? "null");
        return typeof draft?.text === "string" ? draft : undefined;
      } catch {
        return undefined;
      }
    },
    save(text, hash) {
      try {
        store.setItem(key, JSON.stringify({ text, hash }));
      } catch {
        // The storage is full: the text lives as long as the page, or until it is on disk.
      }
    },
    clear: () => store.removeItem(key),
  };
}
