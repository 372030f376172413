// The workbench of exercise 1: what stands where, at which width, and what a check changes.

import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, pageWith, reasonToSkip } from "./browser.mjs";
import * as file from "./files.mjs";

const PLACE = '.exercise[data-exercise="1"]';
const WIDTHS = [390, 768, 1024, 1200, 1440, 2000];

describe("the workbench", { skip: reasonToSkip() }, () => {
  let browser;
  let path;
  before(async () => {
    browser = await launch();
    path = await pageWith(PLACE);
  });
  afterEach(() => file.restore());
  after(() => browser.close());

  for (const width of WIDTHS) {
    test(`has its code, its results and Check in one view at ${width} pixels`, async () => {
      await onPage(path, async (page) => {
        const panel = await opened(page);
        const [work, told] = await boxes(panel, [".work", ".exercise-told"]);
        const isBeside = width >= 1200;
        if (isBeside) {
          assert(told.x + told.width <= work.x, "the contract is at the left of the editor");
          assert(work.x + work.width > width - 120, "the editor uses the room at the right");
        } else {
          assert(told.y >= work.y + work.height, "the results are below the editor");
        }
        await press(page, panel);
        const view = await visible(page, [".exercise-bar", ".tests > .failed > details[open]"]);
        assert(view.every(Boolean), `in view: ${view}`);
        if (isBeside) assert.deepEqual(await visible(page, [".work .ace_cursor"]), [true]);
        assert.match(await panel.locator(".exercise-count").innerText(), /^1 of 8 clauses$/);
        assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth), width);
        await assertAccessible(page);
      }, { viewport: { width, height: 900 }, prepare: answers([passed(1), failed(2)]) });
    });
  }

  for (const theme of ["light", "navy", "coal", "ayu", "rust"]) {
    test(`can be read in the theme ${theme}, each kind of token`, async () => {
      await onPage(path, async (page) => {
        await opened(page);
        await page.locator(".work textarea").focus();
        await page.evaluate((text) => globalThis.ace.edit(document.querySelector(".work .ace_editor")).setValue(text, -1), 'pub fn name(a: &str) -> Option<u32> {\n    // why\n    let b = 12.5; let c = "text"; self.d(\'x\', true, None, Self::E);\n    println!("{}", b);\n}\n');
        const unreadable = await page.locator(".work .ace_editor").evaluate((editor) => {
          const parse = (color) => color.match(/[\d.]+/g).map(Number);
          const luminance = ([r, g, b]) => [r, g, b].map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
          const back = luminance(parse(getComputedStyle(editor).backgroundColor));
          return [...editor.querySelectorAll(".ace_line span")].filter((span) => {
            const text = luminance(parse(getComputedStyle(span).color));
            return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05) < 4.5;
          }).map((span) => `${span.className}: ${span.textContent}`);
        });
        assert.deepEqual(unreadable, []);
      }, { theme, prepare: (page) => page.route("**/exercises/1/write", (route) => route.fulfill({ json: { hash: "x", kept: null } })) });
    });
  }

  test("opens with the documentation folded and the caret at the first todo, and leaves the file as it is", async () => {
    await onPage(path, async (page) => {
      await opened(page);
      const caret = await page.evaluate(() => {
        const ace = globalThis.ace.edit(document.querySelector(".work .ace_editor"));
        const { row, column } = ace.getCursorPosition();
        return { rest: ace.session.getLine(row).slice(column), folds: ace.session.getAllFolds().length };
      });
      assert.match(caret.rest, /^todo!/);
      assert(caret.folds >= 2, "the header and the contract");
      assert.deepEqual(await visible(page, [".work .ace_cursor"]), [true]);
      assert.equal(file.read(), file.before);
    });
  });

  test("is a checklist: clauses turn green, what passed folds into one line, a failure has its code and a hint", async () => {
    await onPage(path, async (page) => {
      const panel = await opened(page);
      assert.equal(await panel.locator('.clause[data-stands="open"]').count(), 8);
      assert.match(await panel.locator(".clause").first().innerText(), /1\. Prompt[^]*polled at once/);
      await press(page, panel);
      assert.deepEqual(await panel.locator(".clause").evaluateAll((all) => all.map((one) => one.dataset.stands)), ["held", "failed", "unwritten", "open", "open", "open", "open", "open"]);
      assert.equal(await panel.locator('.clause[data-stands="held"] details[open]').count(), 0);
      assert.equal(await panel.locator(".tests > :is(.passed, .unwritten):visible").count(), 0);
      await panel.getByRole("button", { name: "Show 1 that passes, 1 not written yet" }).click();
      assert.equal(await panel.locator(".tests > .passed:visible").count(), 1);
      await panel.getByRole("button", { name: "Show its code" }).first().click();
      assert.match(await panel.locator(".check-code").innerText(), /fn an_idle_thread_sleeps|#\[test\]/);
      assert(await panel.locator(".failed").getByRole("button", { name: "Hint" }).isVisible());
      await assertAccessible(page);
    }, { prepare: answers([passed(1), failed(2, await nameOf(2)), unwritten(3)]) });
  });

  test("says an untouched stub is not written yet, in gray and in one line", async () => {
    const all = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((clause) => [unwritten(clause, `a${clause}`), unwritten(clause, `b${clause}`)]);
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await press(page, panel);
      assert.equal(await panel.locator('.clause[data-stands="unwritten"]').count(), 8);
      assert.equal(await panel.locator(".tests > .unwritten:visible").count(), 1, "only the one to begin with");
      const colors = await panel.locator(".clause .clause-state").evaluateAll((all) => all.map((one) => getComputedStyle(one).color));
      const danger = await panel.evaluate((place) => getComputedStyle(Object.assign(place.appendChild(document.createElement("i")), { style: "color: var(--ws-danger)" })).color);
      assert(!colors.includes(danger));
    }, { prepare: answers(all) });
  });

  test("begins with the same check as the terminal, and tells two things aloud", async () => {
    // In the order of the names the second would come first.
    const events = [unwritten(1, "a_future_is_polled_until_it_is_ready"), unwritten(1, "a_ready_future_needs_no_wake_up")];
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await panel.locator('[role="status"].ws-sr').evaluate((said) => {
        globalThis.said = [];
        new MutationObserver(() => globalThis.said.push(said.textContent)).observe(said, { childList: true, characterData: true, subtree: true });
      });
      await press(page, panel);
      assert.match(await panel.locator(".tests > .unwritten > details[open] .test-name").innerText(), /a ready future needs no wake up/);
      const said = await page.evaluate(() => globalThis.said);
      assert(said.length <= 3 && /aren’t written yet/.test(said.at(-1)), said.join(" | "));
    }, { prepare: answers([{ type: "compiling" }, ...events.map((event) => ({ ...event, outcome: "waiting" })), ...events]) });
  });

  test("shows the line that does not compile, and says it once", async () => {
    const error = (line) => ({ type: "diagnostic", level: "error", rendered: `error[E0425]: cannot find function \`oops\`\n --> src/lib.rs:${line}:5\n`, line });
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await panel.getByRole("button", { name: "Check" }).click();
      await panel.locator(".exercise-note.bad").waitFor();
      assert.equal(await panel.locator(".ws-mark > div").count(), 1);
      assert.deepEqual(await visible(page, [".ws-mark"]), [true]);
      assert.equal(await panel.locator(".ws-mark .warning, .ws-mark .error").count(), 0, "mdBook has a sign for that class");
    }, { prepare: answers([error(48), error(48)], { reason: "compile-error", code: 101 }) });
  });

  test("shows after Ctrl-Enter what goes on", async () => {
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await page.locator(".work textarea").focus();
      await page.keyboard.press("Control+Enter");
      await panel.locator(".exercise-note.bad").waitFor();
      assert.deepEqual(await visible(page, [".exercise-note", ".exercise-count"]), [true, true]);
    }, { viewport: { width: 390, height: 700 }, prepare: answers([failed(1)]) });
  });

  test("shows above the contents how far the reader is, and the way on", async () => {
    const listed = (number, state, next = false) => ({ number, title: "t", page: "one-future/parker-exercise.html", state, next, held: 0, clauses: 1 });
    const list = [listed(1, "solved"), listed(2, "failing", true), listed(3, "not-started")];
    await onPage(path, async (page) => {
      const shown = page.locator(".ws-segments");
      await shown.getByText("1 of 3 exercises solved").waitFor();
      assert.deepEqual(await shown.locator(".segments span").evaluateAll((all) => all.map((one) => one.className)), ["solved", "begun", "open"]);
      assert.match(await shown.getByRole("link", { name: "Continue: exercise 2" }).getAttribute("href"), /parker-exercise\.html$/);
      await assertAccessible(page);
    }, { prepare: (page) => page.route("**/api/exercises", (route) => route.fulfill({ json: list })) });
    let asked = 0;
    const lateList = (page) => page.route("**/api/exercises", (route) => ((asked += 1) < 3 ? route.abort() : route.fulfill({ json: list })));
    await onPage(path, async (page) => page.getByText("1 of 3 exercises solved").waitFor(), { prepare: lateList, errors: /ERR_FAILED/ });
  });

  test("has a cover whose program runs, and whose way in becomes the way on", async () => {
    const cover = await pageWith("p.start");
    const listed = (number, state, next = false) => ({ number, title: "t", page: "one-future/parker-exercise.html", state, next, held: 0, clauses: 1 });
    const lists = (...list) => ({ prepare: (page) => page.route("**/api/exercises", (route) => route.fulfill({ json: list })) });
    await onPage(cover, async (page) => {
      await page.locator(".ws-segments").waitFor();
      const start = page.locator("main .start a");
      assert.match(await start.getAttribute("href"), /one-future\/promise\.html$/);
      const snippet = page.locator("main .snippet").first();
      await snippet.getByRole("button", { name: "Run" }).click();
      await snippet.getByText("Ready(())").first().waitFor({ timeout: 60_000 });
      await page.locator("#fig-cover svg, figure:has(ws-timeline) svg").first().waitFor();
      await assertAccessible(page);
    }, lists(listed(1, "not-started", true), listed(2, "not-started")));
    await onPage(cover, async (page) => {
      await page.locator("main .start").getByRole("link", { name: "Continue: exercise 2" }).waitFor();
      assert.match(await page.locator("main .start").innerText(), /1 of 2 exercises solved\./);
    }, lists(listed(1, "solved"), listed(2, "not-started", true)));
  });

  test("tells how far the crates are built where it covers no button of an exercise", async () => {
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await panel.evaluate((place) => place.scrollIntoView({ block: "start" }));
      const covered = await page.evaluate(() => {
        const told = Object.assign(document.createElement("div"), { className: "ws-progress", textContent: "Building the crates that the programs use" });
        document.querySelector("main").append(told);
        const [one, other] = [told, document.querySelector(".exercise-bar")].map((part) => part.getBoundingClientRect());
        return one.bottom > other.top && one.top < other.bottom && one.right > other.left && one.left < other.right;
      });
      assert.equal(covered, false);
    }, { viewport: { width: 1440, height: 900 } });
  });

  test("keeps what gives the answer away until it is asked for", async () => {
    await onPage(path, async (page) => {
      await opened(page);
      const shown = () => page.locator(".spoilers").evaluate((section) => section.checkVisibility({ contentVisibilityAuto: true }) && section.hidden === false);
      assert.equal(await shown(), false);
      await page.getByText("What follows gives exercise 1 away").waitFor();
      await page.getByRole("button", { name: "Show it now" }).last().click();
      assert.equal(await shown(), true);
    });
  });

  test("lets Tab through, and Tab writes only where one types", async () => {
    await onPage(path, async (page) => {
      const panel = await opened(page);
      const area = panel.locator("textarea");
      await page.locator(".work").evaluate((work) => Object.assign(work, { tabIndex: -1 }).focus());
      for (let presses = 0; !(await area.evaluate((one) => one === document.activeElement)); presses += 1) {
        assert(presses < 10, "Tab never got there");
        await page.keyboard.press("Tab");
      }
      await page.keyboard.press("Tab");
      assert(await panel.getByRole("button", { name: "Check" }).evaluate((one) => one === document.activeElement));
      assert.equal(await page.evaluate(() => globalThis.ace.edit(document.querySelector(".work .ace_editor")).getValue()), file.before);
    });
  });

  test("is printed once, without the stub's second copy", async () => {
    await onPage(path, async (page) => {
      await opened(page);
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      const copies = await page.locator("main pre:visible").evaluateAll((all) => all.filter((one) => one.innerText.includes("pub fn block_on<F: Future>(future: F)") && one.innerText.includes("# Contract")).length);
      assert.equal(copies, 1);
      assert(await page.locator(".spoilers").evaluate((section) => getComputedStyle(section).contentVisibility === "visible"));
    });
  });
});

