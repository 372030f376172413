// The order of steps in which a model fails, drawn below the failure.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, pageWith, reasonToSkip } from "./browser.mjs";
import { data, openText } from "./figures.mjs";
import { WORKSHOP } from "./files.mjs";

/** Waits for the model checker, and for a machine that does much else. */
const CHECK_LIMIT_MS = 300_000;
/** Longer than the server takes to read an order. */
const SLOW_WRITE_MS = 500;
/** A parker that clears its flag over a wake-up: no test sees it, and a model does. */
const WRONG = "c10_clears_over_a_wake_up";
const FILE = new URL("../../exercises/02-parker/src/lib.rs", import.meta.url);
const asItWas = readFileSync(FILE, "utf8");
/** Where the workshop keeps the last order. */
const KEPT = resolve(WORKSHOP, process.env.CARGO_TARGET_DIR || "target", "workshop/orders/exercise-2.json");
const keptBefore = existsSync(KEPT) ? readFileSync(KEPT) : undefined;
const DOCUMENT = JSON.parse(data("steps-failing"));
const MODEL = DOCUMENT.title;
/** The same, with what a folded one leaves out. */
const WHOLE = { ...DOCUMENT, steps: [...DOCUMENT.steps.slice(0, 5), { thread: 1, text: "lock.unlock" }, ...DOCUMENT.steps.slice(5)] };

