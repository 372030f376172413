import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Binding } from "../src/exercise/binding.js";

/** A file, as the server keeps it. */
class Disk {
  version = { text: "old", hash: "h:old" };
  kept = [];
  isDown = false;

  save(text) {
    this.version = { text, hash: text === null ? null : `h:${text}` };
    return this.version.hash;
  }

  async read() {
    if (this.isDown) throw new Error("down");
    return { ...this.version };
  }

  async write({ text, hash, aside }) {
    if (this.isDown) throw new Error("down");
    if (hash !== this.version.hash) return { conflict: { ...this.version } };
    if (aside !== undefined) this.kept.push(aside);
    return { written: { hash: this.save(text), kept: aside === undefined ? null : "kept.rs" } };
  }
}

let disk, editor, drafts, told, binding;
beforeEach(() => {
  disk = new Disk();
  editor = { now: "", text: () => editor.now, setText: (text) => (editor.now = text) };
  drafts = { kept: undefined, load: () => drafts.kept, save: (text, hash) => (drafts.kept = { text, hash }), clear: () => (drafts.kept = undefined) };
  told = [];
  open();
});

function open() {
  binding = new Binding(disk, editor, drafts, (standing) => told.push(standing));
  binding.open({ ...disk.version });
}

function type(text) {
  editor.now = text;
  binding.changed();
}

test("what is typed is written, and what is saved elsewhere is shown", async () => {
  assert.equal(editor.now, "old");
  type("mine");
  assert.deepEqual(drafts.kept, { text: "mine", hash: "h:old" }, "it would outlive a reload");
  await binding.flush();
  assert.equal(disk.version.text, "mine");
  assert.equal(drafts.kept, undefined);
  await binding.look(disk.save("theirs"));
  assert.equal(editor.now, "theirs");
  assert(binding.isSame);
});

test("typing is written soon after it begins, not after it ends", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    for (const text of ["a", "ab", "abc"]) {
      type(text);
      mock.timers.tick(40);
    }
    await Promise.resolve();
    assert.equal(disk.version.text, "abc");
  } finally {
    mock.timers.reset();
  }
});

test("a change on both sides is shown, and whichever is chosen, no text is lost", async () => {
  for (const [whose, result, kept] of [["mine", "mine", "theirs"], ["theirs", "theirs", "mine"]]) {
    disk.save("old");
    disk.kept = [];
    open();
    editor.now = "mine";
    await binding.look(disk.save("theirs"));
    assert.deepEqual(told.at(-1), { kind: "conflict", theirs: "theirs" });
    assert.deepEqual([editor.now, disk.version.text], ["mine", "theirs"]);
    binding.changed();
    await binding.flush();
    assert.equal(disk.version.text, "theirs", "nothing is written before the reader decides");
    await binding.decide(whose);
    assert.deepEqual([editor.now, disk.version.text, disk.kept], [result, result, [kept]]);
    assert(told.some(({ kind, kept }) => kind === "decided" && kept === "kept.rs"));
    assert(binding.isSame);
  }
});

test("a conflict that the writer hears of first is the same", async () => {
  type("mine");
  disk.save("theirs");
  await binding.flush();
  assert.deepEqual(told.at(-1), { kind: "conflict", theirs: "theirs" });
  await binding.look(disk.save("theirs again"));
  assert.deepEqual(told.at(-1), { kind: "conflict", theirs: "theirs again" });
  type("theirs again");
  assert.deepEqual(told.at(-1), { kind: "same" }, "who types the same agrees");
});

test("news of our own writing is no conflict, even when more was typed since", async () => {
  type("one");
  const writing = binding.flush();
  const news = binding.look("h:one");
  editor.now = "one and two";
  binding.changed();
  await Promise.all([writing, news]);
  await binding.flush();
  assert.equal(disk.version.text, "one and two");
  await binding.look("h:one");
  assert(binding.isSame);
  assert(!told.some(({ kind }) => kind === "conflict"));
});

test("what could not be written is there the next time", async () => {
  type("mine");
  disk.isDown = true;
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    await binding.flush();
  } finally {
    mock.timers.reset();
  }
  assert.deepEqual(told.at(-1), { kind: "failed", message: "down" });
  disk.isDown = false;
  open();
  assert.equal(editor.now, "mine");
  await binding.flush();
  assert.equal(disk.version.text, "mine");

  type("mine again");
  disk.save("theirs");
  open();
  assert.equal(editor.now, "mine again");
  assert.deepEqual(told.at(-1), { kind: "conflict", theirs: "theirs" });
});

test("a file that is gone is not written again without a word", async () => {
  await binding.look(disk.save(null));
  assert.deepEqual(told.at(-1), { kind: "conflict", theirs: null });
  assert.equal(editor.now, "old");
  await binding.decide("mine");
  assert.equal(disk.version.text, "old");
  await binding.look(disk.save(null));
  await binding.look(disk.save("back"));
  assert.equal(editor.now, "back", "it is the reader who has put it there, and nothing was typed since");
  assert.deepEqual(told.at(-1), { kind: "same" });
});
