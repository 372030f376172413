import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Edits, hashOf } from "../src/snippets/edits.js";

class MemoryStore {
  kept = new Map();
  getItem = (key) => this.kept.get(key) ?? null;
  setItem = (key, value) => void this.kept.set(key, value);
  removeItem = (key) => void this.kept.delete(key);
}

let store;
beforeEach(() => (store = new MemoryStore()));

test("the hash is FNV-1a of 64 bits", () => {
  assert.equal(hashOf(""), "cbf29ce484222325");
  assert.equal(hashOf("a"), "af63dc4c8601ec8c");
});

test("an edit comes back for the same original", () => {
  new Edits(store, "one", "old").save("mine");
  assert.equal(new Edits(store, "one", "old").current(), "mine");
  assert.equal(new Edits(store, "two", "old").current(), undefined);
});

test("a new original shows itself, and the old edit is one call away", () => {
  new Edits(store, "one", "old").save("mine");
  const updated = new Edits(store, "one", "new");
  assert.equal(updated.current(), undefined);
  assert.equal(updated.earlier(), "mine");
  updated.save("mine again");
  assert.equal(updated.current(), "mine again");
  assert.equal(updated.earlier(), "mine");
});

test("the original itself is no edit", () => {
  const edits = new Edits(store, "one", "old");
  edits.save("mine");
  edits.save("old");
  assert.equal(edits.current(), undefined);
  assert.equal(store.kept.size, 0);
});

test("earlier edits go when the reader says so, the current one stays", () => {
  new Edits(store, "one", "old").save("mine");
  const updated = new Edits(store, "one", "new");
  updated.save("newer");
  updated.dropEarlier();
  assert.equal(updated.earlier(), undefined);
  assert.equal(updated.current(), "newer");
});

test("spoiled or full storage does not break the page", () => {
  store.kept.set("workshop-edit-one", "{not json");
  assert.equal(new Edits(store, "one", "old").current(), undefined);
  store.setItem = () => {
    throw new Error("full");
  };
  new Edits(store, "one", "old").save("mine");
});
