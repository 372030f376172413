// What every figure has: its question, its data, its place in the address,
// its keys, its paper.

import { html, nothing, render } from "lit/html.js";
import { localStore } from "../common/storage.js";
import { isPrintPage } from "../print.js";
import { tied } from "./format.js";
import { formatLink, parseLink } from "./link.js";
import { wordsOf } from "./unreadable.js";

/** mdBook turns pages and opens its search by these; inside a figure they are the figure's. */
const BOOK_KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "?", "Escape"]);
const NARROWEST = 260;
const FALLBACK_WIDTH = 680;
const COPIED_MS = 2000;

/** @typedef {{isOpen: boolean, toggle: (event: Event) => void}} TextState whether the reader has opened the text */
/** @typedef {{snippet: string, name: string, document: any}} Delivery what a Run brings */

export class Figure extends HTMLElement {
  /** @type {{name: string, text: string}[]} */
  inline = [];
  /** The error that is shown beside the file button, if any. */
  error = "";
  /** The sentence about the last step that the reader made. */
  why = "";
  isTextOpen = false;
  /** Whether paper is being printed on. */
  onPaper = false;
  width = FALLBACK_WIDTH;
  /** @type {HTMLElement} the `figure` around it, or itself */
  frame = this;
  /** What tells it from the others of the book. */
  key = "";
  helpOpen = false;
  isStarted = false;
  store = localStore();

  connectedCallback() {
    if (this.isStarted) return;
    this.isStarted = true;
    this.frame = this.closest("figure") ?? this;
    this.key = this.dataset.copyOf ? `${this.dataset.copyOf}-copy` : this.frame.id || this.dataset.names || "figure";
    this.inline = [...this.querySelectorAll('script[type="application/json"]')].map((script, index) => ({
      name: script.getAttribute("data-name") ?? this.names()[index] ?? `data-${index + 1}`,
      text: script.textContent ?? "",
    }));
    this.replaceChildren();
    this.classList.add("ws-figure");
    if (this.frame !== this) this.frame.setAttribute("aria-labelledby", this.questionId());
    this.onPaper = isPrintPage();
    this.measure();
    this.start();
    this.draw();
    this.listen();
    this.followLink();
  }

  // ---- what a kind of figure says of itself

  /** Reads its data and takes its first state. */
  start() {}

  /** @returns {unknown} */
  template() {
    return nothing;
  }

  /** @param {KeyboardEvent} _event @returns {boolean} true if the key was used */
  onKey(_event) {
    return false;
  }

  /** @param {Delivery} _delivery */
  take(_delivery) {}

  /** @param {string} _text the content of a file or of the clipboard */
  load(_text) {}

  /** @returns {Record<string, string>} what a link to this state holds */
  linkParts() {
    return {};
  }

  /** @param {Record<string, string>} _parts */
  applyLink(_parts) {}

  // ---- common

  /** @returns {string[]} */
  names() {
    return words(this.dataset.names);
  }

  questionId() {
    return `${this.key}-question`;
  }

  draw() {
    this.dataset.drawn = "";
    render(this.template(), this, { host: this });
  }

  measure() {
    const width = this.getBoundingClientRect().width;
    this.width = width > 0 ? Math.max(NARROWEST, Math.round(width)) : FALLBACK_WIDTH;
  }

