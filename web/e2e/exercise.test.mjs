import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ROOT, assertAccessible, launch, onPage, pageWith, reasonToSkip } from "./browser.mjs";

const CHECK_LIMIT_MS = 120_000;

describe("the panel of exercise 1", { skip: reasonToSkip() }, () => {
  let browser;
  let path;
  before(async () => {
    browser = await launch();
    path = await pageWith('.exercise[data-exercise="1"]');
  });
  after(() => browser.close());

  for (const theme of ["light", "navy"]) {
    test(`shows the stub red, one line a test, the first failure open with its whole message (${theme})`, async () => {
      await onPage(path, async (page) => {
        const panel = page.locator('.exercise[data-exercise="1"]');
        await panel.getByRole("button", { name: "Check" }).click();
        await panel.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden", timeout: CHECK_LIMIT_MS });
        assert.match(await panel.getByRole("status").innerText(), /\d+ of \d+ fail/);

        const failed = panel.locator(".tests > .failed");
        assert((await failed.count()) >= 3, "the stub breaks more than two promises");
        assert.deepEqual(await panel.locator(".tests > .running").count(), 0);
        assert.equal(await panel.locator("details[open]").count(), 1);
        const message = await failed.first().locator(".test-message").innerText();
        for (const part of ["clause", "promised", "seen", "usually", "read"]) assert.match(message, new RegExp(part));

        const link = failed.first().locator(".test-message a").first();
        const target = new URL(await link.getAttribute("href"), page.url());
        assert.equal(target.origin, ROOT.origin);
        assert.equal((await page.request.get(target.href)).status(), 200);
        await assertAccessible(page);
      }, { theme });
    });
  }

  test("has its command to copy, runner or not", async () => {
    await onPage(path, async (page) => {
      const panel = page.locator('.exercise[data-exercise="1"]');
      await panel.getByRole("button", { name: /Copy/ }).click();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "cargo test -p exercise-1");
      assert.equal(await panel.getByRole("button", { name: "Check" }).count(), 0);
    }, { token: false, permissions: ["clipboard-read", "clipboard-write"] });
  });

  test("says in words what is not a red test", async () => {
    const cases = [
      [{ reason: "compile-error", code: 101 }, /does not compile yet/],
      [{ reason: "timeout" }, /time-out/],
      [{ reason: "killed", message: "it used too much memory" }, /too much memory/],
      [{ reason: "exited", code: 0 }, /All 1 pass/],
    ];
    for (const [exit, words] of cases) {
      const passed = { type: "test", name: "tests::one", clause: 1, outcome: "passed", message: null };
      const body = [passed, { type: "exit", ...exit }].map((event) => `${JSON.stringify(event)}\n`).join("");
      const prepare = (page) => page.route("**/api/exercises/1/check", (route) => route.fulfill({ body, contentType: "application/x-ndjson" }));
      await onPage(path, async (page) => {
        const panel = page.locator('.exercise[data-exercise="1"]');
        await panel.getByRole("button", { name: "Check" }).click();
        await panel.getByRole("status").filter({ hasText: words }).waitFor();
      }, { prepare });
    }
  });
});
