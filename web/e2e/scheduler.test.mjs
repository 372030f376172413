// A scheduler that the reader takes apart.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, pageWith, reasonToSkip } from "./browser.mjs";
import { FIGURES, onFigures, openText } from "./figures.mjs";

describe("a scheduler", { skip: reasonToSkip() }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  test("shows at first what a part does to a load", async () => {
    await onFigures(FIGURES.scheduler, async (page) => {
      assert.match(await why(page), /^Without the LIFO slot: .*the longest wait is 16\.0 µs instead of 40\.0 µs/);
      assert.deepEqual(await page.locator("svg.scheduler .title").allTextContents(), ["Before: with all parts", "Now: without the LIFO slot"]);
      assert.match(await page.locator("svg.scheduler").getAttribute("aria-label"), /longest wait/);
      assert.equal(await meter(page, "The longest wait"), "40.0 µs, task 8 | 16.0 µs, task 8");
      assert.equal(await pressed(page), "01111");
      await page.waitForTimeout(300);
      assert.equal(await position(page), "39.1 µs", "nothing moves by itself");
    });
  });

  test("is taken apart by the keyboard alone, and keeps its keys from the book", async () => {
    await onFigures(FIGURES.scheduler, async (page) => {
      const address = page.url();
      for (let presses = 0; !(await page.locator(".fig-scrubber").evaluate((element) => element === document.activeElement)); presses += 1) {
        assert(presses < 200, "Tab never reached the scrubber");
        await page.keyboard.press("Tab");
      }
      await page.keyboard.press("1");
      assert.match(await why(page), /^With all parts: .*40\.0 µs instead of 16\.0 µs/);
      await page.keyboard.press("2");
      assert.match(await why(page), /^Without stealing: .*instead of 40\.0 µs/);
      assert.equal(await pressed(page), "10111");
      await page.keyboard.press("u");
      assert.match(await why(page), /^Undone\. With all parts: /);
      for (const key of ["l", "4"]) await page.keyboard.press(key);
      assert.equal(await why(page), "Without notification, it hangs: 16 tasks are ready, and every worker is parked.");
      assert.match(await meter(page, "The last task ends"), / \| never$/);
      await page.keyboard.press("w");
      assert.match(await meter(page, "Polls of each worker"), / \| 0 \/ 0 \/ 0 \/ 0$/);
      await page.keyboard.press("r");
      assert.match(await why(page), /^Without the LIFO slot: /);
      await page.keyboard.press("Home");
      assert.equal(await position(page), "0.0 µs");
      await page.keyboard.press(".");
      assert.match(await why(page), /^0\.2 µs: worker 0: S spawns 1; worker 0 unparks worker 1\.$/);
      const told = await page.locator(".fig-scrubber").getAttribute("aria-valuetext");
      assert.equal(told, await why(page));
      await page.keyboard.press(",");
      await page.keyboard.press("ArrowRight");
      assert.equal(await position(page), "0.1 µs");
      await page.keyboard.press("p");
      assert.match(await why(page), /unparks worker 1/);
      await page.keyboard.press("n");
      assert(await page.getByRole("button", { name: /^Seed 2/ }).isVisible());
      await page.keyboard.press("End");
      await page.keyboard.press("Shift+?");
      assert(await page.locator(".fig-keys").isVisible());
      assert.equal(page.url(), address, "no key turned the page");
    });
  });

  test("is taken apart by the pointer, and undoes it all", async () => {
    await onFigures(FIGURES.scheduler, async (page) => {
      const first = await page.locator(".scheduler-meters").innerText();
      await page.getByRole("button", { name: "throttling" }).click();
      assert.equal(await pressed(page), "01011");
      await page.getByLabel("Load", { exact: true }).selectOption("busy");
      await page.getByLabel("Workers", { exact: true }).selectOption("2");
      await page.getByRole("button", { name: "interval" }).click();
      assert.match(await why(page), /^Without the LIFO slot, throttling and the interval: the /);
      const undo = page.getByRole("button", { name: "Undo" });
      for (let times = 0; times < 4; times += 1) await undo.click();
      assert.equal(await page.locator(".scheduler-meters").innerText(), first);
      assert.equal(await undo.getAttribute("aria-disabled"), "true");
      const cost = page.getByRole("slider", { name: /^What unparking a worker costs/ });
      await cost.focus();
      for (const key of ["ArrowRight", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
      assert.equal(await cost.getAttribute("aria-valuetext"), "1.8 µs");
      assert.notEqual(await page.locator(".scheduler-meters").innerText(), first);
      await undo.click();
      assert.equal(await cost.getAttribute("aria-valuetext"), "1.5 µs", "what a slider does is undone at once");
      assert.equal(await undo.getAttribute("aria-disabled"), "true");
      const box = await page.locator("svg.scheduler").boundingBox();
      await page.mouse.click(box.x + box.width * 0.6, box.y + 60);
      const at = Number.parseFloat(await position(page));
      assert(at > 5 && at < 35, `${at}`);
    });
  });

  test("plays only when asked, by jumps where motion is unwanted, and is silent meanwhile", async () => {
    await onFigures(FIGURES.scheduler, async (page) => {
      await page.locator(".fig-scrubber").focus();
      await page.keyboard.press("Home");
      await page.getByRole("button", { name: "Play" }).click();
      assert.equal(await why(page), "");
      await page.waitForFunction(() => document.querySelector(".fig-told").textContent !== "0.0 µs");
      await page.getByRole("button", { name: "Pause" }).click();
      assert.match(await why(page), /^\d+\.\d µs: /);
    }, { reducedMotion: "reduce" });
  });

  test("has a link to every choice, and takes no other", async () => {
    for (const [state, title, at] of [
      ["load:pair,workers:2,seed:7,unpark:3,wake:120,before:11111,now:01011,at:33", "Now: without the LIFO slot and throttling", "3.3 µs"],
      ["load:nothing,workers:99,seed:x,unpark:-1,wake:x,before:2,now:,at:-4", "Now: without the LIFO slot", "39.1 µs"],
      ["load:burst,workers:3,seed:1,before:11111,now:11111,at:99999", "with all parts", "17.6 µs"],
    ]) {
      await onFigures(FIGURES.scheduler, async (page) => {
        assert.equal(await page.locator("svg.scheduler .title").last().textContent(), title);
        assert.equal(await position(page), at);
        await page.evaluate(() => document.querySelector(".fig-menu").setAttribute("open", ""));
        assert.equal(await page.locator("input[type=file]").count(), 0, "there's nothing to load");
        await page.getByRole("button", { name: "Copy a link" }).click();
        assert.match(new URL(page.url()).hash, /^#fig-scheduler\?s=load:\w+,workers:\d,seed:\d+,unpark:\d+,wake:\d+,before:[01]{5},now:[01]{5},at:\d+$/);
      }, { fragment: `#fig-scheduler?s=${state}`, permissions: ["clipboard-write"] });
    }
  });

  test("is read as text, without JavaScript, and on paper", async () => {
    await onFigures(FIGURES.scheduler, async (page) => {
      await openText(page);
      assert.match(await page.locator(".fig-text").innerText(), /Worker 0 polls S, queue: empty/);
      await page.getByRole("button", { name: "5.3 µs" }).first().click();
      assert.equal(await position(page), "5.3 µs");
      await assertAccessible(page, "main");
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      assert.equal(await page.locator(".ws-figure :is(.ws-button, input, select):visible").count(), 0);
      assert(await page.locator("svg.scheduler").isVisible() && (await page.locator(".scheduler-meters").isVisible()));
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      await page.emulateMedia({ media: null });
      assert(await page.getByRole("button", { name: "Start over" }).isVisible());
    });
    await onPage(await pageWith("ws-scheduler svg"), async (page) => {
      const still = page.locator("ws-scheduler .fig-still");
      assert(await still.isVisible());
      assert.match(await still.textContent(), /Task 8 waits longest, for 40\.0 µs, in the LIFO slot/);
    }, { javaScriptEnabled: false, token: false });
  });

  test("of the book draws itself, takes the loads that the text links to, and is accessible on its page", async () => {
    await onPage(await pageWith("ws-scheduler"), async (page) => {
      assert.equal(await page.locator("ws-scheduler .fig-canvas svg.scheduler").count(), 1);
      await assertAccessible(page, "main figure");
      for (const [link, load] of [["A pair whose tasks wake each other", "pair"], ["Busy workers", "busy"]]) {
        await page.getByRole("link", { name: link }).click();
        await page.waitForFunction((load) => document.querySelector("ws-scheduler select").value === load, load);
        assert.equal(await pressed(page), "11111");
      }
      await page.getByRole("button", { name: "Undo" }).click();
      assert.equal(await page.getByLabel("Load", { exact: true }).inputValue(), "pair");
    }, { token: false });
  });
});

async function why(page) {
  return (await page.locator(".fig-why").innerText()).replaceAll("\u00a0", " ").trim();
}

function position(page) {
  return page.locator(".fig-transport .fig-told").innerText();
}

/** Which parts are there. */
async function pressed(page) {
  const states = await page.locator(".scheduler-parts button").evaluateAll((all) => all.map((button) => button.getAttribute("aria-pressed")));
  return states.map((state) => (state === "true" ? "1" : "0")).join("");
}

/** A row of the table: before and now. */
async function meter(page, name) {
  return (await page.locator(".scheduler-meters tr", { hasText: name }).locator("td").allInnerTexts()).join(" | ").replaceAll("\u00a0", " ");
}
