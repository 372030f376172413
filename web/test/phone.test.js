import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const FIGURES = new URL("../../src/figures/", import.meta.url);
/** The text's width on a phone of 390 pixels. */
const PHONE = 350;
const USUAL = 13;
const LEAST = 9;

test("the pictures that were drawn by hand can be read on a phone", () => {
  const drawn = readdirSync(FIGURES).map((name) => ({ name, text: readFileSync(new URL(name, FIGURES), "utf8") }));
  // A figure's own script draws the others again for each width.
  const byHand = drawn.filter(({ text }) => !text.includes('class="fig-still"'));
  assert(byHand.length >= 1, "the figures are found");
  for (const { name, text } of byHand) {
    for (const [, inside] of text.matchAll(/(<svg[^]*?<\/svg>)/g)) {
      const width = Number(/viewBox="[\d.]+ [\d.]+ ([\d.]+)/.exec(inside)[1]);
      const sizes = [...inside.matchAll(/font-size:\s*([\d.]+)px/g)].map(([, size]) => Number(size));
      const least = Math.min(USUAL, ...sizes) * Math.min(1, PHONE / width);
      assert(least >= LEAST, `${name}: text of ${least.toFixed(1)} px`);
    }
  }
});
