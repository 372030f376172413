import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, onPages, pageWith, pagesWith, reasonToSkip } from "./browser.mjs";
import { FIGURES, QUEUES, SWEEP, TRACE, figure, onFigures, openText } from "./figures.mjs";

const MOST_NODES = 2000;

describe("figures", { skip: reasonToSkip() }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  for (const theme of ["light", "navy"]) {
    for (const reducedMotion of ["no-preference", "reduce"]) {
      for (const width of [1280, 360]) {
        test(`are accessible in ${theme} at ${width} pixels, motion: ${reducedMotion}`, async () => {
          await onFigures(Object.values(FIGURES).join(""), async (page) => {
            await openAll(page);
            await assertAccessible(page, "main");
            await assertFits(page, width);
            for (const drawing of await page.locator(".fig-canvas .fig-picture").all()) {
              assert((await drawing.locator("*").count()) <= MOST_NODES);
            }
          }, { theme, reducedMotion, viewport: { width, height: 900 } });
        });
      }
    }
  }

  test("are accessible with forced colors, and with targets large enough", async () => {
    await onFigures(Object.values(FIGURES).join(""), async (page) => {
      await openAll(page);
      await assertAccessible(page, "main");
      for (const target of await page.locator(".ws-figure :is(button, select, summary, .fig-file, .ws-check):visible").all()) {
        const { width, height } = await target.boundingBox();
        assert(width >= 44 && height >= 36, `${await target.innerText()}: ${width} × ${height}`);
      }
    }, { forcedColors: "active" });
  });

  test("of the book draw their data, and are accessible with it", async () => {
    await onPages(await pagesWith(":is(ws-timeline, ws-sweep, ws-steps) script"), async (page, path) => {
      const figures = page.locator("ws-timeline, ws-sweep, ws-steps");
      for (const drawn of await figures.all()) {
        assert.equal(await drawn.locator(".fig-error:visible").count(), 0, `${path}: ${await drawn.locator(".fig-error").innerText()}`);
        assert((await drawn.locator(".fig-canvas .fig-picture").count()) >= 1, path);
      }
      for (const look of await page.getByRole("button", { name: "I'll just look" }).all()) await look.click();
      await assertAccessible(page, "main figure");
      for (const drawing of await page.locator(".fig-canvas .fig-picture").all()) assert((await drawing.locator("*").count()) <= MOST_NODES, path);
    }, { token: false });
  });

  test("read without JavaScript, and on the page with all chapters", async () => {
    const path = await pageWith("ws-timeline svg");
    await onPage(path, async (page) => {
      const still = page.locator("ws-timeline .fig-still").first();
      assert(await still.isVisible());
      assert.match(await still.textContent(), /The longest wait/);
    }, { javaScriptEnabled: false, token: false });
    const prepare = (page) => page.addInitScript(() => (globalThis.print = () => {}));
    await onPage("print.html", async (page) => {
      const figures = page.locator("ws-timeline:has(.fig-canvas)");
      assert((await figures.count()) >= 3);
      assert.equal(await page.locator(".ws-figure :is(button:not(.fig-row), input, select)").count(), 0);
      assert.equal(await page.locator(".fig-text:not([open])").count(), 0);
      assert((await figures.first().locator(".fig-canvas .fig-picture").count()) === 2, "by task and by worker");
      const ids = await page.locator("[id]").evaluateAll((all) => all.map(({ id }) => id).filter((id) => id.startsWith("fig-")));
      assert.equal(new Set(ids).size, ids.length, "an id stands twice");
    }, { prepare, token: false });
  });

  test("print their frames, without controls and with the table open", async () => {
    await onFigures(FIGURES.timeline + FIGURES.guessed + FIGURES.sweep, async (page) => {
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      for (const timeline of await page.locator("ws-timeline").all()) assert.equal(await timeline.locator(".fig-canvas .fig-picture").count(), 2);
      assert.equal(await page.locator(".ws-figure :is(.ws-button, input):visible").count(), 0);
      assert.equal(await page.locator(".covered").count(), 0, "on paper nothing is covered");
      assert(await page.locator("ws-sweep table").first().isVisible());
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      assert.equal(await page.locator("ws-timeline").first().locator(".fig-canvas .fig-picture").count(), 1);
      assert.equal(await page.locator(".covered").count(), 1);
    });
  });
});

