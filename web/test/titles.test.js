import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const BOOK = new URL("../../src/", import.meta.url);

test("no two pages have one title: a search and a tab show nothing else", () => {
  const summary = readFileSync(new URL("SUMMARY.md", BOOK), "utf8");
  const titles = [...summary.matchAll(/\[(.+)\]\((.+\.md)\)/g)].map(([, title, file]) => ({ title, file }));
  assert(titles.length > 60);
  const twice = titles.filter(({ title }, index) => titles.findIndex((other) => other.title === title) !== index);
  assert.deepEqual(twice, []);
  const bugs = titles.filter(({ title }) => title.startsWith("Find the bug"));
  for (const { title, file } of bugs) assert.equal(readFileSync(new URL(file, BOOK), "utf8").split("\n")[0], `# ${title}`);
});
