import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, afterEach, before, describe, test } from "node:test";
import { ROOT, assertAccessible, launch, onPage, pageWith, reasonToSkip } from "./browser.mjs";
import * as file from "./files.mjs";

const CHECK_LIMIT_MS = 120_000;
/** What the page and the file promise each other. */
const FOLLOWS_MS = 250;
// What the server takes for too short to have seen, and a little more.
const UNSEEN_MS = 150;

describe("the panel of exercise 1", { skip: reasonToSkip() }, () => {
  let browser;
  let path;
  before(async () => {
    browser = await launch();
    path = await pageWith('.exercise[data-exercise="1"]');
  });
  afterEach(() => file.restore());
  after(() => browser.close());

  for (const theme of ["light", "navy"]) {
    test(`shows the stub unwritten, one line a test, the first one open with its whole message (${theme})`, async () => {
      await onPage(path, async (page) => {
        const panel = await opened(page);
        await check(panel);
        await says(panel, /0 of \d+ pass; the others aren’t written yet/);

        const unwritten = panel.locator(".tests > .unwritten");
        assert.deepEqual(await panel.locator(".tests > .failed").count(), 0);
        assert((await unwritten.count()) >= 3, "the stub keeps at most some promises");
        assert.deepEqual(await panel.locator(".tests > :is(.waiting, .running)").count(), 0);
        assert.equal(await panel.locator(".tests > :not(.clause) details[open]").count(), 1);
        const message = await unwritten.first().locator(".test-message").innerText();
        for (const part of ["clause", "promised", "seen", "usually", "read"]) assert.match(message, new RegExp(part));

        const link = unwritten.first().locator(".test-message a").first();
        const target = new URL(await link.getAttribute("href"), page.url());
        assert.equal(target.origin, ROOT.origin);
        assert.equal((await page.request.get(target.href)).status(), 200);
        await assertAccessible(page);
      }, { theme });
    });
  }

  test("edits the file on disk, and follows it: each within a quarter of a second", async () => {
    await onPage(path, async (page) => {
      const panel = await opened(page);
      const there = [];
      const back = [];
      // The best of a few: a machine that does much else may be late at any time.
      for (let round = 0; round < 5; round += 1) {
        let start = performance.now();
        await typeAtStart(page, `// typed ${round}\n`);
        await until(() => file.read().startsWith(`// typed ${round}\n`));
        there.push(performance.now() - start);
        await panel.getByText("as on disk").waitFor();
        // An editor that saves sooner can't have seen what it saves over.
        await page.waitForTimeout(UNSEEN_MS);
        start = performance.now();
        file.write(`// saved ${round}\n${file.before}`);
        await page.waitForFunction((text) => globalThis.ace.edit(document.querySelector(".work .ace_editor")).getValue().startsWith(text), `// saved ${round}\n`, { polling: 5 });
        back.push(performance.now() - start);
      }
      console.log(`to the disk in ${there.map(Math.round)} ms, to the page in ${back.map(Math.round)} ms`);
      assert(Math.min(...there) < FOLLOWS_MS && Math.min(...back) < FOLLOWS_MS);
      assert.equal(file.kept().length, 0, "there was no conflict");
    });
  });

  test("shows a conflict, and loses neither text whichever is chosen", async () => {
    for (const [choice, result, aside] of [["Keep what stands here", "mine", "theirs"], ["Take the file's", "theirs", "mine"]]) {
      file.restore();
      // The page's word comes late: the file is saved by an editor meanwhile.
      const prepare = (page) => page.route("**/exercises/1/write", async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 400));
        await route.continue();
      });
      await onPage(path, async (page) => {
        const panel = await opened(page);
        await typeAtStart(page, "// mine\n");
        file.write(`// theirs\n${file.before}`);
        const conflict = panel.getByRole("group", { name: "Two versions of your file" });
        await conflict.waitFor();
        await conflict.getByText("How the file differs").click();
        assert.match(await conflict.locator(".removed").innerText(), /mine/);
        assert.match(await conflict.locator(".added").innerText(), /theirs/);
        await assertAccessible(page);
        assert(file.read().startsWith("// theirs"), "nothing is written before the reader decides");
        assert((await textOf(page)).startsWith("// mine"));

        await conflict.getByRole("button", { name: choice }).click();
        await panel.getByText("the other version is in").waitFor();
        assert(file.read().startsWith(`// ${result}`) && (await textOf(page)).startsWith(`// ${result}`));
        assert(file.textOfKept(file.kept().at(-1)).startsWith(`// ${aside}`));
      }, { prepare, errors: /409/ });
    }
  });

  test("keeps what was typed when it cannot be written, also through a reload", async () => {
    const prepare = (page) => page.route("**/exercises/1/write", (route) => route.abort());
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await typeAtStart(page, "// not yet\n");
      await panel.getByText("What you typed is kept here").waitFor();
      await page.reload();
      await opened(page);
      assert((await textOf(page)).startsWith("// not yet"));
      assert.equal(file.read(), file.before);
      await page.unroute("**/exercises/1/write");
      await until(() => file.read().startsWith("// not yet"));
    }, { prepare, errors: /ERR_FAILED/ });
  });

  test("says when the file is gone, and writes it again only when told to", async () => {
    const { rmSync } = await import("node:fs");
    await onPage(path, async (page) => {
      const panel = await opened(page);
      rmSync(file.FILE);
      try {
        await panel.getByText("is gone. What stands below is only on this page").waitFor();
        assert.equal(await textOf(page), file.before);
      } finally {
        await panel.getByRole("button", { name: "Write it again" }).click();
        await panel.getByText("as on disk").waitFor();
      }
      assert.equal(file.read(), file.before);
    });
  });

  test("places the compiler's words on their lines", async () => {
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await page.locator(".work textarea").focus();
      await page.keyboard.press("Control+End");
      await page.keyboard.insertText("fn broken() { oops() }");
      const line = file.before.split("\n").length;
      await check(panel);
      await says(panel, /does not compile yet/);
      assert.match(await panel.locator(".ws-mark").first().innerText(), /error\[E0425\].*`oops`/);
      await panel.getByRole("button", { name: `Go to line ${line}` }).first().click();
      assert(await panel.locator("textarea").evaluate((area) => area === document.activeElement));
      await assertAccessible(page);
    });
  });

  test("gives hints level by level: after a red check, or when the reader insists", async () => {
    // What the reader was given before this run isn't known: the server's part is tested in Rust.
    let given = 0;
    const levels = ["Concept", "Strategy", "Code"];
    const state = (earned) => ({ given: levels.slice(0, given).map((heading) => ({ heading, text: "Use `park`.\n\n1. *One.*" })), to_come: levels.slice(given), earned });
    const prepare = async (page) => {
      await page.route("**/exercises/1/read", async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ json: { ...(await answer.json()), hints: state(false) } });
      });
      await page.route("**/exercises/1/hint", (route) => {
        given += 1;
        return route.fulfill({ json: state(false) });
      });
      await page.route("**/exercises/1/check", (route) => route.fulfill(stream([failed("tests::one", 1), { type: "exit", reason: "exited", code: 101 }])));
    };
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await panel.getByText("A first hint, concept, comes with a red check.").waitFor();
      await panel.getByRole("button", { name: "Check" }).click();
      await panel.getByRole("button", { name: "Show hint 1: concept" }).click();
      const first = panel.locator("details.hint");
      assert.deepEqual([await first.locator("p code").innerText(), await first.locator("li em").innerText()], ["park", "One."]);
      assert(await first.locator("summary").evaluate((summary) => summary === document.activeElement));
      await panel.getByText("The next hint, strategy, comes with another red check.").waitFor();
      await panel.getByRole("button", { name: "Show it now" }).click();
      await panel.locator("details.hint").nth(1).waitFor();
      await panel.getByRole("button", { name: "Check" }).click();
      await panel.getByRole("button", { name: "Show hint 3: code" }).waitFor();
      await assertAccessible(page);
    }, { prepare });
  });

  test("ticks what is solved, shows the way on, and lets an edit make it stale", async () => {
    file.write(`// mine\n${file.SOLUTION}`);
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await check(panel);
      await says(panel, /All \d+ pass.*Well done/);
      const ticks = page.locator("#mdbook-sidebar .ws-tick");
      // An earlier run of these tests may have left one that says "was solved".
      await ticks.filter({ hasText: "✓" }).first().waitFor({ state: "attached" });
      const tick = ticks.filter({ hasText: "solved" }).first();
      await panel.getByText("Next: read on with When yours is green.").waitFor();
      assert(await panel.evaluate((place) => place.classList.contains("green")));
      assert.equal(await page.locator(".spoilers[hidden]").count(), 0, "what gives the answer away is shown");
      assert((await panel.locator(".after a").count()) >= 2, "the rest of the page, and the next exercise");
      assert.equal(await panel.locator(".after a:visible").count(), 1, "one next step");
      const after = await panel.locator(".after").evaluate((after) => after.textContent);
      assert.doesNotMatch(after, /`/);
      assert.doesNotMatch(after, /exercise 1\b/i, "the way on leads on");
      await panel.getByRole("button", { name: "Compare with our solution" }).click();
      assert.match(await panel.locator(".after .difference").innerText(), /^-\/\/ mine$/m);
      await assertAccessible(page);

      await typeAtStart(page, "// and more\n");
      await panel.getByText("Was solved, and has changed since: check it again.").waitFor();
      assert.match(await tick.innerText(), /~/);
      assert(await panel.locator(".tests.stale").count());
    });
  });

  test("shows a check that was started in a terminal", async () => {
    let listening;
    const prepare = async (page) => {
      listening = page.waitForResponse("**/api/events");
    };
    await onPage(path, async (page) => {
      const panel = await opened(page);
      // The news come by the stream, which opens a moment after the panel.
      await listening;
      const terminal = spawn("cargo", ["test", "-q", "-p", "exercise-1", "a_ready_future"], { cwd: file.WORKSHOP, stdio: "ignore" });
      const ended = new Promise((resolve) => terminal.on("close", resolve));
      await panel.locator(".tests > .unwritten").filter({ hasText: "a ready future needs no wake up" }).waitFor({ timeout: CHECK_LIMIT_MS });
      await says(panel, /0 of 1 pass; the others aren’t written yet/);
      await ended;
    }, { prepare });
  });

  test("is the same in two tabs: the text, and the checks", async () => {
    await onPage(path, async (one) => {
      const first = await opened(one);
      const two = await one.context().newPage();
      await two.goto(one.url());
      const second = await opened(two);
      await typeAtStart(one, "// in the first\n");
      await two.waitForFunction(() => globalThis.ace.edit(document.querySelector(".work .ace_editor")).getValue().startsWith("// in the first"));
      await typeAtStart(two, "// in the second\n");
      await one.waitForFunction(() => globalThis.ace.edit(document.querySelector(".work .ace_editor")).getValue().startsWith("// in the second\n// in the first"));
      await check(first);
      await says(second, /0 of \d+ pass; the others aren’t written yet/);
      assert.equal(await second.locator(".tests > .unwritten").count(), await first.locator(".tests > .unwritten").count());
      // Closing the tab that listens for both leaves the other tab informed.
      await one.close();
      file.write(`// after all\n${file.before}`);
      await two.waitForFunction(() => globalThis.ace.edit(document.querySelector(".work .ace_editor")).getValue().startsWith("// after all"));
    });
  });

  test("is reached, edited, checked and left by the keyboard alone", async () => {
    const prepare = (page) => page.route("**/exercises/1/check", (route) => route.fulfill(stream([failed("tests::one", 1), { type: "exit", reason: "exited", code: 101 }])));
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await tabTo(page, panel.locator("textarea"));
      assert(await panel.getByText("Escape, then Tab, leaves the editor").isVisible());
      await page.keyboard.press("Control+Home");
      await page.keyboard.insertText("// by hand\n");
      await page.keyboard.press("Control+Enter");
      await says(panel, /1 of 1 fail/);
      assert(file.read().startsWith("// by hand\n"), "a check is about what stands in the editor");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Tab");
      assert(await panel.getByRole("button", { name: "Check" }).evaluate((button) => button === document.activeElement), "Tab leaves after Escape");
      await page.keyboard.press("Enter");
      await says(panel, /1 of 1 fail/);
      await tabTo(page, panel.locator(".tests > .failed summary"));
      await page.keyboard.press("Enter");
      assert.equal(await panel.locator(".tests > :not(.clause) details[open]").count(), 0, "Enter closes what was open");
    }, { prepare });
  });

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
      [{ reason: "timeout" }, /timeout/],
      [{ reason: "killed", message: "it used too much memory" }, /too much memory/],
      [{ reason: "exited", code: 0 }, /All 1 pass/],
    ];
    for (const [exit, words] of cases) {
      const passed = { type: "test", name: "tests::one", clause: 1, outcome: "passed", message: null };
      const prepare = (page) => page.route("**/api/exercises/1/check", (route) => route.fulfill(stream([passed, { type: "exit", ...exit }])));
      await onPage(path, async (page) => {
        const panel = await opened(page);
        await panel.getByRole("button", { name: "Check" }).click();
        await says(panel, words);
      }, { prepare });
    }
  });
});