  listen() {
    new ResizeObserver(() => {
      const before = this.width;
      this.measure();
      if (before !== this.width && !this.onPaper) this.draw();
    }).observe(this);
    this.addEventListener("keydown", (event) => this.handleKey(event));
    this.addEventListener("focusout", ({ relatedTarget }) => relatedTarget && this.leaveMenu(relatedTarget));
    document.addEventListener("pointerdown", ({ target }) => this.leaveMenu(target));
    this.addEventListener("dragover", (event) => event.preventDefault());
    this.addEventListener("drop", (event) => this.handleDrop(event));
    this.addEventListener("paste", (event) => this.handlePaste(event));
    document.addEventListener("workshop-figure", (event) => this.handleDelivery(/** @type {CustomEvent<Delivery>} */ (event).detail));
    addEventListener("hashchange", () => this.followLink());
    this.frame.addEventListener("focusout", ({ relatedTarget }) => {
      // What lies behind can't be seen.
      const isLost = relatedTarget instanceof Node && !this.frame.contains(relatedTarget);
      if (isLost && this.frame.classList.contains("fig-large")) /** @type {HTMLElement | null} */ (this.querySelector(".fig-enlarge"))?.focus();
    });
    this.frame.addEventListener("fullscreenchange", () => document.fullscreenElement !== this.frame && this.leaveLarge());
    if (isPrintPage()) return;
    addEventListener("beforeprint", () => this.printAs(true));
    addEventListener("afterprint", () => this.printAs(false));
  }

  /** @param {boolean} onPaper */
  printAs(onPaper) {
    this.onPaper = onPaper;
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  handleKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLSelectElement;
    const used = !typing && this.onKey(event);
    if (used) event.preventDefault();
    if (used || BOOK_KEYS.has(event.key)) event.stopPropagation();
  }

  /** @param {DragEvent} event */
  handleDrop(event) {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    this.loadFile(file);
  }

  /** @param {ClipboardEvent} event */
  handlePaste(event) {
    const text = event.clipboardData?.getData("text") ?? "";
    if (!text.trim()) return;
    event.preventDefault();
    this.tryTo(() => this.load(text));
  }

  /** @param {File} file */
  async loadFile(file) {
    const text = await file.text();
    this.tryTo(() => this.load(text));
  }

  /** Shows what can't be read as one sentence, and draws again. @param {() => void} action */
  tryTo(action) {
    this.error = "";
    try {
      action();
    } catch (error) {
      this.error = wordsOf(error);
    }
    this.draw();
  }

  /** @param {Delivery} delivery */
  handleDelivery(delivery) {
    const snippets = words(this.dataset.snippet);
    const isMine = snippets.length === 0 || snippets.includes(delivery.snippet);
    if (isMine && this.inlineNames().includes(delivery.name)) this.tryTo(() => this.take(delivery));
  }

  /** @returns {string[]} of the documents this figure takes */
  inlineNames() {
    const names = this.names();
    return names.length > 0 ? names : this.inline.map(({ name }) => name);
  }

  followLink() {
    const parts = parseLink(location.hash, this.key);
    if (!parts) return;
    this.applyLink(parts);
    this.draw();
    this.frame?.scrollIntoView({ block: "start", behavior: "instant" });
  }

  link() {
    return new URL(formatLink(this.key, this.linkParts()), location.href).href;
  }

  async copyLink() {
    const link = this.link();
    history.replaceState(history.state, "", new URL(link).hash);
    await navigator.clipboard?.writeText(link);
    this.copied = true;
    this.draw();
    setTimeout(() => {
      this.copied = false;
      this.draw();
    }, COPIED_MS);
  }

  // ---- pieces of the frame

  /** @param {unknown} [beside] the question, at its right */
  head(beside = nothing) {
    return html`<div class="fig-head"><p class="fig-question" id=${this.questionId()}>${this.dataset.question ?? ""}</p>${beside}</div>`;
  }

  /** The last step in words, and what went wrong. */
  whyLine() {
    return html`<p class="fig-why" aria-live="polite">${tied(this.why)}</p>
      <p class="fig-error" role="alert" ?hidden=${!this.error}>${this.error}</p>`;
  }

  /** @returns {TextState} */
  textState() {
    const toggle = (/** @type {Event} */ event) => {
      const { open } = /** @type {HTMLDetailsElement} */ (event.currentTarget);
      if (open === this.isTextOpen || this.onPaper) return;
      this.isTextOpen = open;
      this.draw();
    };
    return { isOpen: this.isTextOpen, toggle };
  }

  linkOnPaper() {
    return this.onPaper ? html`<p class="fig-source">${this.link()}</p>` : nothing;
  }

