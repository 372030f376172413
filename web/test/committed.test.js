// What stands in the book's source: pictures made of data, data of its schema.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { fallbacks } from "../fallbacks/find.mjs";

const BOOK = fileURLToPath(new URL("../../src/", import.meta.url));
const TRACES = new URL("../../src/traces/", import.meta.url);
const SCHEMAS = new URL("../../tools/trace/schema/", import.meta.url);

const figures = fallbacks(BOOK);
const pages = readdirSync(BOOK, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"));
const timelines = pages.flatMap((page) => [...readFileSync(`${BOOK}${page}`, "utf8").matchAll(/id="(fig-[^"]+)">\n<ws-timeline (.*data-question=.*)>\n\{/g)]);
const documents = readdirSync(TRACES).filter((file) => file.endsWith(".json"));
const schemas = readdirSync(SCHEMAS).map((file) => JSON.parse(readFileSync(new URL(file, SCHEMAS), "utf8")));

test("there are figures and data", () => {
  assert(figures.length >= 3 && timelines.length >= 3 && documents.length >= 3 && schemas.length >= 2);
  assert.equal(new Set(figures.map(({ id }) => id)).size, figures.length, "an id stands twice");
});

for (const { id, file, picture, problem } of figures) {
  test(`the picture of ${id} is the one that its data gives`, () => {
    assert.equal(problem, "");
    assert(existsSync(file) && readFileSync(file, "utf8") === picture, "stale: run `npm run fallbacks`");
    assert.doesNotMatch(picture, /\n\s*\n/, "a blank line would end the block of HTML");
  });
}

for (const [, id, attributes] of timelines) {
  test(`${id} marks what its question is about`, () => {
    assert.match(attributes, /data-(note|select)=/);
    const [, words] = /data-note="\w+: ([^"]+)"/.exec(attributes) ?? [];
    const drawn = figures.find((figure) => figure.id === id)?.picture.replaceAll("&#39;", "'");
    if (words) assert.match(drawn, new RegExp(`class="mark-text"[^>]*>${words.replace("{worker}", "W\\d").replace("{task}", "[^<{]+")}<`));
  });
}

for (const file of documents) {
  test(`${file} is valid, and may stand in a page`, () => {
    const text = readFileSync(new URL(file, TRACES), "utf8");
    assert.doesNotMatch(text.trimEnd(), /\n\s*\n/, "a blank line would end the block of HTML");
    assert.doesNotMatch(text, /<\/script/i);
    const document = JSON.parse(text);
    const schema = schemas.find(({ title }) => title === document.schema);
    assert(schema, `there is no schema for ${document.schema}`);
    const isValid = new Ajv({ strict: false }).compile(schema);
    assert(isValid(document), JSON.stringify(isValid.errors?.slice(0, 3)));
  });
}

test("each chapter ends with a link to what comes next", () => {
  const summary = readFileSync(`${BOOK}SUMMARY.md`, "utf8");
  const all = [...summary.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, page]) => page);
  // Exercises and bugs have a way on of their own, and the pages behind the line are for looking things up.
  const numbered = [...summary.split("\n---\n")[0].matchAll(/\]\(([^)]+\.md)\)/g)].map(([, page]) => page);
  const chapters = numbered.slice(0, -1).filter((page) => !/-(exercise|bug)\.md$/.test(page));
  assert(chapters.length > 30);
  const without = chapters.filter((page) => {
    const [text] = readFileSync(`${BOOK}${page}`, "utf8").split("\n## Sources");
    const links = [...text.trim().split(/\n\s*\n/).at(-1).matchAll(/\]\(([^)#]+\.md)/g)];
    return !links.some(([, link]) => all.indexOf(new URL(link, `file:///${page}`).pathname.slice(1)) > all.indexOf(page));
  });
  assert.deepEqual(without, []);
});
