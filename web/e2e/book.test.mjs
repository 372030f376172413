import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, onPages, pageWith, pagesWith, reasonToSkip } from "./browser.mjs";

const SNIPPET = 'code.editable[class*="snippet-"]';
const EXERCISE = '.exercise[data-exercise="1"]';

describe("the book", { skip: reasonToSkip() }, () => {
  let browser;
  let paths;
  before(async () => {
    browser = await launch();
    paths = [...new Set([await pageWith("h1"), await pageWith(SNIPPET), await pageWith(EXERCISE)])];
  });
  after(() => browser.close());

  // The other two are looked at on all pages, below.
  for (const theme of ["rust", "coal", "ayu"]) {
    test(`is accessible in the theme ${theme}`, async () => {
      await onPages(paths, settledAndAccessible, { theme });
    });
  }

  test("is accessible on all of its pages, light and dark", async () => {
    const all = await pagesWith("main");
    assert(all.length >= 40, `only ${all.length} pages`);
    await onPages(all, async (page) => {
      await settledAndAccessible(page);
      // Of all that axe looks at only colors depend on the theme; the frame of all pages is the same.
      await page.evaluate(() => document.documentElement.classList.replace("light", "navy"));
      await assertAccessible(page, "main", ["color-contrast"]);
    });
  });

  test("is accessible at 360 pixels, and nothing but code scrolls sideways", async () => {
    const viewport = { width: 360, height: 740 };
    await onPages(paths, async (page) => {
      await settledAndAccessible(page);
      assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth), viewport.width);
      assert.equal(await page.locator(".content").evaluate((content) => content.scrollWidth - content.clientWidth), 0);
    }, { viewport });
  });

  test("is accessible with reduced motion and forced colors", async () => {
    await onPages(paths, settledAndAccessible, { reducedMotion: "reduce", forcedColors: "active" });
  });

  test("has targets of at least 44 by 36 pixels", async () => {
    await onPages(paths, async (page) => {
      await settled(page);
      for (const target of await page.locator("main :is(button.ws-button, .ws-check, .ws-link):visible").all()) {
        const { width, height } = await target.boundingBox();
        assert(width >= 44 && height >= 36, `${await target.innerText()}: ${width} × ${height}`);
      }
    });
  });

  test("reads without JavaScript", async () => {
    // The server forbids framing, and mdBook's contents without JavaScript are a frame.
    const settings = { javaScriptEnabled: false, token: false };
    await onPage(await pageWith(SNIPPET), async (page) => {
      const code = page.locator(SNIPPET).first();
      assert(await code.isVisible());
      assert.match(await code.innerText(), /fn main|#\[test\]/);
      for (const recorded of await page.locator("pre:has(> code.recorded)").all()) assert(await recorded.isVisible());
    }, settings);
    await onPage(await pageWith(EXERCISE), async (page) => {
      const shown = await page.locator(EXERCISE).evaluate((panel) => getComputedStyle(panel, "::before").content + panel.textContent);
      assert.match(shown, /cargo test -p exercise-/);
    }, settings);
  });

  test("prints its programs whole and without controls", async () => {
    await onPage(await pageWith(SNIPPET), async (page) => {
      await settled(page);
      const program = await page.locator(SNIPPET).first().evaluate((code) => globalThis.ace.edit(code).getValue());
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      assert.equal(await page.locator("pre.ws-print-only code").first().innerText(), program);
      // A row of a figure's table is a button, too, and prints as its text.
      assert.equal(await page.locator("main button:visible:not(.fig-row)").count(), 0);
      assert.equal(await page.locator(".ace_editor:visible").count(), 0);
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      assert.equal(await page.locator("pre.ws-print-only").count(), 0);
    });
  });

  test("prints all chapters from one page that has no controls", async () => {
    const prepare = (page) => page.addInitScript(() => (globalThis.print = () => {}));
    await onPage("print.html", async (page) => {
      assert((await page.locator(SNIPPET.replace("code.editable", "code")).count()) === 0, "every editor is a plain block");
      assert.match(await page.locator("main pre > code.language-rust").first().innerText(), /\w/);
      assert.equal(await page.locator("main :is(.snippet-bar, .ace_editor, .ws-button)").count(), 0);
    }, { prepare });
  });

  test("stays at its place when it is rebuilt, and says when it cannot be", async () => {
    const path = await pageWith(SNIPPET);
    let streams = 0;
    const prepare = async (page) => {
      // The rebuilt page has grown at its top.
      await page.route(`**/${path}`, async (route) => {
        const answer = await route.fetch();
        const body = await answer.text();
        await route.fulfill({ response: answer, body: streams < 2 ? body : body.replace("<main>", '<main><p style="height: 400px">new</p>') });
      });
      await page.route("**/api/events", async (route) => {
        streams += 1;
        const events = streams === 1
          ? [{ type: "building", done: 3, total: 40 }, { type: "book-error", message: "<b>broken</b>" }]
          : streams === 2 ? [{ type: "book-error", message: null }, { type: "building", done: 40, total: 40 }, { type: "reload" }] : [];
        await route.fulfill({ body: events.map((event) => `${JSON.stringify(event)}\n`).join(""), contentType: "application/x-ndjson" });
      });
    };
    await onPage(path, async (page) => {
      await page.getByRole("alert").filter({ hasText: "<b>broken</b>" }).waitFor();
      assert.match(await page.locator(".ws-progress").innerText(), /3 of 40/);
      await page.getByRole("button", { name: "Dismiss" }).click();
      await settled(page);
      await page.evaluate(() => scrollTo(0, 900));
      // The place is kept by the heading above it; what stands further up may change its height as it loads.
      const id = await page.evaluate(() => {
        const headings = [...document.querySelectorAll("main :is(h1, h2, h3)[id]")];
        return headings.findLast((heading) => heading.getBoundingClientRect().top <= 0).id;
      });
      const seen = (page) => page.evaluate((id) => document.getElementById(id).getBoundingClientRect().top, id);
      const before = await seen(page);
      await page.waitForNavigation();
      await page.waitForTimeout(1500);
      assert.equal(await page.getByText("new", { exact: true }).count(), 1);
      assert(Math.abs((await seen(page)) - before) < 2, `the heading was at ${before}, and is at ${await seen(page)}`);
      assert.equal(await page.getByRole("alert").count(), 0);
    }, { prepare });
  });
});

/** Waits until the page knows whether there is a runner. */
async function settled(page) {
  if ((await page.locator(".exercise").count()) && (await page.evaluate(() => localStorage.getItem("workshop-token")))) {
    await page.locator(".work .ace_editor").first().waitFor();
  }
  if (await page.locator(".snippet").count()) {
    await page.locator('.snippet .snippet-status').first().waitFor({ state: "attached" });
  }
}

async function settledAndAccessible(page) {
  await settled(page);
  await assertAccessible(page);
}
