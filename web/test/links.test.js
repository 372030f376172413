import assert from "node:assert/strict";
import { test } from "node:test";
import { linkPieces } from "../src/common/links.js";

const pages = (message) => linkPieces(message).flatMap(({ page }) => page ?? []);

test("pages of the book are links, with and without an anchor", () => {
  assert.deepEqual(pages("read one-future/block-on.html#poll-first, or example.html."), ["one-future/block-on.html#poll-first", "example.html"]);
});

test("the pieces are the whole message", () => {
  const message = "see `a.html#b`\nand nothing else";
  assert.equal(linkPieces(message).map(({ text }) => text).join(""), message);
  assert.deepEqual(linkPieces(""), []);
});

for (const hostile of [
  "https://example.org/a.html",
  "//example.org/a.html",
  "/a.html",
  "../a.html",
  "javascript:a.html",
  "data:text/html,a.html/",
  "a.html?x=1",
  "C:\\a.html",
  "a.htmlx",
]) {
  test(`no link from ${hostile}`, () => assert.deepEqual(pages(hostile), []));
}
