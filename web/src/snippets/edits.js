// The reader's edits of a program, kept by the hash of the text they started
// from: an updated book shows its new text, and the old edit isn't lost.

const KEPT_ORIGINALS = 3;

/** @typedef {Pick<Storage, "getItem" | "setItem" | "removeItem">} Store */
/** @typedef {{hash: string, text: string}} Edit */

/**
 * A short hash of `text` (FNV-1a, 64 bits): only to tell two versions apart.
 *
 * @param {string} text
 */
export function hashOf(text) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}

export class Edits {
  /**
   * @param {Store} store
   * @param {string} name of the snippet
   * @param {string} original its text in this version of the book
   */
  constructor(store, name, original) {
    this.store = store;
    this.key = `workshop-edit-${name}`;
    this.original = original;
    this.hash = hashOf(original);
  }

  /** The reader's edit of this very text, if there is one. */
  current() {
    return this.#all().find((edit) => edit.hash === this.hash)?.text;
  }

  /** The latest edit of an earlier text. */
  earlier() {
    return this.#all().find((edit) => edit.hash !== this.hash)?.text;
  }

  /**
   * Keeps `text` as the edit; the original itself isn't an edit.
   *
   * @param {string} text
   */
  save(text) {
    const others = this.#all().filter((edit) => edit.hash !== this.hash);
    this.#write(text === this.original ? others : [{ hash: this.hash, text }, ...others]);
  }

  /** Forgets the edits of earlier texts. */
  dropEarlier() {
    this.#write(this.#all().filter((edit) => edit.hash === this.hash));
  }

  /** @returns {Edit[]} the newest first */
  #all() {
    try {
      const kept = JSON.parse(this.store.getItem(this.key) ?? "[]");
      return Array.isArray(kept) ? kept : [];
    } catch {
      return [];
    }
  }

  /** @param {Edit[]} edits */
  #write(edits) {
    try {
      if (edits.length === 0) this.store.removeItem(this.key);
      else this.store.setItem(this.key, JSON.stringify(edits.slice(0, KEPT_ORIGINALS)));
    } catch {
      // The storage is full: the edit lives as long as the page.
    }
  }
}
