// Which outcomes the orderings of a program allow.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, pageWith, reasonToSkip } from "./browser.mjs";
import { FIGURES, onFigures, openText } from "./figures.mjs";

describe("memory orderings", { skip: reasonToSkip() }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  test("show at first what can happen, and how", async () => {
    await onFigures(FIGURES.litmus, async (page) => {
      assert.equal(await why(page), "Message passing, Relaxed. Can it happen that the reader sees the flag but not the data? Yes: Rust's memory model allows it, and ARM can show it; x86-64 can't.");
      assert.equal(await page.locator("svg.litmus").getAttribute("aria-label"), await why(page));
      assert.equal(await board(page), "00 can can can | 01 can can can | 10 can can't can | 11 can can can");
      assert.deepEqual(await page.locator("svg.litmus .step").evaluateAll((all) => all.map((one) => one.textContent.trim())), ["flag = 1before data = 1", "reads flag: 1", "reads data: 0", "data = 1"]);
    });
  });

  test("are changed one by one, and a cell goes dark", async () => {
    await onFigures(FIGURES.litmus, async (page) => {
      await page.getByLabel("writer, line 2: ordering of flag").selectOption("Release");
      assert.match(await why(page), /^Message passing, as chosen\. .* Yes: /);
      await page.getByLabel("reader, line 1: ordering of flag").selectOption("Acquire");
      assert.match(await why(page), /^Message passing, Release \/ Acquire\. .* No: writer's flag\.store releases what reader's flag\.load acquires, so data\.store happens before data\.load, which can't return an older value\.$/);
      assert.equal(await board(page), "00 can can can | 01 can can can | 10 can't can't can't | 11 can can can");
      await page.getByRole("button", { name: "Undo" }).click();
      assert.match(await why(page), /^Undone\. Message passing, as chosen/);
      await page.locator("svg.litmus [data-key='0 1']").click();
      assert.match(await why(page), /reader reads flag = 0, data = 1\? Yes/);
      assert.equal(await page.getByRole("button", { name: "0 1: reader reads" }).getAttribute("aria-pressed"), "true");
      await page.getByLabel("Program").selectOption("Store buffering");
      await page.getByLabel("All orderings").selectOption("SeqCst");
      assert.match(await why(page), /^Store buffering, SeqCst\. Can it happen that each thread misses the other's write\? No: all SeqCst operations and fences have a single order/);
    });
  });

  test("are chosen by the keyboard alone, which keeps its keys from the book", async () => {
    await onFigures(FIGURES.litmus, async (page) => {
      const address = page.url();
      const chip = page.getByRole("button", { name: "1 0: reader reads" });
      for (let presses = 0; !(await chip.evaluate((element) => element === document.activeElement)); presses += 1) {
        assert(presses < 200, "Tab never reached the outcome");
        await page.keyboard.press("Tab");
      }
      await page.keyboard.press("o");
      assert.match(await why(page), /^Message passing, Release \/ Acquire/);
      await page.keyboard.press("t");
      assert.match(await why(page), /^Store buffering, Release \/ Acquire\. .* Yes: .*x86-64 and ARM can show it\.$/);
      await page.keyboard.press(".");
      assert.match(await why(page), /left reads y = 0; right reads x = 1\? Yes/);
      for (const key of [",", ",", "u"]) await page.keyboard.press(key);
      assert.match(await why(page), /^Undone\. .*each thread misses the other's write/);
      await page.keyboard.press("r");
      assert.match(await why(page), /^Message passing, Relaxed/);
      await page.keyboard.press("Shift+?");
      assert(await page.locator(".fig-keys").isVisible());
      await page.keyboard.press("ArrowRight");
      assert.equal(page.url(), address, "no key turned the page");
    });
  });

  test("ask for a prediction first, compare it, and never insist", async () => {
    await onFigures(FIGURES.asked, async (page) => {
      assert.equal(await why(page), "");
      assert.match(await page.locator("svg.litmus").getAttribute("aria-label"), /what can happen is asked$/);
      assert.doesNotMatch(await page.locator("ws-litmus svg.litmus").textContent(), /can|reads y/, "nothing gives the answer away");
      assert.equal(await page.getByText("The same as text").count(), 0);
      for (const outcome of ["left reads y = 0; right reads x = 1", "left reads y = 1; right reads x = 0", "left reads y = 1; right reads x = 1"]) await page.getByLabel(outcome).check();
      await page.getByRole("button", { name: "Check" }).click();
      assert.match(await why(page), /^You got 3 of 4 outcomes right; “left reads y = 0; right reads x = 0” can happen\. Store buffering/);
      assert(await page.locator(".litmus-outcomes button[aria-pressed='true']").evaluate((one) => one === document.activeElement), "the focus is not lost");
      await page.reload();
      assert.match(await why(page), /^You got 3 of 4/);
      await page.getByRole("button", { name: "Start over" }).click();
      await page.getByRole("button", { name: "I'll just look" }).click();
      assert.match(await why(page), /^Store buffering, Release \/ Acquire\. .* Yes/);
    });
  });

  test("have a link to every choice, and take no other", async () => {
    for (const [state, said] of [
      ["program:parked,orderings:271300,outcome:00", /^A push, and a worker that parks, as chosen\. .* Yes: .*ARM can show it; x86-64 can't/],
      ["program:unpark,orderings:seqcst", /^Two unparks, by compare-exchange, SeqCst\. .* Yes: .*ARM can show it; x86-64 can't/],
      ["program:__proto__,orderings:9,outcome:77", /^Message passing, Relaxed/],
    ]) {
      await onFigures(FIGURES.litmus, async (page) => {
        assert.match(await why(page), said);
        await page.evaluate(() => document.querySelector(".fig-menu").setAttribute("open", ""));
        await page.getByRole("button", { name: "Copy a link" }).click();
        assert.match(new URL(page.url()).hash, /^#fig-litmus\?s=program:\w+,orderings:[0-7]+,outcome:[01]+$/);
      }, { fragment: `#fig-litmus?s=${state}`, permissions: ["clipboard-write"] });
    }
  });

  test("are read as text, without JavaScript, and on paper", async () => {
    await onFigures(FIGURES.asked, async (page) => {
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      assert.equal(await page.locator(".ws-figure :is(.ws-button, input, select):visible").count(), 0);
      assert.match(await page.locator("svg.litmus").textContent(), /x\.store\(1, Release\)/, "paper has the program");
      assert(await page.locator(".fig-table").isVisible());
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      await page.emulateMedia({ media: null });
      assert(await page.getByRole("button", { name: "Check" }).isVisible());
    });
    await onFigures(FIGURES.litmus, async (page) => {
      await openText(page);
      const table = await page.getByRole("group", { name: "Where each outcome" }).innerText();
      assert.match(table, /data = 0 \(the reader sees the flag but not the data\)\s+Rust, ARM\s+Rust, ARM\s+can't happen/);
      await assertAccessible(page, "main");
    });
    await onPage(await pageWith("ws-litmus svg"), async (page) => {
      const still = page.locator("ws-litmus .fig-still");
      assert(await still.isVisible());
      assert.match(await still.textContent(), /data\.store\(1, Relaxed\)[^]*✕ can/);
    }, { javaScriptEnabled: false, token: false });
  });

  test("of the book are asked for only by their page, which links to other programs", async () => {
    const asked = [];
    const prepare = (page) => page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await onPage(await pageWith("ws-timeline"), async (page) => {
      await page.locator("ws-timeline .fig-canvas").first().waitFor();
      assert(!asked.some((path) => /(litmus|scheduler)\.js$/.test(path)));
    }, { token: false, prepare });
    await onPage(await pageWith("ws-litmus"), async (page) => {
      await page.getByRole("button", { name: "I'll just look" }).click();
      assert(asked.some((path) => path.endsWith("/scripts/litmus.js")));
      await assertAccessible(page, "main figure");
      await page.getByRole("link", { name: "bug of std" }).click();
      await page.waitForFunction(() => document.querySelector("ws-litmus select").value === "unpark");
      assert.match(await why(page), /by compare-exchange, SeqCst\. .* Yes/);
      await page.getByRole("link", { name: "swap", exact: true }).click();
      await page.waitForFunction(() => document.querySelector("ws-litmus select").value === "swap");
      assert.match(await why(page), /by swap, Release \/ Acquire\. .* No/);
    }, { token: false, prepare });
  });
});

async function why(page) {
  return (await page.locator("ws-litmus .fig-why").innerText()).replaceAll("\u00a0", " ").trim();
}

/** Each outcome, and where it can happen. */
async function board(page) {
  const rows = await page.locator("svg.litmus .outcome").evaluateAll((all) => all.map((row) => `${row.dataset.key.replaceAll(" ", "")} ${[...row.querySelectorAll(".verdict-of")].map((one) => one.textContent.replace(/[✓✕] /, "")).join(" ")}`));
  return rows.join(" | ");
}