describe("the order in which a model fails", { skip: reasonToSkip() }, () => {
  let browser;
  let path;
  before(async () => {
    browser = await launch();
    path = await pageWith('.exercise[data-exercise="2"]');
  });
  afterEach(() => {
    if (readFileSync(FILE, "utf8") !== asItWas) writeFileSync(FILE, asItWas);
  });
  after(() => {
    // No other page has an order of this test.
    if (keptBefore) writeFileSync(KEPT, keptBefore);
    else rmSync(KEPT, { force: true });
    return browser.close();
  });

  test("is drawn while a check in a terminal finds it, and stays through an edit and a reload", async () => {
    writeFileSync(FILE, (await cargo("wrong", "2", WRONG, "--whole")).out);
    let listening;
    const prepare = async (page) => {
      listening = page.waitForResponse("**/api/events");
    };
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await listening;
      const checking = cargo("check", "2");
      const figure = panel.locator(".tests > .failed details .order ws-steps");
      await figure.locator("svg.steps").waitFor({ timeout: CHECK_LIMIT_MS });
      assert.notEqual((await checking).code, 0);

      assert.match(await figure.locator(".steps-lead").innerText(), /reads an old value|each load reads the newest/);
      assert((await figure.locator(".thread-name").count()) >= 2, "a column a thread");
      const rows = await figure.locator(".step").count();
      assert(rows > 5, `${rows} steps`);
      const drawn = (await figure.locator(".step text").allTextContents()).join("").replace(/\s/g, "");
      const line = asItIs().split("\n").findIndex((text) => text.includes("self.state.swap(EMPTY, Acquire)")) + 1;
      assert(drawn.includes(`lib.rs:${line}self.state.swap(EMPTY,Acquire)`), "the reader's own line stands in the step");
      assert.equal(await figure.locator(".step.fails .glyph").count(), 1);
      assert.match(await figure.locator(".step.fails .bad").allTextContents().then((all) => all.join(" ")), /waits here forever|fails after this step|the failing access/);
      await assertAccessible(page);

      await page.reload();
      const again = (await opened(page)).locator(".order-home .order");
      await again.locator(".step").nth(rows - 1).waitFor();
      assert.equal(await again.locator("summary").first().innerText(), "How it fails, step by step");

      await page.locator(".work textarea").focus();
      await page.keyboard.press("Control+Home");
      await page.keyboard.insertText("// an edit\n");
      await again.getByText("from the code before your edit").waitFor();
      // The next page has to write the edit, and its write is slow.
      await page.route("**/exercises/2/write", (route) => setTimeout(() => void route.continue().catch(() => {}), SLOW_WRITE_MS));
      await page.reload();
      const old = (await opened(page)).locator(".order-home .order");
      await old.getByText("from the code before your edit").waitFor();
      assert.equal(await old.evaluate((details) => details.open), false);
    }, { prepare });
  });

  test("is found from the page: what passes the tests can be explored there, and so can what a model has failed", async () => {
    writeFileSync(FILE, (await cargo("wrong", "2", WRONG, "--whole")).out);
    const asked = [];
    const prepare = async (page) => {
      page.on("request", (request) => request.url().endsWith("/exercises/2/check") && asked.push(request.postDataJSON()));
    };
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await panel.getByRole("button", { name: "Check" }).click();
      await panel.locator(".exercise-note.good").waitFor({ timeout: CHECK_LIMIT_MS });
      await panel.getByRole("button", { name: "Explore the models" }).click();
      await panel.locator(".tests > .failed details .order ws-steps svg.steps").waitFor({ timeout: CHECK_LIMIT_MS });
      await panel.locator(".exercise-note.bad").waitFor();

      // The next check doesn't say that all is well.
      await panel.getByRole("button", { name: "Check" }).click();
      await panel.locator(".exercise-note.bad").waitFor({ timeout: CHECK_LIMIT_MS });
      assert.deepEqual(asked, [{}, { models: true }, { models: true }]);
    }, { prepare });
  });

  test("needs no figure's script as long as there is none, and goes away once the models pass", async () => {
    const scripts = [];
    let order = { status: 204 };
    const prepare = async (page) => {
      page.on("request", (request) => request.url().includes("figures.js") && scripts.push(request.url()));
      await page.route("**/exercises/2/order", (route) => route.fulfill(order));
      await page.route("**/exercises/2/check", (route) => route.fulfill(stream([passed(MODEL), { type: "exit", reason: "exited", code: 0 }])));
    };
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await check(panel);
      assert.deepEqual(scripts, []);
      assert.equal(await panel.locator(".order").count(), 0);

      order = { json: { document: DOCUMENT, whole: null, changed: false } };
      await page.reload();
      await opened(page);
      await panel.locator(".order svg.steps").waitFor();
      assert.equal(scripts.length, 1);
      await check(panel);
      assert.equal(await panel.locator(".order").count(), 1, "a check without models says nothing of it");
      order = { status: 204 };
      await check(panel);
      await panel.locator(".order").waitFor({ state: "detached" });
    }, { prepare });
  });

  for (const [width, settings] of [[390, { theme: "light" }], [1024, { theme: "navy" }], [1440, { theme: "light" }], [1440, { theme: "navy" }], [1440, { forcedColors: "active" }]]) {
    test(`can be read and stepped through by keys at ${width} pixels (${Object.values(settings)})`, async () => {
      await onPage(path, async (page) => {
        const panel = await opened(page);
        await check(panel);
        const figure = panel.locator(".tests > .failed details[open] .order ws-steps");
        await figure.locator("svg.steps").waitFor();
        await assertAccessible(page);
        assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth), width);
        const said = () => figure.locator(".fig-why").innerText();
        assert.match(await said(), /^Step 26, main: woken\.wait: sleeps; waits here forever\. main sleeps in woken\.wait: a deadlock$/);
        await figure.locator(".steps-scrubber").focus();
        await page.keyboard.press("Home");
        assert.equal(await said(), "Before the first step.");
        for (let step = 1; step <= DOCUMENT.steps.length; step += 1) {
          await page.keyboard.press(".");
          assert.match(await said(), new RegExp(`^Step ${step}, `));
          const [now, buttons] = [await figure.locator(".step.now").boundingBox(), await figure.locator(".fig-transport").boundingBox()];
          assert(buttons.y >= 0 && now.y >= buttons.y + buttons.height && now.y < 900, `step ${step} is in view, below the buttons`);
        }
        assert.match((await figure.locator(".step").nth(20).textContent()).replace(/\s/g, ""), /readsanOLDvalue:thenewestistrue,fromstep17/);
        await page.keyboard.press("e");
        assert.equal(await figure.locator(".step").count(), WHOLE.steps.length);
        await figure.getByRole("button", { name: "The steps that matter" }).click();
        assert.equal(await figure.locator(".step").count(), DOCUMENT.steps.length);
        await openText(figure);
        assert.equal(await figure.locator(".steps-table tbody tr").count(), DOCUMENT.steps.length);
        await assertAccessible(page);
      }, { viewport: { width, height: 900 }, prepare: fails(DOCUMENT, WHOLE), ...settings });
    });
  }

  test("is a sentence where its document can't be drawn", async () => {
    const many = Array.from({ length: 501 }, () => DOCUMENT.steps[0]);
    for (const [document, told] of [[{ ...DOCUMENT, steps: many }, /501 steps, and a page draws 500 at most/], [{ title: MODEL }, /no workshop\.steps\/1/], [{ ...DOCUMENT, steps: [{ thread: 9, text: "<img src=x>" }] }, /unknown thread/]]) {
      await onPage(path, async (page) => {
        const panel = await opened(page);
        await check(panel);
        await panel.locator(".order").getByRole("alert").filter({ hasText: told }).waitFor();
        assert.equal(await panel.locator(".order :is(svg, img, .fig-empty)").count(), 0);
        assert.match(await panel.locator(".order-more").innerText(), /cargo workshop order 2/);
      }, { prepare: fails({ ...document, title: MODEL }, null) });
    }
  });

  test("is printed with its table, and without its buttons", async () => {
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await check(panel);
      await panel.locator(".order svg.steps").waitFor();
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      const order = panel.locator(".order");
      assert(await order.locator(".steps-table").isVisible());
      assert.equal(await order.locator(".fig-bar:visible, .fig-tools:visible").count(), 0);
    }, { prepare: fails(DOCUMENT, WHOLE) });
  });

  test("plays in jumps, also with reduced motion, and stops at the failure", async () => {
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await check(panel);
      const figure = panel.locator(".order ws-steps");
      await figure.locator(".steps-scrubber").focus();
      for (const key of ["End", ",", ","]) await page.keyboard.press(key);
      assert.equal(await figure.locator(".fig-told").innerText(), "24 of 26");
      await figure.getByRole("button", { name: "Play" }).click();
      await figure.locator(".fig-why", { hasText: "a deadlock" }).waitFor();
      assert.equal(await figure.locator(".fig-told").innerText(), "26 of 26");
    }, { reducedMotion: "reduce", prepare: fails(DOCUMENT, WHOLE) });
  });

  test("can be asked for where a test hangs", async () => {
    const test = { type: "test", name: "tests::ends::a_b", clause: 4, outcome: "failed", message: "seen: it hangs" };
    const telling = { type: "telling", first: test.name, message: test.message, others: [] };
    const end = { type: "exit", reason: "exited", code: 101 };
    const asked = [];
    const prepare = async (page) => {
      await page.route("**/exercises/2/order", (route) => route.fulfill({ status: 204 }));
      await page.route("**/exercises/2/check", (route) => {
        asked.push(route.request().postDataJSON());
        const hangs = [test, { ...telling, models_may_show: true }, end];
        const explored = [test, { ...test, name: MODEL }, telling, { type: "order", document: DOCUMENT }, end];
        return route.fulfill(stream(asked.length === 1 ? hangs : explored));
      });
    };
    await onPage(path, async (page) => {
      const panel = await opened(page);
      await check(panel);
      const explore = panel.locator(".tests > .failed").getByRole("button", { name: "Explore the models" });
      await explore.waitFor();
      await assertAccessible(page, ".exercise");
      await explore.click();
      await panel.locator(".order ws-steps svg.steps").waitFor();
      assert.equal(await explore.count(), 0);
      assert.deepEqual(asked, [{}, { models: true }]);
    }, { prepare });
  });
});

