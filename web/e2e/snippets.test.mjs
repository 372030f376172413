import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, pageWith, reasonToSkip } from "./browser.mjs";

const RUNNABLE = 'code.editable[class*="snippet-"]:not(.expect-timeout):not(.tests)';
const RUN_LIMIT_MS = 90_000;

describe("a snippet", { skip: reasonToSkip() }, () => {
  let browser;
  let path;
  before(async () => {
    browser = await launch();
    path = await pageWith(RUNNABLE);
  });
  after(() => browser.close());

  test("is run, edited and run again; the edit outlives a reload, and Reset undoes it", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await run(snippet);
      await ended(snippet);

      await replace(page, snippet, 'fn main() { println!("from the {}", "reader"); eprintln!("aside"); }');
      await run(snippet);
      await saying(snippet, /Finished\. Compiled in .*, ran for/);
      assert.equal(await snippet.locator(".stdout").textContent(), "from the reader\n");
      assert.match(await snippet.locator(".stderr").textContent(), /aside/);
      await assertAccessible(page);

      await page.reload();
      assert.match(await textOf(snippet), /from the/);
      await snippet.getByRole("button", { name: "Reset" }).click();
      assert.doesNotMatch(await textOf(snippet), /from the/);
      await page.reload();
      assert.doesNotMatch(await textOf(snippet), /from the/);
    });
  });

  test("shows the compiler's words when it does not compile", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await replace(page, snippet, "fn main() { oops() }");
      await run(snippet);
      await saying(snippet, /does not compile/);
      assert.match(await snippet.locator(".output").innerText(), /error\[E0425\].*`oops`/);
      await assertAccessible(page);
    });
  });

  test("is stopped at a click, with what it had printed", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await replace(page, snippet, 'fn main() { println!("before"); loop { std::thread::park() } }');
      await run(snippet);
      await snippet.locator(".stdout").waitFor({ timeout: RUN_LIMIT_MS });
      await snippet.getByRole("button", { name: "Stop" }).click();
      await saying(snippet, /^Stopped\.$/);
      assert.equal(await snippet.locator(".stdout").textContent(), "before\n");
      assert(await snippet.getByRole("button", { name: "Run" }).evaluate((button) => button === document.activeElement));
    });
  });

  test("is ended when it floods its output", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await replace(page, snippet, 'fn main() { loop { println!("flood") } }');
      await run(snippet);
      await saying(snippet, /Too much output/);
      assert.match(await snippet.locator(".output").innerText(), /flood/);
    });
  });

  test("runs its tests as tests", async () => {
    const answer = [
      { type: "compiling" },
      { type: "test", name: "tests::it_adds", clause: null, outcome: "passed", message: null },
      { type: "test", name: "tests::it_fails", clause: null, outcome: "failed", message: "left is not right" },
      { type: "exit", reason: "exited", code: 101, compile_ms: 1, run_ms: 1, message: null },
    ];
    await withAnswer(answer, async (snippet) => {
      assert.deepEqual(await snippet.locator(".test-name").allInnerTexts(), ["it adds", "it fails"]);
      assert.match(await snippet.locator(".test-message").innerText(), /left is not right/);
    });
  });

  test("tells what it waits for", async () => {
    await withAnswer([{ type: "queued", position: 3 }], async (snippet) => {
      await saying(snippet, /closed the connection before the program ended/);
    });
    await withAnswer([], async (snippet) => saying(snippet, /busy with other programs/), 429, /429/);
    await withAnswer([], async (snippet) => saying(snippet, /open the link printed in your terminal/), 403, /403/);
  });

  test("shows output as text, whatever it holds", async () => {
    const hostile = '<img src=x onerror="alert(1)">\x1b[31m<b>red</b>\x1b[0m\n';
    const answer = [{ type: "stdout", text: hostile }, { type: "diagnostic", level: "warning", rendered: hostile, line: 1 }];
    await withAnswer(answer, async (snippet) => {
      assert.equal(await snippet.locator(".output :is(img, b)").count(), 0);
      assert.match(await snippet.locator(".stdout").textContent(), /<img src=x onerror="alert\(1\)"><b>red<\/b>/);
      assert.equal(await snippet.locator(".stdout .ansi-red").innerText(), "<b>red</b>");
    });
  });

  test("of a changed book shows its new text, and the reader's edit is one click away", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      const key = await snippet.locator("code.editable").evaluate((code) => {
        const name = [...code.classList].find((name) => name.startsWith("snippet-")).slice("snippet-".length);
        const key = `workshop-edit-${name}`;
        localStorage.setItem(key, JSON.stringify([{ hash: "of an earlier text", text: "fn main() { /* mine */ }" }]));
        return key;
      });
      await page.reload();
      assert.doesNotMatch(await textOf(snippet), /mine/);
      await snippet.getByRole("button", { name: "Show my edit" }).click();
      assert.match(await textOf(snippet), /mine/);
      await page.waitForFunction((key) => JSON.parse(localStorage.getItem(key)).length === 2, key);
    });
  });

  test("is read-only without a runner, says where code would go, and shows its recorded output", async () => {
    const noRunner = (page) => page.route("**/api/ping", (route) => route.fulfill({ status: 404 }));
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await saying(snippet, /This page is read-only here/);
      assert.equal(await page.getByRole("button", { name: "Run" }).count(), 0);
      const link = page.getByRole("link", { name: "Send to play.rust-lang.org" }).first();
      if (await link.count()) {
        const address = new URL(await link.getAttribute("href"));
        assert.equal(address.origin, "https://play.rust-lang.org");
        assert.equal(address.searchParams.get("edition"), "2024");
      }
      for (const recorded of await page.locator("details.recorded pre").all()) assert(await recorded.isVisible());
    }, { prepare: noRunner, errors: /404/ });
  });

  test("asks for the link of the terminal when the page has no token", async () => {
    await onPage(path, async (page) => {
      await saying(firstSnippet(page), /open the link printed in your terminal/);
    }, { token: false });
  });

  test("is reached, edited, run and left by the keyboard alone", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await snippet.getByRole("button", { name: "Run" }).waitFor();
      for (let presses = 0; !(await hasFocus(snippet.locator("textarea"))); presses += 1) {
        assert(presses < 200, "Tab never reached the editor");
        await page.keyboard.press("Tab");
      }
      assert(await snippet.getByText("Escape, then Tab, leaves the editor").isVisible());
      await page.keyboard.press("Control+a");
      await page.keyboard.insertText('fn main() { println!("typed") }');
      await page.keyboard.press("Control+Enter");
      await saying(snippet, /Finished/);
      assert.equal(await snippet.locator(".stdout").textContent(), "typed\n");

      await page.keyboard.press("Tab");
      assert(await hasFocus(snippet.locator("textarea")), "Tab indents while one types");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Tab");
      assert(await hasFocus(snippet.getByRole("button", { name: "Run" })), "Tab leaves after Escape");
    });
  });

  /** Runs the first snippet against an answer made up here, for what a real runner seldom says. */
  async function withAnswer(events, look, status = 200, errors) {
    const prepare = (page) =>
      page.route("**/api/run", (route) =>
        route.fulfill({ status, contentType: "application/x-ndjson", body: events.map((event) => `${JSON.stringify(event)}\n`).join("") }),
      );
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await run(snippet);
      await snippet.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
      await look(snippet);
    }, { prepare, errors });
  }
});

function firstSnippet(page) {
  return page.locator(`.snippet:has(${RUNNABLE})`).first();
}

function run(snippet) {
  return snippet.getByRole("button", { name: "Run" }).click();
}

async function ended(snippet) {
  await snippet.getByRole("button", { name: "Stop" }).waitFor({ state: "visible" }).catch(() => {});
  await snippet.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden", timeout: RUN_LIMIT_MS });
}

async function saying(snippet, words) {
  await snippet.getByRole("status").filter({ hasText: words }).waitFor({ timeout: RUN_LIMIT_MS });
}

function hasFocus(locator) {
  return locator.evaluate((element) => element === document.activeElement);
}

async function replace(page, snippet, code) {
  await snippet.locator("textarea").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(code);
}

function textOf(snippet) {
  return snippet.locator("code.editable").evaluate((code) => globalThis.ace.edit(code).getValue());
}
