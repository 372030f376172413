// Makes the two pictures that stand outside the book: `src/images/preview.png`, which
// other sites show beside a link to it, and `docs/page.png`, which the README shows.
// Needs `cargo workshop serve`, as the browser tests do.

import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ROOT, launch, reasonToSkip } from "./e2e/browser.mjs";

/** What `tools/workshop/src/book/address.rs` says of the preview. */
const PREVIEW = { width: 1200, height: 630 };
const PAGE = { width: 1240, height: 720 };
const BYTES_MOST = 150 * 1024;

const missing = reasonToSkip();
if (missing) throw new Error(missing);
const browser = await launch();

/**
 * @param {string} path of a page of the book
 * @param {string} file
 * @param {{width: number, height: number}} viewport
 * @param {(page: import("playwright-core").Page) => Promise<unknown>} prepare
 */
async function picture(path, file, viewport, prepare) {
  const context = await browser.newContext({ viewport, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(new URL(path + new URL(process.env.WORKSHOP_URL).hash, ROOT).href);
  await prepare(page);
  await page.evaluate(() => document.fonts.ready);
  const target = fileURLToPath(new URL(file, import.meta.url));
  await page.screenshot({ path: target });
  await context.close();
  const bytes = statSync(target).size;
  console.log(`${target}  ${(bytes / 1024).toFixed(0)} KB`);
  if (bytes > BYTES_MOST) throw new Error(`${file} is larger than ${BYTES_MOST / 1024} KB`);
}

/** A figure as the book has it for readers without JavaScript: its first frame. */
function frameOf(name) {
  const svg = readFileSync(new URL(`../src/figures/${name}.svg`, import.meta.url), "utf8");
  return /<svg class="fig-picture"[^]*?<\/svg>/.exec(svg)[0];
}

await picture("introduction.html", "../src/images/preview.png", PREVIEW, async (page) => {
  await page.evaluate((svg) => {
    const title = document.querySelector(".menu-title").textContent.trim();
    const description = document.querySelector('meta[name="description"]').content;
    const box = document.createElement("div");
    const text = document.createElement("div");
    text.append(Object.assign(document.createElement("h1"), { textContent: title }));
    text.append(Object.assign(document.createElement("p"), { textContent: description }));
    const figure = document.createElement("figure");
    figure.className = "fig fig-still";
    figure.innerHTML = svg;
    box.append(text, figure);
    document.body.replaceChildren(box);
    document.documentElement.style.fontSize = "100%";
    box.style = "position:fixed; inset:0; display:grid; grid-template-columns:340px 1fr; align-items:center; gap:44px; padding:0 56px; background:#fff";
    text.style = "font-family:'Source Serif 4',serif; color:#222";
    text.children[0].style = "font:650 60px/1.08 'Source Serif 4',serif; margin:0 0 24px; color:inherit";
    text.children[1].style = "font:26px/1.35 'Source Sans 3',sans-serif; margin:0";
    figure.style = "margin:0; max-width:none";
    Object.assign(figure.firstElementChild.style, { width: "704px", height: "auto", maxWidth: "none" });
  }, frameOf("fig-spawn-heart"));
});

await picture("one-future/block-on-exercise.html", "../docs/page.png", PAGE, async (page) => {
  await page.getByRole("button", { name: "Check" }).first().waitFor();
  // What goes on once, when the workshop is started first.
  await page.locator(".ws-progress").waitFor({ state: "detached", timeout: 300_000 });
});
await browser.close();
