import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { outcome, verdict } from "../src/predict.js";

const BOOK = new URL("../../src/", import.meta.url);

test("what it was is what the program printed, or what the book knows of its own program", () => {
  const ran = { snippet: "x", printed: "3\nlift-off after 4 polls\n", edited: false };
  assert.equal(outcome({ found: "after (\\d+) polls", answer: "5" }, ran), "4");
  assert.equal(outcome({ found: "in (\\d+) rounds", answer: "5" }, ran), undefined);
  assert.equal(outcome({ answer: "forever" }, ran), "forever");
  assert.equal(outcome({ answer: "forever" }, { ...ran, edited: true }), undefined);
});

test("the verdict names both, and numbers are compared as numbers", () => {
  assert.equal(verdict("2", "4", "polls"), "You said 2 polls; it was 4 polls.");
  assert.equal(verdict("4.0", "4", ""), "You said 4.0, and so it was.");
  assert.equal(verdict("yes", "no", ""), "You said yes; it was no.");
  assert.equal(verdict(undefined, "no", ""), "It was: no.");
  assert.equal(verdict("yes", undefined, ""), "");
});

/** The value of an attribute in the book's Markdown. */
function attribute(text, name) {
  const value = new RegExp(`\\bdata-${name}="([^"]*)"`).exec(text)?.[1];
  return value?.replaceAll("&#x27;", "'").replaceAll("&amp;", "&");
}

test("each question has its answer among the choices, its program on the page, and its answer in what was recorded", () => {
  let questions = 0;
  for (const file of readdirSync(BOOK, { recursive: true }).filter((name) => name.endsWith(".md"))) {
    const text = readFileSync(new URL(file, BOOK), "utf8");
    for (const [head] of text.matchAll(/<div class="predict" [^>]*>/g)) {
      questions += 1;
      const [snippet, choices, answer, found] = ["snippet", "choices", "answer", "found"].map((name) => attribute(head, name));
      const place = `${file}: ${head}`;
      if (choices === undefined) assert.match(answer, /^[\d.]+$/, `a number is asked for: ${place}`);
      else assert(choices.split("|").includes(answer) && new Set(choices.split("|")).size >= 2, place);
      if (snippet === undefined) continue;
      const program = text.indexOf(`snippet-${snippet}\n`);
      assert(program > text.indexOf(head), `its program comes later: ${place}`);
      if (found === undefined) continue;
      const recorded = /```text,recorded[^\n]*\n([^]*?)```/.exec(text.slice(program))?.[1] ?? "";
      assert.equal(outcome({ found, answer }, { snippet, printed: recorded, edited: false }), answer, place);
    }
  }
  assert(questions > 40, `${questions} questions`);
});
