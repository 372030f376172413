// Binds the text of an editor to the reader's file. Either side follows the
// other; where both have changed, both texts are kept until the reader decides.

const WRITE_DELAY_MS = 100;
const RETRY_MS = 2000;

/** @typedef {{text: string | null, hash: string | null}} Version nothing where there is no file */
/** @typedef {{text: string, hash: string | null, aside?: string}} Writing */

/**
 * @typedef {object} Disk
 * @property {() => Promise<Version>} read
 * @property {(writing: Writing) => Promise<{written: {hash: string, kept: string | null}} | {conflict: Version}>} write
 *     both throw an `Error` with words for the reader
 */

/**
 * @typedef {object} Drafts what is in the editor and not on disk, for the next time
 * @property {() => {text: string, hash: string | null} | undefined} load
 * @property {(text: string, hash: string | null) => void} save
 * @property {() => void} clear
 */

/**
 * How the two stand to each other.
 *
 * @typedef {{kind: "same"} | {kind: "writing"} | {kind: "failed", message: string}
 *     | {kind: "conflict", theirs: string | null} | {kind: "decided", kept: string | null}} Standing
 */

export class Binding {
  /**
   * @param {Disk} disk
   * @param {{text: () => string, setText: (text: string) => void}} editor
   * @param {Drafts} drafts
   * @param {(standing: Standing) => void} tell
   */
  constructor(disk, editor, drafts, tell) {
    this.disk = disk;
    this.editor = editor;
    this.drafts = drafts;
    this.tell = tell;
    /** @type {Version} the last that both sides have agreed on */
    this.base = { text: null, hash: null };
    /** @type {Version | undefined} */
    this.theirs = undefined;
    /** @type {Promise<void> | undefined} */
    this.inFlight = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** Begins with the file as it is, or with what couldn't be written the last time. */
  open(/** @type {Version} */ version) {
    const draft = this.drafts.load();
    this.base = { text: version.text, hash: version.hash };
    if (draft === undefined) {
      this.editor.setText(version.text ?? "");
      if (version.text === null) this.#disagree(version);
      else this.#agree(version);
      return;
    }
    this.editor.setText(draft.text);
    // As if the reader had typed it just now, on top of what they had seen.
    if (draft.hash !== version.hash) this.base = { text: null, hash: draft.hash };
    this.meet(version);
  }

  /** The reader has typed. */
  changed() {
    const text = this.editor.text();
    if (this.theirs !== undefined) {
      if (text === this.theirs.text) return this.#agree(this.theirs);
      return this.drafts.save(text, this.base.hash);
    }
    if (text === this.base.text) return;
    this.drafts.save(text, this.base.hash);
    this.timer ??= setTimeout(() => void this.flush(), WRITE_DELAY_MS);
  }

  /** Writes what isn't on disk yet. Afterward it is, or the reader has been told why not. */
  async flush() {
    clearTimeout(this.timer);
    this.timer = undefined;
    while (this.inFlight) await this.inFlight;
    while (this.theirs === undefined && this.editor.text() !== this.base.text) {
      if (!(await this.#write({ text: this.editor.text(), hash: this.base.hash }))) return;
    }
  }

  /** True if what is in the editor is what is on disk, as far as is known. */
  get isSame() {
    return this.theirs === undefined && this.editor.text() === this.base.text;
  }

  /** The file may be another than before: `hash` tells, if it is known. */
  async look(/** @type {string | null | undefined} */ hash = undefined) {
    // The news may be of our own writing.
    while (this.inFlight) await this.inFlight;
    if (hash !== undefined && hash === (this.theirs ?? this.base).hash) return;
    try {
      this.meet(await this.disk.read());
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Compares the file with the editor. */
  meet(/** @type {Version} */ version) {
    const mine = this.editor.text();
    if (version.text === mine) return this.#agree(version);
    if (version.hash === this.base.hash) {
      // Only we have changed.
      this.theirs = undefined;
      return void this.flush();
    }
    if (mine !== this.base.text || version.text === null) return this.#disagree(version);
    this.base = version;
    this.editor.setText(version.text);
    this.#agree(version);
  }

  /** The reader's decision; the other text goes into a file beside it first. */
  async decide(/** @type {"mine" | "theirs"} */ whose) {
    const { theirs } = this;
    if (theirs === undefined) return;
    const mine = this.editor.text();
    const [text, aside] = whose === "mine" ? [mine, theirs.text] : [theirs.text ?? "", mine];
    const kept = await this.#write({ text, hash: theirs.hash, ...(aside === null ? {} : { aside }) });
    if (!kept) return;
    if (whose === "theirs") this.editor.setText(text);
    this.tell({ kind: "decided", kept: kept.kept });
    await this.flush();
  }

  /** @param {Writing} writing */
  async #write(writing) {
    /** @type {() => void} */
    let done = () => {};
    this.inFlight = new Promise((resolve) => (done = resolve));
    this.tell({ kind: "writing" });
    try {
      const answer = await this.disk.write(writing);
      if ("conflict" in answer) {
        this.meet(answer.conflict);
        return undefined;
      }
      this.#agree({ text: writing.text, hash: answer.written.hash });
      return answer.written;
    } catch (error) {
      this.#fail(error);
      return undefined;
    } finally {
      this.inFlight = undefined;
      done();
    }
  }

  #agree(/** @type {Version} */ version) {
    this.base = version;
    this.theirs = undefined;
    if (this.editor.text() !== version.text) return;
    this.drafts.clear();
    this.tell({ kind: "same" });
  }

  #disagree(/** @type {Version} */ version) {
    this.theirs = version;
    if (this.editor.text() !== "") this.drafts.save(this.editor.text(), this.base.hash);
    this.tell({ kind: "conflict", theirs: version.text });
  }

  #fail(/** @type {unknown} */ error) {
    this.tell({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.look();
    }, RETRY_MS);
  }
}