function asItIs() {
  return readFileSync(FILE, "utf8");
}

async function opened(page) {
  const panel = page.locator('.exercise[data-exercise="2"]');
  await panel.locator(".work .ace_editor").waitFor();
  return panel;
}

/** Ends once the page has said how the check ended. */
async function check(panel) {
  await panel.getByRole("button", { name: "Check" }).click();
  await panel.locator(".exercise-note:is(.good, .bad)").waitFor();
}

/** Runs the workshop's own command. */
function cargo(...args) {
  const command = spawn("cargo", ["run", "-q", "-p", "workshop", "--", ...args], { cwd: WORKSHOP, stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  command.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  return new Promise((resolve) => command.on("close", (code) => resolve({ code, out })));
}

/** A check whose model fails in this order. */
function fails(document, whole) {
  const telling = { type: "telling", first: MODEL, message: "seen: it hangs", others: [] };
  const events = [{ type: "test", name: MODEL, clause: 4, outcome: "failed", message: "seen: it hangs" }, telling, { type: "order", document, ...(whole && { whole }) }, { type: "exit", reason: "exited", code: 101 }];
  return async (page) => {
    await page.route("**/exercises/2/order", (route) => route.fulfill({ status: 204 }));
    await page.route("**/exercises/2/check", (route) => route.fulfill(stream(events)));
  };
}

function passed(name) {
  return { type: "test", name, clause: 4, outcome: "passed", message: null };
}

function stream(events) {
  return { body: events.map((event) => `${JSON.stringify(event)}\n`).join(""), contentType: "application/x-ndjson" };
}