/** The name of a check of exercise 1 that belongs to this clause. */
async function nameOf(clause) {
  const { readFileSync, readdirSync } = await import("node:fs");
  const folder = new URL("../../exercises/01-block-on/src/tests/", import.meta.url);
  const source = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), "utf8")).join("\n");
  return new RegExp(`/// Clause ${clause}: [^]*?fn (\\w+)`).exec(source)[1];
}

async function opened(page) {
  const panel = page.locator(PLACE);
  await panel.locator(".work .ace_editor").waitFor();
  return panel;
}

async function press(page, panel) {
  await panel.getByRole("button", { name: "Check" }).click();
  await panel.locator(".tests details[open] .test-message").first().waitFor();
}

function boxes(panel, selectors) {
  return Promise.all(selectors.map((selector) => panel.locator(selector).boundingBox()));
}

/** Whether at least a part of each is on the screen, below the menu and above the window's end. */
function visible(page, selectors) {
  return page.evaluate((selectors) => selectors.map((selector) => {
    const element = document.querySelector(selector);
    const { left, right, top, height } = element.getBoundingClientRect();
    const [x, y] = [(left + Math.min(right, innerWidth)) / 2, top + Math.min(height / 2, 12)];
    return y > 0 && y < innerHeight && x > 0 && x < innerWidth;
  }), selectors);
}

function answers(events, exit = { reason: "exited", code: 101 }) {
  const body = [...events, { type: "exit", ...exit }].map((event) => `${JSON.stringify(event)}\n`).join("");
  return (page) => page.route("**/exercises/1/check", (route) => route.fulfill({ body, contentType: "application/x-ndjson" }));
}

function passed(clause, name = `holds_${clause}`) {
  return { type: "test", name: `tests::${name}`, clause, outcome: "passed", message: null };
}

function failed(clause, name = `fails_${clause}`) {
  return { type: "test", name: `tests::${name}`, clause, outcome: "failed", message: "seen: nothing" };
}

function unwritten(clause, name = `later_${clause}`) {
  return { type: "test", name: `tests::${name}`, clause, outcome: "unwritten", message: "seen: a todo" };
}