/** Waits until the panel shows the reader's file. */
async function opened(page) {
  const panel = page.locator('.exercise[data-exercise="1"]');
  await panel.locator(".work .ace_editor").waitFor();
  return panel;
}

async function check(panel) {
  await panel.getByRole("button", { name: "Check" }).click();
  await panel.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden", timeout: CHECK_LIMIT_MS });
}

async function says(panel, words) {
  await panel.locator(".exercise-note").filter({ hasText: words }).waitFor({ timeout: CHECK_LIMIT_MS });
}

async function typeAtStart(page, text) {
  await page.locator(".work textarea").focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText(text);
}

function textOf(page) {
  return page.evaluate(() => globalThis.ace.edit(document.querySelector(".work .ace_editor")).getValue());
}

async function tabTo(page, target) {
  for (let presses = 0; !(await target.first().evaluate((element) => element === document.activeElement)); presses += 1) {
    assert(presses < 300, "Tab never got there");
    await page.keyboard.press("Tab");
  }
}

/** Waits for what must come, however busy the machine is. */
async function until(holds) {
  const deadline = performance.now() + 30_000;
  while (!holds()) {
    assert(performance.now() < deadline, "it did not happen");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

function failed(name, clause) {
  return { type: "test", name, clause, outcome: "failed", message: "seen: nothing" };
}

function stream(events) {
  return { body: events.map((event) => `${JSON.stringify(event)}\n`).join(""), contentType: "application/x-ndjson" };
}
