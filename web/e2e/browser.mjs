// What the browser tests share: Chromium, the pages of the book, and a watch
// on what no page may do.

import { existsSync } from "node:fs";
import assert from "node:assert/strict";
import axe from "axe-core";
import { chromium } from "playwright-core";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const LAUNCH = process.env.WORKSHOP_URL;

/** A sentence if the tests can't run here; in CI that is a failure instead. */
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

// Markdown can't write the empty corner of a table as anything but a header.
const EMPTY_CORNER = /^empty-table-header .*th:nth-child\(1\)$/;

/** @type {import("playwright-core").Browser | undefined} */
let browser;

/** How many pages are looked at at a time, where it is many: most of it is waiting. */
const VISITORS = 3;

/** @param {string[]} args that Chromium is to have besides */
export async function launch(...args) {
  // Chromium refuses its sandbox to root.
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  browser = await chromium.launch({ executablePath: CHROMIUM, args });
  return browser;
}

/**
 * Opens a page of the book, with the token unless `token: false`, gives it to
 * `visit`, and fails if the page did anything it must not: an error in the
 * console, an exception, a request to another host.
 *
 * @param {string} path
 * @param {(page: import("playwright-core").Page, path: string) => Promise<void>} visit
 * @param {import("playwright-core").BrowserContextOptions & {token?: boolean, runner?: boolean, theme?: string, errors?: RegExp,
 *     prepare?: (page: import("playwright-core").Page) => Promise<void>}} [settings]
 *     `runner`: whether the page finds one, and so keeps its token;
 *     `errors`: console errors that this visit provokes
 */
export function onPage(path, visit, settings) {
  return onPages([path], visit, settings);
}

/**
 * Does so with several pages, some at a time. Each visitor goes from page to page
 * in one tab, as a reader does: a new one for each would cost a process each.
 *
 * @param {string[]} paths
 * @param {(page: import("playwright-core").Page, path: string) => Promise<void>} visit
 * @param {Parameters<typeof onPage>[2]} [settings]
 */
export async function onPages(paths, visit, { token = true, runner = true, theme, errors, prepare, ...context } = {}) {
  const fragment = token ? new URL(LAUNCH ?? ROOT).hash : "";
  await together(paths, { viewport: { width: 1280, height: 900 }, ...context }, async (opened, path) => {
    const faults = [];
    // Of the context: a page may open another one.
    const watch = {
      request: (request) => new URL(request.url()).origin === ROOT.origin || faults.push(`request to ${request.url()}`),
      console: (message) => message.type() !== "error" || errors?.test(message.text()) || faults.push(`console: ${message.text()}`),
      weberror: (error) => faults.push(`exception: ${error.error().stack}`),
    };
    for (const [event, listener] of Object.entries(watch)) opened.on(event, listener);
    let [page] = opened.pages();
    if (!page) {
      page = await opened.newPage();
      if (theme) await page.addInitScript((name) => localStorage.setItem("mdbook-theme", name), theme);
      await prepare?.(page);
    }
    // The page with all chapters takes its time while other programs compile.
    await page.goto(new URL(path + fragment, ROOT).href, { timeout: 120_000 });
    // The page asks the workshop before it keeps the token.
    if (fragment && runner) await page.waitForFunction(() => localStorage.getItem("workshop-token") !== null);
    await visit(page, path);
    assert.deepEqual(faults, [], path);
    for (const [event, listener] of Object.entries(watch)) opened.off(event, listener);
  });
}

/**
 * Visits several pages, some at a time, each visitor with a context of its own.
 *
 * @param {string[]} paths
 * @param {import("playwright-core").BrowserContextOptions} settings
 * @param {(context: import("playwright-core").BrowserContext, path: string) => Promise<void>} visit
 */
export async function together(paths, settings, visit) {
  assert(browser, "launch() comes first");
  const left = [...paths];
  const visitor = async () => {
    const context = await browser.newContext(settings);
    try {
      for (let path = left.shift(); path !== undefined; path = left.shift()) await visit(context, path);
    } finally {
      left.length = 0;
      await context.close();
    }
  };
  await Promise.all(paths.slice(0, VISITORS).map(visitor));
}

/** The first page of the book that has an element for each selector. */
export async function pageWith(...selectors) {
  return (await find(selectors, 1))[0];
}

/** All of them, in the order of the book. */
export function pagesWith(...selectors) {
  return find(selectors, Infinity);
}

/**
 * @param {string[]} selectors
 * @param {number} most
 */
async function find(selectors, most) {
  let found = [];
  await onPage("", async (page) => {
    const links = await page.locator("#mdbook-sidebar a[href]").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    const paths = [...new Set(links.map((link) => link.replace(/#.*/, "")).filter((link) => link !== ""))];
    found = await page.evaluate(async ([paths, selectors, most]) => {
      const found = [];
      for (const path of paths) {
        if (found.length === most) break;
        const page = new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
        if (selectors.every((selector) => page.querySelector(selector))) found.push(path);
      }
      return found;
    }, [paths, selectors, most]);
  }, { token: false });
  assert(found.length > 0, `no page has ${selectors.join(" and ")}`);
  return found;
}

/** Fails on everything that axe finds within `part`, except mdBook's own; looks by these rules only, if there are any. */
export async function assertAccessible(page, part = "html", rules = undefined) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  // What passes isn't put into words: that takes long.
  const run = ([part, rules]) => globalThis.axe.run(part, { resultTypes: ["violations"], ...(rules && { runOnly: rules }) });
  const { violations } = await page.evaluate(run, [part, rules]);
  const ours = violations.flatMap(({ id, help, nodes }) =>
    nodes
      .map(({ target, html, failureSummary }) => ({ key: `${id} ${target.join(" ")}`, help, html, failureSummary }))
      .filter(({ key }) => !UPSTREAM.has(key) && !EMPTY_CORNER.test(key)),
  );
  assert.deepEqual(ours, []);
}

/** The recorded outputs that aren't open though nothing is asked about them, or are open though something is. */
export function wronglyFolded(page) {
  return page.locator(".snippet details.recorded").evaluateAll((all) =>
    all.flatMap((details) => {
      const { name } = details.closest(".snippet").dataset;
      const isAsked = document.querySelector(`.predict[data-snippet="${name}"]:not([data-said])`) !== null;
      return details.open === isAsked ? [name] : [];
    }),
  );
}