  /** @param {string} what a file to load, in words; empty if it takes none @param {unknown} more further entries */
  menu(what, more) {
    return html`<details class="fig-menu">
      <summary class="ws-button" aria-label=${`More: ${what ? "load, save, " : ""}link, keys`}><span aria-hidden="true">⋯</span></summary>
      <div class="fig-menu-list">
        ${what ? html`${this.fileButton(`Load ${what} …`)}<p>or drop a file on the figure, or paste its text.</p>` : nothing}
        ${more}
        <button type="button" class="ws-button" @click=${() => this.copyLink()}>${this.copied ? "Copied" : "Copy a link to this view"}</button>
        <button type="button" class="ws-button" aria-expanded=${String(this.helpOpen)} @click=${() => this.toggleHelp()}>Keys</button>
      </div>
    </details>`;
  }

  // ---- the whole screen

  largeButton() {
    const isLarge = this.frame.classList.contains("fig-large");
    return html`<button type="button" class="ws-button fig-enlarge" aria-label="Full screen" aria-pressed=${String(isLarge)} @click=${() => this.toggleLarge()}><span aria-hidden="true">⤢</span></button>`;
  }

  /** Where the browser has no full screen for elements, the page is covered instead. */
  async toggleLarge() {
    if (this.leaveLarge()) return;
    this.setLarge(true);
    await this.frame.requestFullscreen?.().catch(() => {});
  }

  leaveLarge() {
    if (!this.frame.classList.contains("fig-large")) return false;
    if (document.fullscreenElement === this.frame) document.exitFullscreen();
    this.setLarge(false);
    return true;
  }

  /** @param {boolean} isLarge */
  setLarge(isLarge) {
    this.frame.classList.toggle("fig-large", isLarge);
    document.documentElement.classList.toggle("fig-covered", isLarge);
    this.measure();
    this.draw();
    /** @type {HTMLElement | null} */ (this.querySelector(".fig-enlarge"))?.focus();
    if (!isLarge) this.frame.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  /** @param {string} text */
  fileButton(text) {
    const load = (/** @type {Event} */ event) => {
      const input = /** @type {HTMLInputElement} */ (event.target);
      const file = input.files?.[0];
      if (file) this.loadFile(file);
      // Choosing the same file again is a change, too.
      input.value = "";
    };
    return html`<label class="ws-button fig-file">${text}<input type="file" class="ws-sr" accept=".json,application/json" @change=${load} /></label>`;
  }

  /** @param {[string, string][]} keys what they do */
  help(keys) {
    if (!this.helpOpen) return nothing;
    return html`<dl class="fig-keys">${keys.map(([key, does]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`)}</dl>`;
  }

  toggleHelp() {
    this.helpOpen = !this.helpOpen;
    this.draw();
  }

  /** The menu is open only while the reader is in it. @param {EventTarget | null} to */
  leaveMenu(to) {
    const menu = this.querySelector(".fig-menu[open]");
    if (menu && !(to instanceof Node && menu.contains(to))) menu.removeAttribute("open");
  }

  closeMenu() {
    const menu = this.querySelector(".fig-menu[open]");
    if (!menu) return false;
    menu.removeAttribute("open");
    menu.querySelector("summary")?.focus();
    return true;
  }
}

/** Splits what is separated by spaces. @param {string | undefined} text */
export function words(text) {
  return (text ?? "").split(/\s+/).filter(Boolean);
}

/** True where the focused thing does something of its own with this key. @param {KeyboardEvent} event */
export function isTaken({ target, key }) {
  if (target instanceof Element && target.matches(".fig-table")) return /^( |Home|End|Page)/.test(key);
  if (target instanceof HTMLInputElement) return target.type === "range" ? /^(Arrow|Home|End|Page)/.test(key) : key === " ";
  return (target instanceof HTMLButtonElement || (target instanceof Element && target.matches("summary, a"))) && (key === " " || key === "Enter");
}

export function wantsLessMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Hands a file to the reader. @param {string} name @param {string} text */
export function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address));
}
