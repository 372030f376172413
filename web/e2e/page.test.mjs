// What a reader meets on the way: links, menus, search, the keyboard.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, onPages, pageWith, pagesWith, reasonToSkip } from "./browser.mjs";
import { FIGURES, TRACE, onFigures } from "./figures.mjs";

/** Longer than a page waits for its fonts. */
const FONTS_LATE_MS = 1000;

describe("the page", { skip: reasonToSkip() }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  test("leads past the contents at the first press of Tab", async () => {
    await onPage(await pageWith("h2"), async (page) => {
      await page.keyboard.press("Tab");
      const skip = page.getByRole("link", { name: "Skip to the text" });
      assert(await skip.evaluate((link) => link === document.activeElement && link.getBoundingClientRect().top >= 0));
      await assertAccessible(page);
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      assert(await page.evaluate(() => document.activeElement.closest("main") !== null));
    });
  });

  test("finds a term of two words where it stands, and not one of the words anywhere", async () => {
    await onPage(await pageWith("h2"), async (page) => {
      await page.keyboard.press("s");
      const bar = page.locator("#mdbook-searchbar");
      const results = page.locator("#mdbook-searchresults li");
      // A server that has just started has no index yet.
      for (let tries = 0; (await results.count()) === 0; tries += 1) {
        assert(tries < 60, "nothing is found");
        await bar.fill("");
        await bar.pressSequentially("lost wake-up");
        await results.first().waitFor({ timeout: 1000 }).catch(() => {});
      }
      assert.match(await results.first().innerText(), /lost wake-up/i);
    });
  });

  test("shows a figure below the bar when a link leads to it", async () => {
    await onPage(await pageWith("figure.fig ws-timeline"), async (page) => {
      await page.locator("ws-timeline .fig-picture").first().waitFor();
      const [top, bar] = await page.evaluate(async () => {
        const figure = document.querySelector("figure.fig");
        location.hash = `#${figure.id}?s=view:worker`;
        await new Promise((resolve) => addEventListener("hashchange", () => setTimeout(resolve, 100), { once: true }));
        // The bar comes back as soon as one scrolls up by a little.
        return [figure.getBoundingClientRect().top, document.querySelector("#mdbook-menu-bar").offsetHeight];
      });
      assert(top >= bar, `the figure begins at ${top}, and the bar ends at ${bar}`);
    }, { token: false, viewport: { width: 1280, height: 500 } });
  });

  test("breaks no name within a table, however narrow the page is", async () => {
    const paths = (await pagesWith("main td code")).slice(0, 8);
    await onPages(paths, async (page, path) => {
      const broken = await page.locator("main td code").evaluateAll((all) => all.filter((code) => !/[\s:-]/.test(code.textContent) && code.getClientRects().length > 1).map((code) => code.textContent));
      assert.deepEqual(broken, [], path);
      assert.equal(await page.locator(".content").evaluate((content) => content.scrollWidth - content.clientWidth), 0, path);
    }, { token: false, viewport: { width: 360, height: 740 } });
  });

  test("closes a figure's menu when the reader goes elsewhere", async () => {
    await onFigures(Object.values(FIGURES)[0], async (page) => {
      const menu = page.locator(".fig-menu").first();
      await menu.locator("summary").click();
      await page.mouse.click(5, 5);
      assert.equal(await menu.getAttribute("open"), null, "after a click elsewhere");
      await menu.locator("summary").click();
      await page.keyboard.press("Shift+Tab");
      assert.equal(await menu.getAttribute("open"), null, "after the focus has left");
    });
  });

  test("shows in forced colours which of two buttons is pressed", async () => {
    await onFigures(Object.values(FIGURES)[0], async (page) => {
      const buttons = page.locator(".ws-button[aria-pressed]");
      await buttons.first().waitFor();
      const colors = await buttons.evaluateAll((all) => all.map((one) => [one.getAttribute("aria-pressed"), getComputedStyle(one).backgroundColor]));
      const [pressed, others] = ["true", "false"].map((is) => colors.filter(([state]) => state === is).map(([, color]) => color));
      assert(pressed.length > 0 && others.length > 0);
      assert(pressed.every((color) => !others.includes(color)), JSON.stringify(colors));
    }, { forcedColors: "active" });
  });

  test("says on “Your trace” which trace it shows", async () => {
    await onPage("your-trace.html", async (page) => {
      assert.doesNotMatch(await page.locator("main").innerText(), /This timeline is empty/);
      await page.locator(".fig-why").filter({ hasText: "made last: Your block_on, exercise 1" }).waitFor();
    }, {
      prepare: async (page) => {
        const recorded = JSON.parse(TRACE);
        Object.assign(recorded.meta, { title: "Your `block_on`", runtime: "exercise 1" });
        await page.route("**/api/traces/latest", (route) => route.fulfill({ json: recorded }));
      },
    });
  });

  test("is drawn in its own fonts if they come a moment after it", async () => {
    const path = await pageWith("main em");
    const drawn = [];
    // On a busy machine a moment is over soon. A page that doesn't wait draws without them each time.
    for (let tries = 0; tries < 10 && !drawn.includes("own"); tries += 1) {
      await onPage(path, async (page) => {
        drawn.push(await page.evaluate(() => {
          const text = document.querySelector("main p:not([class])");
          const width = (style) => {
            const copy = Object.assign(text.cloneNode(true), { style: `position: absolute; max-width: none; white-space: nowrap; ${style}` });
            text.after(copy);
            const { width } = copy.getBoundingClientRect();
            copy.remove();
            return width;
          };
          const own = width("font-family: 'Source Serif 4', monospace");
          return own !== width("font-family: monospace") && width("") === own ? "own" : "fallback";
        }));
      }, {
        token: false,
        prepare: (page) => page.route("**/*.woff2", (route) => setTimeout(() => void route.continue().catch(() => {}), 150)),
      });
    }
    assert(drawn.includes("own"), drawn.join());
  });

  // The fonts come late, as they do over a slow connection: what takes their place stays.
  for (const viewport of [{ width: 2000, height: 1100 }, { width: 1440, height: 900 }, { width: 390, height: 900 }]) {
    test(`moves nothing that is in view while it loads, at ${viewport.width} pixels`, async () => {
      const seen = [];
      await onPages(await pagesWith("main"), async (page, path) => {
        await page.locator(".ws-segments").waitFor({ state: "attached" });
        await page.waitForFunction(() => document.readyState === "complete" && !document.querySelector("main .exercise:not(.live), main .snippet-bar:empty"));
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(resolve)))));
        const [sum, largest] = await page.evaluate(() => window.shifted());
        seen.push(path);
        assert(sum <= 0.02, `${path} moves by ${sum.toFixed(3)}, and most of all ${largest}`);
      }, {
        viewport,
        prepare: async (page) => {
          // With a route there is no cache: each page is the first of its reader.
          await page.route("**/*.woff2", (route) => setTimeout(() => void route.continue().catch(() => {}), FONTS_LATE_MS));
          await page.addInitScript(watchShifts);
        },
      });
      assert(seen.some((path) => /exercise/.test(path)) && seen.some((path) => /bug/.test(path)), "the pages of exercises and bugs were seen");
    });
  }
});

/** Runs in the page. */
function watchShifts() {
  const entries = [];
  const watch = new PerformanceObserver((list) => entries.push(...list.getEntries()));
  watch.observe({ type: "layout-shift", buffered: true });
  window.shifted = () => {
    entries.push(...watch.takeRecords());
    const own = entries.filter(({ hadRecentInput }) => !hadRecentInput);
    const [largest] = own.toSorted((a, b) => b.value - a.value);
    const names = largest?.sources.map(({ node }) => node?.className || node?.textContent?.trim().slice(0, 30) || node?.nodeName);
    return [own.reduce((sum, { value }) => sum + value, 0), names?.join(", ")];
  };
}
