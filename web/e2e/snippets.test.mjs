import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { ROOT, assertAccessible, launch, onPage, pageWith, reasonToSkip, wronglyFolded } from "./browser.mjs";

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

  test("shows errors before warnings, and each place leads to its line", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await replace(page, snippet, "fn main() {\n    let unused = 1;\n\n    let n: u8 = \"no\";\n}");
      // A type error hides the warning, so both are told, in the other order.
      const told = (level, line, column) => ({ type: "diagnostic", level, line, rendered: `${level}: told\n --> main.rs:${line}:${column}\n  |\n` });
      const events = [{ type: "compiling" }, told("warning", 2, 9), told("error", 4, 17), told("error", 1, 4), { type: "exit", reason: "compile-error", code: null, compile_ms: 1, run_ms: null }];
      await page.route("**/api/run", (route) => route.fulfill({ contentType: "application/x-ndjson", body: events.map((event) => `${JSON.stringify(event)}\n`).join("") }));
      await run(snippet);
      await saying(snippet, /does not compile/);
      const places = snippet.locator(".output .ws-place");
      assert.deepEqual(await places.allTextContents(), ["main.rs:4:17", "main.rs:1:4", "main.rs:2:9"]);
      assert.equal(await snippet.getByRole("button", { name: /^Go to line/ }).count(), 0, "the place itself is the link");
      const marks = await snippet.locator(".ws-mark").evaluateAll((all) => all.map((mark) => ({ isWarning: mark.innerText.includes("warning"), color: getComputedStyle(mark).borderInlineStartColor, sign: getComputedStyle(mark.firstElementChild, "::before").content })));
      const colors = (isWarning) => [...new Set(marks.filter((mark) => mark.isWarning === isWarning).map(({ color }) => color))];
      assert.equal(colors(true).length, 1);
      assert.notDeepEqual(colors(true), colors(false), "a warning isn't red");
      assert.deepEqual(marks.map(({ sign }) => sign), ["none", "none", "none"], "no sign from a font of mdBook's");
      await places.first().click();
      const row = await snippet.locator(".ace_editor").evaluate((code) => window.ace.edit(code).selection.getCursor().row);
      assert.equal(row, 3);
      assert.equal(await snippet.locator("textarea").evaluate((it) => it === document.activeElement), true);
      await assertAccessible(page);
    });
  });

  test("keeps its buttons in view, with the seconds, while it is taller than the screen", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await replace(page, snippet, `fn main() { for n in 0..200 { println!("{n}"); } loop { std::thread::park() } }${"\n// more".repeat(60)}`);
      await run(snippet);
      await snippet.locator(".stdout").waitFor({ timeout: RUN_LIMIT_MS });
      await snippet.locator(".snippet-seconds").filter({ hasText: /^\d+ s$/ }).waitFor();
      const isInView = (where) =>
        page.evaluate((where) => {
          const frame = document.querySelector(`.snippet:has(.stdout)`);
          const { top, bottom } = frame.getBoundingClientRect();
          scrollBy({ top: where === "top" ? top - 60 : bottom - innerHeight, behavior: "instant" });
          const bar = frame.querySelector(".snippet-bar").getBoundingClientRect();
          return { isTaller: bottom - top > innerHeight, isInView: bar.top >= 0 && bar.bottom <= innerHeight };
        }, where);
      assert.deepEqual(await isInView("top"), { isTaller: true, isInView: true }, "while the program is read");
      assert.deepEqual(await isInView("bottom"), { isTaller: true, isInView: true }, "while the output is read");
      await snippet.getByRole("button", { name: "Stop" }).click();
      await saying(snippet, /^Stopped\.$/);
      assert.equal(await snippet.locator(".snippet-seconds").textContent(), "");
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
      await saying(snippet, /connection was closed before the program ended/);
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

  test("says where it would be sent without a runner, and shows its recorded output", async () => {
    const noRunner = (page) => page.route("**/api/ping", (route) => route.fulfill({ status: 404 }));
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await snippet.getByText("Run sends this program to play.rust-lang.org").waitFor();
      await snippet.getByRole("button", { name: "Run on play.rust-lang.org" }).waitFor();
      assert.deepEqual(await wronglyFolded(page), []);
    }, { prepare: noRunner, runner: false, errors: /404/ });
  });

  test("has the compiler's words on their lines, which the keyboard can go to", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await replace(page, snippet, "fn main() {\n    let unused = 1;\n    oops();\n    ooops();\n}\n");
      await run(snippet);
      await saying(snippet, /does not compile/);
      // Each below its line: the words are in the order of the lines.
      const marks = await snippet.locator(".ws-mark").evaluateAll((all) => all.map((mark) => [mark.getBoundingClientRect().top, mark.innerText]).sort(([a], [b]) => a - b));
      assert.deepEqual(marks.map(([, text]) => /`(o+ps)`/.exec(text)?.[1]).filter(Boolean), ["oops", "ooops"]);
      const tops = await snippet.locator(".ace_line").evaluateAll((all) => all.map((line) => line.getBoundingClientRect().top));
      const [[oops]] = marks.slice(-2);
      assert(tops[2] < oops && oops < tops[3], `the words are at ${oops}, the lines at ${tops}`);
      await assertAccessible(page);
      await snippet.getByRole("button", { name: "Go to line 4" }).click();
      assert(await hasFocus(snippet.locator("textarea")));
      await page.keyboard.insertText("// here ");
      assert.match(await textOf(snippet), /^\/\/ here \s*ooops/m);
    });
  });

  test("runs tests where there is nothing else to run", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await replace(page, snippet, '#[test]\nfn it_adds() { assert_eq!(1 + 1, 2) }\n#[test]\nfn it_fails() { panic!("not right") }\n');
      await run(snippet);
      await saying(snippet, /A test failed/);
      assert.deepEqual(await snippet.locator(".test-name").allInnerTexts(), ["it adds", "it fails"]);
      assert.match(await snippet.locator("details[open] .test-message").innerText(), /not right/);
    });
  });

  test("is ended with all that it started within half a second of a click on Stop", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await replace(page, snippet, 'fn main() { println!("process {}", std::process::id()); loop { std::hint::spin_loop() } }');
      const times = [];
      // The best of three: a machine that does much else may be late at any time.
      for (let round = 0; round < 3; round += 1) {
        await run(snippet);
        await snippet.locator(".stdout").filter({ hasText: /process \d+\n/ }).waitFor({ timeout: RUN_LIMIT_MS });
        const process = /process (\d+)/.exec(await snippet.locator(".stdout").textContent())[1];
        const start = performance.now();
        await snippet.getByRole("button", { name: "Stop" }).click();
        while (existsSync(`/proc/${process}`)) {
          assert(performance.now() - start < 30_000, "it still runs");
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        times.push(performance.now() - start);
        await saying(snippet, /^Stopped\.$/);
      }
      console.log(`gone ${times.map(Math.round)} ms after the click`);
      assert(Math.min(...times) < 500);
    });
  });

  test("is ended by its timeout, with what it had printed", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await replace(page, snippet, 'fn main() { println!("before"); loop { std::thread::park() } }');
      await run(snippet);
      await saying(snippet, /Timeout: ended after 10 seconds/);
      assert.equal(await snippet.locator(".stdout").textContent(), "before\n");
    });
  });

  test("is run in release where the reader wants it", async () => {
    const answer = [{ type: "exit", reason: "exited", code: 0, compile_ms: 1, run_ms: 1 }];
    const prepare = (page) => page.route("**/api/run", (route) => {
      const { mode } = route.request().postDataJSON();
      return route.fulfill({ contentType: "application/x-ndjson", body: [{ type: "stdout", text: mode }, ...answer].map((event) => `${JSON.stringify(event)}\n`).join("") });
    });
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      for (const mode of ["debug", "release"]) {
        if (mode === "release") await snippet.getByLabel("release optimized, takes longer to compile").check();
        await run(snippet);
        await snippet.locator(".stdout").filter({ hasText: mode }).waitFor();
      }
    }, { prepare });
  });

  test("does not lose what Reset took away", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await replace(page, snippet, "fn main() { /* mine */ }");
      await snippet.getByRole("button", { name: "Reset" }).click();
      assert.doesNotMatch(await textOf(snippet), /mine/);
      await snippet.getByRole("button", { name: "Take back the reset" }).click();
      assert.match(await textOf(snippet), /mine/);
    });
  });

  test("shows its hidden lines and hides them again, while it is edited too", async () => {
    const program = 'code.editable[class*="snippet-"]:has(.boring)';
    // On an exercise's page it may be hidden until that is solved.
    await onPage(await pageWith(program, "main:not(:has(.exercise))"), async (page) => {
      const snippet = page.locator(".snippet").filter({ has: page.getByRole("button", { name: /hidden lines|Hide them again/ }) }).first();
      await snippet.waitFor();
      const folds = snippet.locator(".ace_fold");
      // What ACE draws is what is seen of the program.
      const lines = () => snippet.locator("code.editable").evaluate((code) => globalThis.ace.edit(code).session.getScreenLength());
      const [all, shown] = [(await textOf(snippet)).split("\n").length, await lines()];
      assert.match(await folds.first().innerText(), /^… \d+ hidden lines$/);
      assert(all - shown >= 10, `${shown} of ${all} lines are shown`);
      await assertAccessible(page);

      await snippet.getByRole("button", { name: "Show hidden lines" }).click();
      assert.equal(await lines(), all);
      await snippet.getByRole("button", { name: "Hide them again" }).click();
      assert.equal(await lines(), shown);

      // What is typed above the hidden lines doesn't bring them up, now or after a reload.
      await snippet.locator("textarea").focus();
      await page.keyboard.press("Control+Home");
      await page.keyboard.insertText("// mine\n");
      assert.equal(await lines(), shown + 1);
      await page.waitForFunction(() => Object.values(localStorage).some((kept) => kept.includes("// mine")));
      await page.reload();
      await snippet.waitFor();
      assert.equal((await textOf(snippet)).split("\n").length, all + 1, "a run has them all");
      assert.equal(await lines(), shown + 1);
      await snippet.getByRole("button", { name: "Reset" }).click();
      assert.equal(await lines(), shown);
    });
  });

  test("says so when the workshop is gone, and keeps the edit", async () => {
    await onPage(path, async (page) => {
      const snippet = firstSnippet(page);
      await snippet.getByRole("button", { name: "Run" }).waitFor();
      await replace(page, snippet, "fn main() { /* offline */ }");
      await page.context().setOffline(true);
      await run(snippet);
      await saying(snippet, /The workshop does not answer: is `cargo workshop` still running/);
      await page.context().setOffline(false);
      await page.reload();
      assert.match(await textOf(snippet), /offline/);
    }, { errors: /ERR_INTERNET_DISCONNECTED/ });
  });

  test("asks for the link of the terminal when the page has no token", async () => {
    await onPage(path, async (page) => {
      await saying(firstSnippet(page), /open the link printed in your terminal/);
    }, { token: false });
  });

  test("still runs after a foreign site has opened the page with another token", async () => {
    await onPage(path, async (page) => {
      for (const fragment of ["#token=moved", "#token=%", "#token=", `#token=${"0".repeat(32)}`]) {
        // As a link on any other page does: the page is loaded again, with this fragment.
        await page.goto("about:blank");
        await page.goto(new URL(path + fragment, ROOT).href);
        await run(firstSnippet(page));
        await ended(firstSnippet(page));
      }
    }, { errors: /401/ });
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
