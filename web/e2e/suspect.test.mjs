// The pages on which the reader finds a bug: a line is suspected, kept, checked and compared.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, onPages, pageWith, pagesWith, reasonToSkip } from "./browser.mjs";

const CHECKED = [
  { type: "compiling" },
  { type: "test", name: "tests::a_wake_is_not_lost", clause: 3, outcome: "failed", message: "promise  A wake-up counts.\n" },
  { type: "test", name: "tests::a_ready_future_is_polled_once", clause: 1, outcome: "passed" },
  { type: "telling", first: "tests::a_wake_is_not_lost", message: "usually  The flag is cleared too late.\n", others: [] },
  { type: "exit", reason: "exited", code: 101, compile_ms: 1, run_ms: 1 },
];

describe("a bug", { skip: reasonToSkip() }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  const bug = () => pageWith('div.suspect[data-version="c03_clears_flag_after_poll"]');
  const line = (page, text) => page.locator("code.suspect").getByRole("option", { name: text });

  test("is suspected by keyboard, and the choice is kept until it is compared", async () => {
    await onPage(await bug(), async (page) => {
      const said = page.locator("div.suspect").getByRole("status").first();
      const address = page.url();
      await page.locator("code.suspect [tabindex='0']").focus();
      for (const key of ["End", "ArrowUp", "ArrowLeft", "ArrowRight", "Home", "ArrowDown", "Enter"]) await page.keyboard.press(key);
      assert.equal(page.url(), address, "no key turns the page");
      const chosen = page.locator("code.suspect [aria-selected='true']");
      const number = Number(await chosen.getAttribute("data-line"));
      assert.equal(number, 2);
      assert.equal(await chosen.evaluate((it) => it === document.activeElement), true);
      assert.match(await said.textContent(), /^You suspect line 2\./);
      await page.reload();
      await said.filter({ hasText: "You suspect line 2." }).waitFor();
      assert.equal(await page.locator("code.suspect .at-fault").count(), 0, "nothing tells the answer");
      await page.getByRole("button", { name: "Compare with the answer" }).press("Enter");
      await said.filter({ hasText: /^You said line 2\. It’s line 29, 27 lines further down\.$/ }).waitFor();
      assert.match(await page.locator("code.suspect .at-fault").getAttribute("aria-label"), /^Line 29: \*is_woken = false;: the bug$/);
      assert.equal(await page.locator("details:has(.guilty)").getAttribute("open"), "");
      assert.equal(await page.getByRole("button", { name: "Ask me again" }).evaluate((it) => it === document.activeElement), true);
      await line(page, "Line 3:").click();
      assert.match(await said.textContent(), /^You said line 2\./, "what was said stays said");
    });
  });

  test("is found with a tap on a phone, and the page says so", async () => {
    await onPage(await bug(), async (page) => {
      await line(page, "is_woken = false;").tap();
      await page.getByRole("button", { name: "Compare with the answer" }).tap();
      await page.getByText("You said line 29, and that’s where the bug is.").waitFor();
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "only the program scrolls sideways");
      await page.getByRole("button", { name: "Ask me again" }).tap();
      assert.equal(await page.locator("code.suspect .at-fault").count(), 0);
    }, { viewport: { width: 390, height: 844 }, hasTouch: true });
  });

  test("has its program checked: only what fails is shown, with the lesson", async () => {
    const asked = [];
    const prepare = (page) =>
      page.route("**/api/exercises/1/wrong", (route) => {
        asked.push(route.request().postDataJSON());
        const body = CHECKED.map((event) => `${JSON.stringify(event)}\n`).join("");
        return route.fulfill({ contentType: "application/x-ndjson", body });
      });
    await onPage(await bug(), async (page) => {
      await page.getByRole("button", { name: "Check this program" }).click();
      await page.getByText("One check of 2 caught it:").waitFor();
      assert.deepEqual(asked, [{ name: "c03_clears_flag_after_poll" }], "a name, and no code");
      await page.getByText("The flag is cleared too late.").waitFor();
      assert.equal(await page.locator("div.suspect .passed").isVisible(), false);
      assert.equal(await page.getByRole("button", { name: "Check this program" }).evaluate((it) => it === document.activeElement), true);
    }, { prepare });
  });

  test("is checked by the exercise's own checks, on this machine", async () => {
    await onPage(await bug(), async (page) => {
      page.setDefaultTimeout(300_000);
      await page.getByRole("button", { name: "Check this program" }).click();
      await page.getByText(/checks of \d+ caught it:/).waitFor();
      const failed = await page.locator("div.suspect .failed .test-name").allTextContents();
      assert.ok(failed.some((name) => /wake by the future itself is not lost/.test(name)), failed.join());
    });
  });

  test("in a program that runs is where the caret is", async () => {
    await onPage(await pageWith('div.suspect[data-snippet="futurelock-writer"]'), async (page) => {
      await page.locator(".snippet[data-name='futurelock-writer'] textarea").focus();
      await page.keyboard.press("ArrowDown");
      const choice = page.getByRole("button", { name: /^I suspect line \d+$/ });
      const number = Number(/\d+/.exec(await choice.textContent()));
      await choice.click();
      await page.getByText(`You suspect line ${number}.`).waitFor();
      await page.getByRole("button", { name: "Compare with the answer" }).click();
      await page.getByText(new RegExp(`^You said line ${number}\\. It’s line \\d+, \\d+ lines further down\\.$`)).waitFor();
    });
  });

  test("is found on each page that has one, by all", async () => {
    const paths = await pagesWith("div.suspect");
    assert.ok(paths.length >= 19, paths.join());
    for (const settings of [{}, { theme: "navy" }, { forcedColors: "active" }]) {
      await onPages(paths, async (page, path) => {
        const compare = page.getByRole("button", { name: "Compare with the answer" });
        const choice = page.locator("code.suspect [role='option'], div.suspect button").first();
        await choice.click();
        await compare.click();
        await page.locator("div.suspect").getByText(/^You said line \d+/).waitFor();
        if (await page.locator("code.suspect").count()) assert.ok(await page.locator("code.suspect .at-fault").count(), path);
        await assertAccessible(page, "main");
      }, settings);
    }
  });

  test("without a server is still found", async () => {
    await onPage(await bug(), async (page) => {
      await line(page, "is_woken = false;").click();
      assert.equal(await page.getByRole("button", { name: "Check this program" }).isVisible(), false);
      await page.getByRole("button", { name: "Compare with the answer" }).click();
      await page.getByText("You said line 29, and that’s where the bug is.").waitFor();
    }, { token: false });
  });
});
