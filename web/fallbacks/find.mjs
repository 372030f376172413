// Finds the figures in the book's Markdown and draws them, without a browser.

import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { litmusPicture } from "../src/figures/litmus/first.js";
import { schedulerPicture } from "../src/figures/scheduler/first.js";
import { stepsPicture } from "../src/figures/steps/first.js";
import { sweepPicture } from "../src/figures/sweep/first.js";
import { timelinePicture } from "../src/figures/timeline/first.js";
import { toText } from "./static-html.mjs";

const FIGURE = /<figure[^>]*\bid="([^"]+)"[^>]*>([\s\S]*?)<\/figure>/g;
const ELEMENT = /<(ws-timeline|ws-sweep|ws-steps|ws-scheduler|ws-litmus)\b([^>]*)>([\s\S]*?)<\/\1>/;
const ATTRIBUTE = /\bdata-([\w-]+)(?:="([^"]*)")?/g;
const SCRIPT = /<script type="application\/json"(?:[^>]*?data-name="([^"]*)")?[^>]*>([\s\S]*?)<\/script>/g;
const INCLUDE = /\{\{#include ([^}:]+)\}\}/;
const WIDTH = 680;
const DRAW = { "ws-timeline": timelinePicture, "ws-sweep": sweepPicture, "ws-steps": stepsPicture, "ws-scheduler": schedulerPicture, "ws-litmus": litmusPicture };

/**
 * @param {string} book the folder of the chapters
 * @returns {{id: string, file: string, picture: string, problem: string}[]} `problem` instead of a picture where the data is missing or wrong
 */
export function fallbacks(book) {
  const pages = readdirSync(book, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"));
  return pages.flatMap((page) => {
    const path = join(book, page);
    const text = readFileSync(path, "utf8");
    const named = new Map([...text.matchAll(SCRIPT)].map(([, name = "", content = ""]) => [name, content]));
    return [...text.matchAll(FIGURE)].flatMap(([, id = "", inside = ""]) => figureOf(path, id, inside, named));
  });
}

/** @param {string} page @param {string} id @param {string} inside @param {Map<string, string>} named data of all figures of the page */
function figureOf(page, id, inside, named) {
  const [, tag, attributes = "", content = ""] = ELEMENT.exec(inside) ?? [];
  const included = INCLUDE.exec(content.replaceAll(SCRIPT, ""))?.[1];
  if (!tag || !included) return [];
  const data = Object.fromEntries([...attributes.matchAll(ATTRIBUTE)].map(([, name = "", value = ""]) => [camel(name), value]));
  const file = resolve(dirname(page), included.trim());
  try {
    const documents = [...content.matchAll(SCRIPT)].map(([, name = "", text = ""]) => ({ name, text: expanded(text, page) }));
    const traces = (data.traces ?? "").split(/\s+/).filter(Boolean).map((name) => ({ name, text: expanded(named.get(name) ?? "", page) }));
    return [{ id, file, picture: `${tidy(toText(/** @type {any} */ (DRAW)[tag](documents, data, id, WIDTH, traces)))}\n`, problem: "" }];
  } catch (error) {
    return [{ id, file, picture: "", problem: `${page}: ${id}: ${error instanceof Error ? error.message : error}` }];
  }
}

/** @param {string} text @param {string} page */
function expanded(text, page) {
  const included = INCLUDE.exec(text)?.[1];
  return included ? readFileSync(resolve(dirname(page), included.trim()), "utf8") : text;
}

/** mdBook's HTML block ends at a blank line; the spaces aren't shown. @param {string} picture */
function tidy(picture) {
  return picture.replace(/>\s+</g, ">\n<").replace(/\s*\n\s*/g, "\n").trim();
}

/** @param {string} name */
function camel(name) {
  return name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
}
