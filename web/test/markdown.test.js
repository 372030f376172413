import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { blocks, pieces } from "../src/common/markdown.js";

test("paragraphs, lists and code are told apart", () => {
  const text = "One\nline.\n\n1. First,\n   still first.\n2. Second.\n\nThen:\n\n```rust\n1. code\n```\n\n    let a;\n\n    let b;\n\n- x\n";
  assert.deepEqual(blocks(text), [
    { kind: "paragraph", text: "One line." },
    { kind: "list", ordered: true, items: ["First, still first.", "Second."] },
    { kind: "paragraph", text: "Then:" },
    { kind: "code", text: "1. code" },
    { kind: "code", text: "let a;\n\nlet b;" },
    { kind: "list", ordered: false, items: ["x"] },
  ]);
});

test("code is taken as it is, and emphasis is seen", () => {
  assert.deepEqual(pieces("a `b*c*` **d** *e* 2 * 3"), [
    { kind: "text", text: "a " },
    { kind: "code", text: "b*c*" },
    { kind: "text", text: " " },
    { kind: "strong", text: "d" },
    { kind: "text", text: " " },
    { kind: "em", text: "e" },
    { kind: "text", text: " 2 * 3" },
  ]);
});

test("the hints of the exercises have nothing that would be shown raw", () => {
  const exercises = new URL("../../exercises/", import.meta.url);
  const folders = readdirSync(exercises).filter((name) => /^\d/.test(name));
  assert(folders.length >= 14);
  for (const folder of folders) {
    const text = readFileSync(new URL(`${folder}/hints.md`, exercises), "utf8");
    for (const block of blocks(text.replace(/^# .*$/gm, ""))) {
      if (block.kind === "code") continue;
      const raw = (block.kind === "list" ? block.items : [block.text]).flatMap(pieces).filter(({ kind }) => kind === "text");
      for (const { text } of raw) assert.doesNotMatch(text, /`|\*\*|\]\(|^#|<\w/, `${folder}: ${text}`);
    }
  }
});
