// What the browser tests share: Chromium, the pages of the book, and a watch
// on what no page may do.

import { existsSync } from "node:fs";
import assert from "node:assert/strict";
import axe from "axe-core";
import { chromium } from "playwright-core";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const LAUNCH = process.env.WORKSHOP_URL;

/** A sentence if the tests cannot run here; in CI that is a failure instead. */
export function reasonToSkip() {
  const reason = !LAUNCH
    ? "set WORKSHOP_URL to the link that `cargo workshop serve --no-open` prints"
    : !existsSync(CHROMIUM) && `there is no Chromium at ${CHROMIUM}: set CHROMIUM`;
  if (reason && process.env.CI) throw new Error(reason);
  return reason;
}

/** The root of the served book. */
export const ROOT = new URL("./", (LAUNCH ?? "http://127.0.0.1/").replace(/#.*/s, ""));

// mdBook's own, on every stock page.
const UPSTREAM = new Set([
  "aria-allowed-attr #mdbook-sidebar-toggle",
  "aria-prohibited-attr #mdbook-sidebar-toggle",
  "region #mdbook-sidebar-toggle",
  "region .menu-title",
  "region .right-buttons",
  "region .left-buttons",
]);

// Markdown cannot write the empty corner of a table as anything but a header.
const EMPTY_CORNER = /^empty-table-header .*th:nth-child\(1\)$/;

/** @type {import("playwright-core").Browser | undefined} */
let browser;

export async function launch() {
  // Chromium refuses its sandbox to root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  browser = await chromium.launch({ executablePath: CHROMIUM, args });
  return browser;
}

/**
 * Opens a page of the book, with the token unless `token: false`, gives it to
 * `visit`, and fails if the page did anything it must not: an error in the
 * console, an exception, a request to another host.
 *
 * @param {string} path
 * @param {(page: import("playwright-core").Page) => Promise<void>} visit
 * @param {import("playwright-core").BrowserContextOptions & {token?: boolean, theme?: string, errors?: RegExp,
 *     prepare?: (page: import("playwright-core").Page) => Promise<void>}} [settings]
 *     `errors`: console errors that this visit provokes
 */
export async function onPage(path, visit, { token = true, theme, errors, prepare, ...context } = {}) {
  assert(browser, "launch() comes first");
  const opened = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...context });
  try {
    const faults = [];
    opened.on("request", (request) => {
      if (new URL(request.url()).origin !== ROOT.origin) faults.push(`request to ${request.url()}`);
    });
    opened.on("console", (message) => {
      if (message.type() === "error" && !errors?.test(message.text())) faults.push(`console: ${message.text()}`);
    });
    opened.on("weberror", (error) => faults.push(`exception: ${error.error().stack}`));
    const page = await opened.newPage();
    if (theme) await page.addInitScript((name) => localStorage.setItem("mdbook-theme", name), theme);
    await prepare?.(page);
    const fragment = token ? new URL(LAUNCH ?? ROOT).hash : "";
    await page.goto(new URL(path + fragment, ROOT).href);
    await visit(page);
    assert.deepEqual(faults, []);
  } finally {
    await opened.close();
  }
}

/**
 * Visits several pages at a time: most of it is waiting for the page.
 *
 * @param {string[]} paths
 * @param {(path: string) => Promise<void>} visit
 */
export async function together(paths, visit) {
  const left = [...paths];
  const visitor = async () => {
    for (let path = left.shift(); path !== undefined; path = left.shift()) await visit(path);
  };
  await Promise.all([visitor(), visitor(), visitor()]);
}

/** The first page of the book that has an element for each selector. */
export async function pageWith(...selectors) {
  return (await pagesWith(...selectors))[0];
}

/** All of them, in the order of the book. */
export async function pagesWith(...selectors) {
  let found = [];
  await onPage("", async (page) => {
    const links = await page.locator("#mdbook-sidebar a[href]").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    const paths = [...new Set(links.map((link) => link.replace(/#.*/, "")).filter((link) => link !== ""))];
    found = await page.evaluate(async ([paths, selectors]) => {
      const parse = async (path) => new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
      const pages = await Promise.all(paths.map(parse));
      return paths.filter((_, index) => selectors.every((selector) => pages[index].querySelector(selector)));
    }, [paths, selectors]);
  }, { token: false });
  assert(found.length > 0, `no page has ${selectors.join(" and ")}`);
  return found;
}

/** Fails on whatever axe finds within `part`, except mdBook's own; looks by these rules only, if there are any. */
export async function assertAccessible(page, part = "html", rules = undefined) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  const run = ([part, rules]) => globalThis.axe.run(part, rules && { runOnly: rules });
  const { violations } = await page.evaluate(run, [part, rules]);
  const ours = violations.flatMap(({ id, help, nodes }) =>
    nodes
      .map(({ target, html, failureSummary }) => ({ key: `${id} ${target.join(" ")}`, help, html, failureSummary }))
      .filter(({ key }) => !UPSTREAM.has(key) && !EMPTY_CORNER.test(key)),
  );
  assert.deepEqual(ours, []);
}