describe("a timeline", { skip: reasonToSkip() }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  test("is walked through by the keyboard alone, and keeps its keys from the book", async () => {
    await onFigures(FIGURES.timeline, async (page) => {
      const address = page.url();
      const { why, text } = parts(page);
      for (let presses = 0; !(await hasFocus(page.locator(".fig-scrubber"))); presses += 1) {
        assert(presses < 200, "Tab never reached the scrubber");
        await page.keyboard.press("Tab");
      }
      assert.match(await why.innerText(), /^heartbeat waited 2\.95 ms for its poll 3/);
      assert.equal(await text(), "5.04 ms: worker 0 polls heartbeat, worker 1 is parked.");
      await page.keyboard.press("Home");
      assert.match(await text(), /^0 ns: /);
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("Shift+?");
      assert(await page.locator(".fig-keys").isVisible());
      await page.keyboard.press(".");
      assert.match(await text(), /^10(\.0)? µs: /);
      await page.keyboard.press(".");
      assert.match(await text(), /^20(\.0)? µs: .*another thread polls main/);
      await page.keyboard.press(",");
      assert.match(await text(), /^10(\.0)? µs: /);
      await page.keyboard.press("p");
      assert.match(await why.innerText(), /^E blocker waited .* for its poll 2/);
      await page.keyboard.press("p");
      assert.match(await why.innerText(), /^heartbeat waited 2\.95 ms/);
      await page.keyboard.press("u");
      assert.match(await why.innerText(), /^E blocker/);
      await page.keyboard.press("4");
      assert.match(await why.innerText(), /^A waited/);
      await page.keyboard.press("+");
      const zoomed = await page.locator(".axis text").allTextContents();
      await page.keyboard.press("-");
      assert.notDeepEqual(await page.locator(".axis text").allTextContents(), zoomed);
      await page.keyboard.press("r");
      assert.match(await why.innerText(), /^heartbeat waited 2\.95 ms/);
      assert.equal(page.url(), address, "no key turned the page");
    });
  });

  test("plays only when asked, by jumps where motion is unwanted", async () => {
    await onFigures(FIGURES.timeline, async (page) => {
      const { text } = parts(page);
      const before = await text();
      await page.waitForTimeout(300);
      assert.equal(await text(), before, "nothing moves by itself");
      await page.locator(".fig-scrubber").focus();
      await page.keyboard.press("Home");
      await page.getByRole("button", { name: "Play" }).click();
      await page.waitForFunction(() => !document.querySelector(".fig-scrubber").getAttribute("aria-valuetext").startsWith("0 ns"));
      await page.getByRole("button", { name: "Pause" }).click();
      assert.match(await parts(page).why.innerText(), /worker 0/);
    }, { reducedMotion: "reduce" });
  });

  test("is explored by the pointer: a block, the lanes, the chips", async () => {
    await onFigures(FIGURES.timeline, async (page) => {
      const { why, text } = parts(page);
      const canvas = page.locator(".fig-canvas svg");
      const { width } = await canvas.boundingBox();
      const lane = await page.locator(".lane-name", { hasText: "E blocker" }).boundingBox();
      const { y } = await canvas.boundingBox();
      await canvas.click({ position: { x: width * 0.6, y: lane.y - y + 7 } });
      assert.match(await why.innerText(), /^E blocker waited 10 µs for its poll 2/);
      await page.getByRole("button", { name: "by worker" }).click();
      assert.match(await canvas.textContent(), /W1/);
      await page.getByRole("button", { name: /longest wait/ }).click();
      assert.match(await why.innerText(), /^heartbeat/);
      await page.getByRole("button", { name: /idle/ }).click();
      assert.match(await why.innerText(), /Worker 1 is parked longest from .* nothing unparks it/);
      assert.match(await text(), /worker 1 is parked/);
    });
  });

  test("fills the screen by button or key, and Escape leaves it", async () => {
    for (const [theme, width] of [["light", 1280], ["navy", 360]]) {
      await onFigures(FIGURES.timeline, async (page) => {
        const button = page.getByRole("button", { name: "Full screen" });
        await button.click();
        await page.waitForFunction(() => document.fullscreenElement?.id === "fig-timeline");
        assert.equal(await button.getAttribute("aria-pressed"), "true");
        assert(await hasFocus(button));
        const { x, y } = await page.locator("#fig-timeline").boundingBox();
        assert.deepEqual([x, y], [0, 0]);
        await assertFits(page, await page.evaluate(() => innerWidth));
        await assertAccessible(page, "main figure");
        // What a browser's own Escape does; the key itself doesn't reach the page.
        await page.evaluate(() => document.exitFullscreen());
        // The page hears of it with the next frame only.
        await page.waitForFunction(() => !document.querySelector("#fig-timeline").matches(".fig-large"));
        assert(await hasFocus(button), "the focus is where it was");
        await page.keyboard.press("f");
        await page.waitForFunction(() => document.fullscreenElement);
        await page.keyboard.press("f");
        await page.waitForFunction(() => !document.fullscreenElement);
      }, { theme, viewport: { width, height: 740 } });
    }
    const prepare = (page) => page.addInitScript(() => (Element.prototype.requestFullscreen = undefined));
    await onFigures(FIGURES.timeline + '<p><a href="#">behind</a></p>', async (page) => {
      await page.getByRole("button", { name: "Full screen" }).press("Enter");
      const box = await page.locator("#fig-timeline").boundingBox();
      assert.deepEqual([box.x, box.y, box.width, box.height], [0, 0, 1280, 900], "the page is covered where there is no full screen");
      await page.locator("#fig-timeline summary").last().focus();
      await page.keyboard.press("Tab");
      assert(await page.evaluate(() => document.querySelector("#fig-timeline").contains(document.activeElement)), "the focus stays in sight");
      await page.keyboard.press("Escape");
      assert.equal(await page.locator(".fig-large").count(), 0);
    }, { prepare });
  });

  test("shows what becomes of a scheduler's queues, or not, as the reader likes", async () => {
    await onFigures(FIGURES.queues, async (page) => {
      const marks = page.locator(".fig-canvas :is(.queue, .carried, .notify)");
      assert.equal(await marks.count(), 5);
      assert.match(await page.locator(".fig-signs").innerText(), /tasks in a queue[^]*tasks move: stolen/);
      const filter = page.getByRole("button", { name: "queues", exact: true });
      await filter.press("Enter");
      assert.equal(await filter.getAttribute("aria-pressed"), "false");
      assert.equal(await marks.count(), 0);
      assert.doesNotMatch(await page.locator(".fig-signs").innerText(), /queue/);
      await filter.click();
      await openText(page);
      assert.match(await page.locator(".fig-text").innerText(), /1 steal of 2 tasks/);
      const table = page.getByRole("group", { name: /^The queues of/ });
      assert.match(await table.innerText(), /worker 1\s+steals 2 from worker 0/);
      await page.locator(".fig-scrubber").focus();
      for (let presses = 0; presses < 9; presses += 1) await page.keyboard.press(".");
      assert.match(await parts(page).text(), /worker 0 runs burst \(\d in its queue\)/);
      await assertAccessible(page, "main figure");
      await page.getByRole("button", { name: "by task" }).click();
      assert.equal(await filter.count(), 0);
    });
  });

  test("is compared with another on one axis", async () => {
    await onFigures(FIGURES.compared, async (page) => {
      assert.deepEqual(await page.locator(".fig-chip").allInnerTexts(), ["above: longest poll 3.50 ms (E)", "above: longest wait 2.95 ms (H)"]);
      assert.equal(await page.locator(".fig-picture .title").count(), 2);
      assert.equal(await page.locator(".axis .unit").count(), 1);
      assert.match(await parts(page).text(), /E blocks: worker 0 .*; E blocks: worker 0 /);
    });
  });

  test("asks for a guess, by pointer or keyboard, remembers it, and never insists", async () => {
    await onFigures(FIGURES.guessed, async (page) => {
      const guess = page.getByRole("slider", { name: "Your guess" });
      assert.equal(await guess.getAttribute("aria-valuetext"), "no guess yet");
      assert.doesNotMatch(await page.locator("ws-timeline").textContent(), /waits \d|2\.95/);
      await guess.focus();
      await page.keyboard.press("ArrowRight");
      assert.match(await guess.getAttribute("aria-valuetext"), /µs$/);
      const canvas = page.locator(".fig-canvas svg");
      const { width, height } = await canvas.boundingBox();
      await canvas.click({ position: { x: width / 2, y: height / 3 } });
      assert.match(await guess.getAttribute("aria-valuetext"), /ms$/);
      await page.getByRole("button", { name: "Check" }).click();
      assert.match(await parts(page).why.innerText(), /^You guessed .* ms; it was at 5\.04 ms, .* later\. heartbeat waited 2\.95 ms/);
      assert.match(await page.locator(".guess-label").textContent(), /guessed .* too early/);
      assert(await hasFocus(page.locator(".fig-scrubber")), "the focus is not lost");
      await page.reload();
      assert.match(await page.locator(".guess-label").textContent(), /too early/);
      await page.locator(".fig-scrubber").focus();
      await page.keyboard.press("r");
      await page.getByRole("button", { name: "I'll just look" }).click();
      assert.equal(await page.locator(".guess-label").count(), 0);
      assert.match(await parts(page).why.innerText(), /^heartbeat waited/);
    });
  });

  test("has a link to each view, there and back", async () => {
    let link;
    await onFigures(FIGURES.timeline, async (page) => {
      await page.getByRole("button", { name: "by worker" }).click();
      await page.getByRole("button", { name: /longest poll/ }).click();
      await page.locator(".fig-menu summary").click();
      await page.getByRole("button", { name: "Copy a link" }).click();
      link = await page.evaluate(() => navigator.clipboard.readText());
    }, { permissions: ["clipboard-read", "clipboard-write"] });
    const { hash } = new URL(link);
    assert.match(hash, /^#fig-timeline\?s=view:worker,at:1530000,range:0-6230000,poll:0\.5$/);
    const room = '<div style="height: 3000px"></div>';
    await onFigures(room + FIGURES.timeline, async (page) => {
      assert.match(await parts(page).why.innerText(), /^E blocker waited/);
      assert.equal(await page.getByRole("button", { name: "by worker" }).getAttribute("aria-pressed"), "true");
      assert((await page.locator("#fig-timeline").boundingBox()).y < 900, "it is scrolled to");
    }, { fragment: hash });
  });

  test("loads a file, says what is wrong with a bad one, and takes what is dropped or pasted", async () => {
    await onFigures(FIGURES.empty, async (page) => {
      const load = (text) => page.locator("input[type=file]").first().setInputFiles({ name: "trace.json", mimeType: "application/json", buffer: Buffer.from(text) });
      const alert = page.locator(".ws-figure").getByRole("alert");
      await load("not json");
      await alert.filter({ hasText: "This is not JSON: load a file" }).waitFor();
      await load('{"schema":"workshop.trace/2"}');
      await alert.filter({ hasText: "newer format" }).waitFor();
      await assertAccessible(page);
      await load(TRACE);
      await page.locator(".fig-canvas .fig-picture").waitFor();
      assert.equal(await alert.count(), 0);
      await load("[]");
      await alert.filter({ hasText: "workshop.trace/1" }).waitFor();
      assert(await page.locator(".fig-canvas .fig-picture").isVisible(), "a bad file takes nothing away");
      const give = (kind, text) => page.evaluate(([kind, text]) => {
        const given = new DataTransfer();
        if (kind === "paste") given.setData("text", text);
        else given.items.add(new File([text], "trace.json"));
        const event = kind === "paste" ? new ClipboardEvent("paste", { clipboardData: given, bubbles: true }) : new DragEvent("drop", { dataTransfer: given, bubbles: true });
        document.querySelector("ws-timeline").dispatchEvent(event);
      }, [kind, text]);
      await openText(page);
      await give("paste", TRACE.replace('"E blocks"', '"pasted"'));
      await page.getByText("Polls of pasted").waitFor({ state: "attached" });
      await give("drop", TRACE.replace('"E blocks"', '"dropped"'));
      await page.getByText("Polls of dropped").waitFor({ state: "attached" });
    });
  });

  test("is saved, for itself and for Chrome, and opened in Perfetto", async () => {
    const prepare = (page) => page.addInitScript(() => (globalThis.open = (address) => void (globalThis.opened = address)));
    await onFigures(FIGURES.timeline, async (page) => {
      const saved = async (name) => {
        const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
        const chunks = [];
        for await (const chunk of await download.createReadStream()) chunks.push(chunk);
        return JSON.parse(Buffer.concat(chunks));
      };
      await page.locator(".fig-menu summary").click();
      assert.deepEqual(await saved("Save the trace"), JSON.parse(TRACE));
      assert((await saved("Save for Chrome")).traceEvents.length > 30);
      await page.getByRole("button", { name: "Open in Perfetto" }).click();
      assert.equal(await page.evaluate(() => globalThis.opened), "https://ui.perfetto.dev");
      await page.keyboard.press("Escape");
      assert(await hasFocus(page.locator(".fig-menu summary")));
    }, { prepare });
  });

  test("shows the reader's own run, and the recorded one beside it", async () => {
    const snippet = '<pre><code class="language-rust editable snippet-beats release">fn main() {}</code></pre>';
    const own = JSON.parse(TRACE.replace('"a made-up machine"', '"my machine"'));
    const answer = [{ type: "figure", name: "beat", document: own }, { type: "figure", name: "unknown", document: {} }, { type: "exit", reason: "exited", code: 0 }];
    let asked;
    const prepare = (page) => page.route("**/api/run", (route) => {
      asked = route.request().postDataJSON();
      return route.fulfill({ contentType: "application/x-ndjson", body: answer.map((event) => `${JSON.stringify(event)}\n`).join("") });
    });
    const mine = figure("fig-mine", "ws-timeline", { snippet: "beats" }, { beat: TRACE });
    const others = figure("fig-others", "ws-timeline", { snippet: "drums" }, { beat: TRACE });
    await onFigures(snippet + mine + others, async (page) => {
      await page.getByRole("button", { name: "Run" }).click();
      await page.locator("#fig-mine").getByText("This is the trace of your own run.").waitFor();
      assert.equal(asked.mode, "release");
      const source = page.locator("#fig-mine .fig-source");
      assert.match(await source.innerText(), /my machine/);
      await page.locator("#fig-mine").getByLabel("Which run").selectOption("both");
      assert.match(await source.innerText(), /a made-up machine.*my machine/);
      assert.deepEqual(await page.locator("#fig-mine .fig-picture .title").allTextContents(), ["E blocks, recorded", "E blocks, yours"]);
      await assertAccessible(page);
      assert.match(await page.locator("#fig-others .fig-source").innerText(), /a made-up machine/);
      assert.equal(await page.locator("#fig-others").getByLabel("Which run").count(), 0);
    }, { prepare, token: true });
  });

  test("stands small under the output of its program, with the recorded run beside and a link up", async () => {
    const room = '<div style="height: 3000px"></div>';
    const snippet = '<pre><code class="language-rust editable snippet-beats">fn main() {}</code></pre>';
    const own = JSON.parse(TRACE.replace('"a made-up machine"', '"my machine"'));
    const answer = [{ type: "figure", name: "beat", document: own }, { type: "exit", reason: "exited", code: 0 }];
    const prepare = (page) => page.route("**/api/run", (route) => route.fulfill({ contentType: "application/x-ndjson", body: answer.map((event) => `${JSON.stringify(event)}\n`).join("") }));
    const mine = figure("fig-mine", "ws-timeline", { snippet: "beats", predict: "poll:heartbeat:3" }, { beat: TRACE });
    await onFigures(mine + room + snippet, async (page) => {
      const copy = page.locator(".snippet .fig-copy");
      assert.equal(await copy.count(), 0, "before it has run there is none");
      for (const runs of [1, 2]) {
        await page.getByRole("button", { name: "Run" }).click();
        await copy.locator(".fig-picture .lane-name").first().waitFor();
        assert.equal(await copy.count(), 1, `after ${runs} runs`);
      }
      assert(await copy.locator(".fig-canvas").isVisible());
      assert(!(await copy.getByRole("button", { name: "Play" }).isVisible()), "its controls are those of the figure");
      await copy.getByLabel("Which run").selectOption("both");
      assert.deepEqual(await copy.locator(".fig-picture .title").allTextContents(), ["E blocks, recorded", "E blocks, yours"]);
      const ids = await page.locator("[id]").evaluateAll((all) => all.map(({ id }) => id));
      assert.equal(new Set(ids).size, ids.length, "no id stands twice");
      await assertAccessible(page, ".snippet");
      await copy.getByRole("link", { name: /Up to this figure/ }).click();
      assert((await page.locator("#fig-mine").boundingBox()).y < 200, "the link leads to the figure");
    }, { prepare, token: true });
  });

  test("takes at most three pages of paper, with all its tables", async () => {
    await onFigures(FIGURES.queues, async (page) => {
      const paper = await page.pdf({ format: "A4" });
      const pages = paper.toString("latin1").match(/\/Type\s*\/Page[^s]/g).length;
      assert(pages <= 3, `${pages} pages`);
    });
  });

  test("takes the workshop's latest trace, asked for once and silently", async () => {
    const latest = figure("fig-latest", "ws-timeline", { latest: "" }, {});
    for (const [answer, isDrawn] of [[{ status: 200, contentType: "application/json", body: TRACE }, true], [{ status: 204 }, false]]) {
      let times = 0;
      const prepare = (page) => page.route("**/api/traces/latest", (route) => {
        times += 1;
        return route.fulfill(answer);
      });
      await onFigures(latest, async (page) => {
        if (isDrawn) await page.locator(".fig-canvas .fig-picture").waitFor();
        else await page.waitForTimeout(300);
        assert.equal(await page.locator(".fig-canvas .fig-picture").count(), isDrawn ? 1 : 0);
        assert.equal(await page.locator(".fig-error:visible").count(), 0);
        assert.equal(times, 1);
      }, { prepare, token: true });
    }
  });
});

