// Steps: the reader is the scheduler.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, pageWith, reasonToSkip } from "./browser.mjs";
import { FIGURES, GAP, RECORDED, figure, onFigures, openText } from "./figures.mjs";

describe("steps", { skip: reasonToSkip() }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  test("show at first the order that hangs", async () => {
    await onFigures(FIGURES.gap, async (page) => {
      assert.equal(await blocks(page), 4);
      assert.match(await why(page), /^Step 4, sleeper: woken\.wait\(\); .*a hang\. Every order was tried, through 12 states: 1 of the 5 orders hangs\.$/);
      assert.match(await page.locator("svg.steps").getAttribute("aria-label"), /is lost\. Sleeper sleeps in wait/);
      assert.equal(await page.locator(".cell.changed .value").textContent(), "sleeper");
    });
  });

  test("are a scheduler by the keyboard alone, and keep their keys from the book", async () => {
    await onFigures(FIGURES.gap, async (page) => {
      const address = page.url();
      for (let presses = 0; !(await hasFocus(page.locator(".steps-scrubber"))); presses += 1) {
        assert(presses < 200, "Tab never reached the scrubber");
        await page.keyboard.press("Tab");
      }
      await page.keyboard.press("r");
      assert.equal(await blocks(page), 0);
      assert.match(await why(page), /^Every order was tried/);
      assert(await hasFocus(page.getByRole("button", { name: "Step sleeper" })));
      await page.keyboard.press("1");
      assert.match(await why(page), /^Step 1, sleeper: .*A hang is still reachable from here: 1 of 3 orders from here hangs\.$/);
      await page.keyboard.press("1");
      assert.match(await why(page), /A hang is no longer reachable from here\.$/);
      await page.keyboard.press("1");
      assert.equal(await why(page), "sleeper sleeps in wait.", "a thread that waits says why");
      await page.keyboard.press("u");
      assert.match(await why(page), /^Undone\. .*still reachable/);
      for (const key of ["2", "2", "1"]) await page.keyboard.press(key);
      assert.match(await why(page), /a hang\. Every order was tried/);
      await page.keyboard.press(",");
      assert.equal(await position(page), "3 of 4");
      await page.keyboard.press("Home");
      assert.equal(await position(page), "0 of 4");
      assert.equal(await page.locator(".step.ahead").count(), 4, "what is ahead stays in sight");
      await page.keyboard.press("2");
      assert.match(await why(page), /^You changed the order here; 4 later steps were dropped\./);
      assert.equal(await blocks(page), 1);
      for (const key of ["1", "2"]) await page.keyboard.press(key);
      assert.match(await why(page), /Every thread has ended\. This order doesn't hang; up to the start a hang was still reachable\.$/);
      await page.keyboard.press("Shift+?");
      assert(await page.locator(".fig-keys").isVisible());
      assert.equal(page.url(), address, "no key turned the page");
    });
  });

  test("play an order that hangs, by jumps, from where the reader is", async () => {
    await onFigures(FIGURES.gap, async (page) => {
      await page.getByRole("button", { name: "Start over" }).click();
      await page.getByRole("button", { name: "Step sleeper" }).click();
      await page.getByRole("button", { name: "Find the losing order" }).click();
      assert.equal(await position(page), "1 of 4");
      await page.locator(".fig-why", { hasText: "a hang. Every order was tried" }).waitFor();
      assert.equal(await position(page), "4 of 4");
      await page.getByRole("button", { name: "Start over" }).click();
      for (const name of ["Step waker", "Step waker", "Step sleeper"]) await page.getByRole("button", { name }).click();
      await page.getByRole("button", { name: "Back to the last chance" }).click();
      assert.equal(await position(page), "0 of 3");
      assert.equal(await page.getByRole("button", { name: "Step waker" }).getAttribute("aria-disabled"), "false");
    });
  });

  test("have a link to an order, as far as it can happen", async () => {
    for (const [order, at, said, many] of [["1122", "4", /4 of 4/, 4], ["1112", "9", /2 of 2/, 2], ["9x<", "-1", /0 of 0/, 0], ["1", "1", /1 of 1/, 1]]) {
      await onFigures(FIGURES.gap, async (page) => {
        assert.match(await position(page), said);
        assert.equal(await blocks(page), many);
        await page.evaluate(() => document.querySelector(".fig-menu").setAttribute("open", ""));
        await page.getByRole("button", { name: "Copy a link" }).click();
        const { hash } = new URL(page.url());
        assert(hash.startsWith("#fig-gap?s=at:"), hash);
      }, { fragment: `#fig-gap?s=at:${at},order:${encodeURIComponent(order)}`, permissions: ["clipboard-write"] });
    }
  });

  test("show a recorded order, forward and backward, with what a load missed", async () => {
    await onFigures(FIGURES.recorded, async (page) => {
      assert.equal(await page.getByRole("button", { name: /^(Step|Find|Undo|Start over)/ }).count(), 0);
      assert.equal(await blocks(page), 8);
      await page.locator(".steps-scrubber").focus();
      await page.keyboard.press("Home");
      for (let step = 0; step < 5; step += 1) await page.keyboard.press("ArrowRight");
      assert.match(await why(page), /^Step 5, unparking: state\.load = EMPTY Relaxed; reads an OLD value: the newest is PARKED/);
      assert.equal(await page.locator(".cell .value").first().textContent(), "PARKED");
      await openText(page);
      await page.getByRole("button", { name: "2", exact: true }).click();
      assert.equal(await position(page), "2 of 8");
      await assertAccessible(page, "main");
    });
  });

  test("draw a word with its set bits lit, in the picture and in words", async () => {
    const life = readFileSync(new URL("../../src/traces/steps-task-life.json", import.meta.url), "utf8").trim();
    await onFigures(figure("fig-life", "ws-steps", {}, { life }), async (page) => {
      const bits = async () => (await page.locator(".bit").evaluateAll((all) => all.map((bit) => [...bit.querySelectorAll("text")].map((text) => text.textContent).join(" ")))).map(spaced);
      assert.deepEqual(await bits(), ["RUNNING 0", "NOTIFIED 0", "COMPLETE 1", "REFERENCE 1"]);
      await page.getByRole("button", { name: "Start over" }).click();
      for (const name of ["worker", "worker", "worker", "waker", "waker"]) await page.getByRole("button", { name: `Step ${name}` }).click();
      assert.deepEqual(await bits(), ["RUNNING 1", "NOTIFIED 0 → 1", "COMPLETE 0", "REFERENCE 2"]);
      assert.match(await why(page), /leaves a notification; state: \+NOTIFIED\./);
      const fills = await page.locator(".bit rect").evaluateAll((all) => all.map((rect) => getComputedStyle(rect).fill !== "none"));
      assert.deepEqual(fills, [true, true, false, false]);
      await openText(page);
      assert.match(spaced(await page.locator(".fig-text").innerText()), /After step 5: state = RUNNING 1, NOTIFIED 0 → 1, COMPLETE 0, REFERENCE 2; queue = –; bytes = 1; block = in use\./);
      await assertAccessible(page, "main");
    });
  });

  test("take an order from a file and from a run, and tell in a sentence what is none", async () => {
    await onFigures(FIGURES.gap, async (page) => {
      const load = (text) => page.locator("input[type=file]").setInputFiles({ name: "order.json", mimeType: "application/json", buffer: Buffer.from(text) });
      const alert = page.locator(".ws-figure").getByRole("alert");
      for (const [text, told] of [["x", /not JSON/], ['{"schema":"workshop.trace/1"}', /no workshop\.steps\/1/], ['{"schema":"workshop.steps/2"}', /newer format/], [RECORDED.replace('"thread":1', '"thread":7'), /unknown thread/], [GAP.replace('"is_woken":true', '"is_slept":true'), /is_slept, which isn't there/]]) {
        await load(text);
        await alert.filter({ hasText: told }).waitFor();
        assert.equal(await blocks(page), 4, "a bad file takes nothing away");
      }
      await load(RECORDED);
      await page.locator(".steps .number", { hasText: "8" }).waitFor();
      assert.equal(await alert.count(), 0);
      await page.evaluate((document_) => document.dispatchEvent(new CustomEvent("workshop-figure", { detail: { snippet: "any", name: "gap", document: document_ } })), JSON.parse(GAP));
      assert.equal(await blocks(page), 4);
    });
  });

  test("are read without JavaScript, and on paper, with the order and what it says", async () => {
    const path = await pageWith("ws-steps svg");
    await onPage(path, async (page) => {
      const still = page.locator("ws-steps .fig-still").first();
      assert(await still.isVisible());
      assert.match(await still.textContent(), /After \d+ steps: /);
    }, { javaScriptEnabled: false, token: false });
    await onFigures(FIGURES.gap, async (page) => {
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      assert.equal(await page.locator(".ws-figure :is(.ws-button, input):visible").count(), 0);
      assert(await page.locator(".steps-table").isVisible());
      assert(await page.locator("svg.steps").isVisible());
      await page.emulateMedia({ media: null });
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      assert(await page.getByRole("button", { name: "Start over" }).isVisible());
    });
  });

  test("come with a script that a page without a figure doesn't ask for", async () => {
    const asked = [];
    const prepare = (page) => page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await onFigures("<p>No figure.</p>", async () => {}, { prepare });
    assert(asked.some((path) => path.includes("workshop")) && !asked.some((path) => path.endsWith("/scripts/figures.js")));
    await onFigures(FIGURES.gap, async () => {}, { prepare });
    assert.equal(asked.filter((path) => path.endsWith("/scripts/figures.js")).length, 1);
  });
});

function blocks(page) {
  return page.locator("svg.steps .number").count();
}

async function why(page) {
  return spaced(await page.locator(".fig-why").innerText()).trim();
}

function spaced(text) {
  return text.replaceAll("\u00a0", " ");
}

function position(page) {
  return page.locator(".fig-transport .fig-told").innerText();
}

function hasFocus(locator) {
  return locator.evaluate((element) => element === document.activeElement);
}
