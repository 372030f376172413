// Predictions: committed to, kept, and compared with what the program has done.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, pageWith, reasonToSkip } from "./browser.mjs";

/** Answers each run of a program with these events. */
function running(...events) {
  const body = [...events, { type: "exit", reason: "exited", code: 0, compile_ms: 1, run_ms: 1 }].map((event) => `${JSON.stringify(event)}\n`).join("");
  return (page) => page.route("**/api/run", (route) => route.fulfill({ contentType: "application/x-ndjson", body }));
}

describe("a prediction", { skip: reasonToSkip() }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  test("is a number, is kept, and is compared with what the reader's own run printed", async () => {
    const path = await pageWith('.predict[data-snippet="promise-countdown"]');
    await onPage(path, async (page) => {
      const box = page.locator('.predict[data-snippet="promise-countdown"]');
      const said = box.getByRole("status");
      assert.equal(await said.textContent(), "");
      assert.doesNotMatch(await box.innerText(), /\d/, "nothing tells the answer");
      await box.getByLabel("Your prediction").last().fill("2");
      await box.getByRole("button", { name: "Keep it" }).click();
      assert.match(await said.textContent(), /^You say 2 polls\. Run the program/);
      await page.reload();
      await said.filter({ hasText: "You say 2 polls." }).waitFor();
      await page.getByRole("group", { name: "Program promise-countdown" }).getByRole("button", { name: "Run" }).click();
      await said.filter({ hasText: "You said 2 polls; it was 7 polls." }).waitFor();
      await assertAccessible(page, ".predict[data-snippet]");
      await box.getByRole("button", { name: "Ask me again" }).click();
      assert.equal(await said.textContent(), "");
    }, { prepare: running({ type: "stdout", text: "lift-off after 7 polls\n" }) });
  });

  test("is one of some choices, and the page doesn't tell before that the program hangs", async () => {
    const path = await pageWith('.predict[data-snippet="promise-forgotten"]');
    await onPage(path, async (page) => {
      const box = page.locator('.predict[data-snippet="promise-forgotten"]');
      const program = page.getByRole("group", { name: "Program promise-forgotten" });
      const run = program.getByRole("button", { name: "Run" });
      await run.waitFor();
      assert.doesNotMatch(await program.innerText(), /meant to hang/);
      assert.equal(await box.locator(".right").count(), 0);
      const choice = box.getByRole("button", { name: "a moment" });
      await choice.click();
      assert.equal(await choice.getAttribute("aria-pressed"), "true");
      await run.click();
      await box.getByText("You said “a moment”; it was forever.").waitFor();
      assert.equal(await box.locator(".right").textContent(), "forever");
      await box.getByRole("button", { name: "a second" }).dispatchEvent("click");
      assert.match(await box.getByRole("status").textContent(), /^You said “a moment”/, "what was said stays said");
    }, { prepare: running({ type: "stdout", text: "polled\n" }) });
  });

  test("is compared at once where no program follows", async () => {
    const path = await pageWith(".predict[data-choices]:not([data-snippet])");
    await onPage(path, async (page) => {
      const box = page.locator(".predict[data-choices]:not([data-snippet])").first();
      const { answer, choices } = await box.evaluate(({ dataset }) => ({ ...dataset }));
      const wrong = choices.split("|").find((choice) => choice !== answer);
      await box.getByRole("button", { name: wrong, exact: true }).click();
      const said = await box.getByRole("status").textContent();
      assert(said.startsWith("You said ") && said.includes(wrong) && said.includes(`it was`) && said.includes(answer), said);
      assert.equal(await box.locator(".right").textContent(), answer);
    });
  });
});