describe("a sweep", { skip: reasonToSkip() }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  test("has a handle that snaps, a budget and a model, all by keyboard", async () => {
    await onFigures(FIGURES.sweep, async (page) => {
      const address = page.url();
      const handle = page.getByRole("slider", { name: "numbers between two yields" });
      const text = () => handle.getAttribute("aria-valuetext");
      await handle.focus();
      assert.match(await text(), /^N = 256: 9\d % of the peak; one time slice holds the worker for 3\.\d+ µs\. Half of the waits are under/);
      await page.keyboard.press("ArrowRight");
      assert.match(await text(), /^N = 512: /);
      await page.keyboard.press(",");
      await page.keyboard.press(",");
      assert.match(await text(), /^N = 128: /);
      await page.keyboard.press("p");
      assert.match(await text(), /^N = 256: /);
      const budget = page.getByRole("slider", { name: "The longest wait allowed" });
      assert.match(await said(page), /within 50 µs, N may be at most/);
      await budget.focus();
      for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("PageDown");
      assert.doesNotMatch(await said(page), /within 50 µs/);
      await page.getByLabel("victims may wait at most").uncheck();
      assert.equal(await page.locator(".permitted").count(), 0);
      const dotted = await page.locator("svg.sweep .model").first().getAttribute("d");
      await page.getByRole("slider", { name: /a yield costs/ }).focus();
      await page.keyboard.press("PageUp");
      assert.notEqual(await page.locator("svg.sweep .model").first().getAttribute("d"), dotted);
      await page.getByRole("button", { name: "fit" }).click();
      assert.equal(await page.locator("svg.sweep .model").first().getAttribute("d"), dotted);
      assert.equal(page.url(), address);
    });
  });

  test("shows the worker at the chosen N, from data of another figure of the page", async () => {
    const traces = Object.fromEntries([64, 256].map((n) => [`turns-${n}`, QUEUES]));
    const sweep = figure("fig-turned", "ws-sweep", { traces: Object.keys(traces).join(" "), at: "256", snippet: "beats" }, { sweep: SWEEP });
    await onFigures(sweep + figure("fig-both", "ws-timeline", {}, traces), async (page) => {
      const turns = page.locator("#fig-turned .fig-turns");
      assert.equal(await turns.locator(".fig-picture").count(), 1);
      assert.match(await turns.innerText(), /A worker at N = 256: \d+ polls in/);
      assert.equal(await page.locator("#fig-both .fig-canvas .fig-picture").count(), 1, "the other figure has its data still");
      await page.locator("#fig-turned .fig-scrubber").focus();
      await page.keyboard.press("ArrowRight");
      assert.match(await turns.innerText(), /The worker was not recorded at N = 512, only at 64 and 256/);
      assert.equal(await turns.locator(".fig-picture").count(), 0);
      await turns.getByRole("button", { name: "N = 64" }).click();
      assert.match(await page.locator("#fig-turned .fig-scrubber").getAttribute("aria-valuetext"), /^N = 64: /);
      assert.equal(await turns.locator(".fig-picture").count(), 1);
      await assertAccessible(page, "main figure");
    });
  });

  test("is drawn by the pointer or by sliders, and revealed", async () => {
    await onFigures(FIGURES.drawn, async (page) => {
      assert.equal(await page.locator("svg.sweep .median").count(), 0, "no curve is shown yet");
      const { x, y, width } = await page.locator("svg.sweep").boundingBox();
      await page.mouse.move(x + 80, y + 180);
      await page.mouse.down();
      await page.mouse.move(x + width - 60, y + 40, { steps: 4 });
      await page.mouse.up();
      await page.getByText("Draw with sliders instead").click();
      const slider = page.getByRole("group", { name: "N = 16", exact: true }).getByRole("slider", { name: "wait" });
      assert.equal(await slider.getAttribute("aria-valuetext"), "not drawn");
      await slider.focus();
      await page.keyboard.press("PageUp");
      assert.match(await slider.getAttribute("aria-valuetext"), /µs|ns|ms/);
      await page.getByRole("button", { name: "Reveal" }).click();
      assert.match(await parts(page).why.innerText(), /^Your throughput was off by \d+ points of the peak on average, over 1\d points\. Your waits were off by a factor of/);
      assert((await page.locator("svg.sweep .median").count()) >= 2);
      await page.reload();
      assert((await page.locator("svg.sweep .drawn").first().getAttribute("d")).length > 20, "the guess is kept");
    });
  });

  test("keeps the recorded curve beside the reader's own, and has a link", async () => {
    await onFigures(FIGURES.sweep, async (page) => {
      const own = JSON.parse(SWEEP.replace('"a made-up machine"', '"my machine"'));
      await page.evaluate((document_) => document.dispatchEvent(new CustomEvent("workshop-figure", { detail: { snippet: "any", name: "sweep", document: document_ } })), own);
      const legend = page.locator(".fig-legend");
      assert.match(await legend.innerText(), /recorded: .*a made-up machine[^]*yours: .*my machine/);
      await assertAccessible(page);
    });
    await onFigures(FIGURES.sweep, async (page) => {
      assert.match(await page.locator(".fig-scrubber").getAttribute("aria-valuetext"), /^N = 4,096: /);
      assert.match(await said(page), /within 9 µs.*/);
    }, { fragment: "#fig-sweep?s=at:4096,budget:9000" });
  });
});

/** What is said, without the spaces that don't break. */
function parts(page) {
  const why = { innerText: async () => (await page.locator(".fig-why").innerText()).replaceAll("\u00a0", " ") };
  return { why, text: () => page.locator(".fig-scrubber").getAttribute("aria-valuetext") };
}

async function said(page) {
  return (await page.locator(".fig-said-list").innerText()).replaceAll("\u00a0", " ");
}

function hasFocus(locator) {
  return locator.evaluate((element) => element === document.activeElement);
}

async function openAll(page) {
  await page.locator(".ws-figure details").evaluateAll((all) => all.forEach((details) => (details.open = !details.classList.contains("fig-menu"))));
  await page.locator(".fig-menu").first().evaluate((menu) => (menu.open = true));
  await page.locator(".fig-table").first().waitFor();
}

/** The page doesn't scroll sideways; tables may. */
async function assertFits(page, width) {
  assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth), width);
  assert(await page.locator(".content").evaluate((content) => content.scrollWidth - content.clientWidth) <= 0);
}
