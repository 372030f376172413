// What a reader does to the time that a timeline shows: wheel, drag, keys, tips.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, pageWith, reasonToSkip } from "./browser.mjs";
import { FIGURES, onFigures, openText } from "./figures.mjs";

describe("a timeline, like a profiler,", { skip: reasonToSkip() }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  test("zooms at the pointer by Ctrl and the wheel, and leaves the wheel alone to the page", async () => {
    await onFigures(`${FIGURES.timeline}<div style="height: 3000px"></div>`, async (page) => {
      const whole = await range(page);
      const at = await timeAt(page, 0.75);
      await page.mouse.move(at.x, at.y);
      await page.keyboard.down("Control");
      for (let turns = 0; turns < 4; turns += 1) await page.mouse.wheel(0, -200);
      await page.keyboard.up("Control");
      await page.waitForFunction((before) => document.querySelector("ws-timeline").state.to - document.querySelector("ws-timeline").state.from < before / 4, whole.to - whole.from);
      const zoomed = await range(page);
      const now = zoomed.from + ((at.t - whole.from) / (whole.to - whole.from)) * (zoomed.to - zoomed.from);
      assert(Math.abs(now - at.t) < (whole.to - whole.from) * 0.01, `what was under the pointer at ${at.t} is now ${now}`);
      await page.locator(".fig-scrubber").focus();
      await page.keyboard.press("u");
      assert.deepEqual(await range(page), whole, "the turns of a wheel are undone at once");
      await page.mouse.wheel(0, 200);
      await page.waitForFunction(() => scrollY > 0);
      assert.deepEqual(await range(page), whole);
    });
  });

  test("shows the part that is dragged over, and moves it by Shift and a drag", async () => {
    await onFigures(FIGURES.timeline, async (page) => {
      const whole = await range(page);
      const [from, to] = [await timeAt(page, 0.4), await timeAt(page, 0.6)];
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x, to.y, { steps: 4 });
      const band = page.locator(".fig-band");
      assert.match(await band.innerText(), /ms$/);
      const { x, width } = await band.boundingBox();
      assert(Math.abs(x - from.x) < 2 && Math.abs(x + width - to.x) < 2);
      await page.mouse.up();
      assert.equal(await band.count(), 0);
      const part = await range(page);
      const near = (one, other) => Math.abs(one - other) < (whole.to - whole.from) * 0.01;
      assert(near(part.from, from.t) && near(part.to, to.t), JSON.stringify({ part, from, to }));
      await page.keyboard.down("Shift");
      await page.mouse.move(to.x, to.y);
      await page.mouse.down();
      await page.mouse.move(from.x, from.y, { steps: 4 });
      await page.mouse.up();
      await page.keyboard.up("Shift");
      const moved = await range(page);
      assert(moved.from > part.from, "what is dragged to the left is later");
      assert(near(moved.to - moved.from, part.to - part.from));
      await page.locator(".fig-scrubber").focus();
      await page.keyboard.press("u");
      assert.deepEqual(await range(page), part, "a drag is undone at once");
      await page.keyboard.press("u");
      assert.deepEqual(await range(page), whole);
    });
  });

  test("is moved by the arrow keys, too, and turns no page", async () => {
    await onFigures(FIGURES.timeline, async (page) => {
      const address = page.url();
      await page.getByRole("button", { name: "Closer" }).focus();
      for (const key of ["+", "+"]) await page.keyboard.press(key);
      const before = await range(page);
      await page.keyboard.press("ArrowLeft");
      const earlier = await range(page);
      assert(earlier.from < before.from && Math.abs(earlier.to - earlier.from - before.to + before.from) < 1);
      await page.keyboard.press("ArrowRight");
      assert(Math.abs((await range(page)).from - before.from) < 1);
      await page.keyboard.press("u");
      assert.deepEqual(await range(page), before);
      for (let presses = 0; presses < 30; presses += 1) await page.keyboard.press("ArrowLeft");
      assert.equal((await range(page)).from, 0, "there is nothing before the start");
      assert.equal(page.url(), address);
    });
  });

  test("tells what is under the pointer there, and at the cursor while the slider has the focus", async () => {
    await onFigures(FIGURES.timeline, async (page) => {
      const tip = page.locator(".fig-tip");
      assert.equal(await tip.count(), 0);
      const lane = await page.locator(".lane-name", { hasText: "E blocker" }).boundingBox();
      const { x } = await timeAt(page, 0.6);
      await page.mouse.move(x, lane.y + 7);
      assert.match((await tip.innerText()).replaceAll("\u00a0", " "), /^E blocker, poll 2: 3\.50 ms from 1\.53 ms, after a wait of 10(\.0)? µs$/);
      const box = await tip.boundingBox();
      assert(Math.abs(box.x + box.width / 2 - x) < 130 && box.y > lane.y, "it's at the pointer");
      await page.mouse.move(0, 0);
      assert.equal(await tip.count(), 0);
      await page.locator(".fig-scrubber").focus();
      assert.match((await tip.innerText()).replaceAll("\u00a0", " "), /^5\.04 ms: worker 0 polls heartbeat/);
      await assertAccessible(page, "main figure");
      await page.keyboard.press("Escape");
      assert.equal(await tip.count(), 0, "Escape hides it");
      await page.locator(".fig-menu summary").focus();
      await page.locator(".fig-scrubber").focus();
      assert.equal(await tip.count(), 1);
    });
  });

  test("has larger lanes in full screen, where a click still meets its block", async () => {
    await onFigures(FIGURES.timeline, async (page) => {
      const height = () => page.locator(".fig-canvas .fig-picture").evaluate((svg) => svg.getBoundingClientRect().height);
      const before = await height();
      await page.getByRole("button", { name: "Full screen" }).click();
      await page.waitForFunction(() => document.fullscreenElement);
      await page.waitForFunction((before) => document.querySelector(".fig-canvas .fig-picture").getBoundingClientRect().height > before * 1.2, before);
      const lane = await page.locator(".lane-name", { hasText: "E blocker" }).boundingBox();
      const { x } = await timeAt(page, 0.6);
      await page.mouse.click(x, lane.y + lane.height / 2);
      assert.match(await page.locator(".fig-why").innerText(), /^E blocker waited/);
      assert.equal(await page.evaluate(() => document.querySelector("figure.fig").scrollWidth > innerWidth), false);
    }, { viewport: { width: 1440, height: 900 } });
  });

  test("shows the tasks in the queues as chips, which move when they are stolen", async () => {
    await onFigures(FIGURES.queues, async (page) => {
      const steal = await page.evaluate(() => document.querySelector("ws-timeline").timelines()[0].moves.find(({ kind }) => kind === "steal"));
      const chips = (part) => page.evaluate(([t, part]) => {
        const figure = document.querySelector("ws-timeline");
        figure.seek(t + part * (figure.state.to - figure.state.from));
        return figure.querySelector(".queue-chips").getAttribute("d").split("z").filter(Boolean).map((one) => Number(/^M[\d.]+ ([\d.]+)/.exec(one)[1]));
      }, [steal.t, part]);
      const [before, leaving, halfway, there] = [await chips(-0.0001), await chips(0), await chips(0.02), await chips(0.05)];
      const rows = [...new Set([...before, ...there])].toSorted((a, b) => a - b);
      assert.equal(rows.length, 2, JSON.stringify({ before, there }));
      assert.deepEqual(leaving.toSorted(), before.toSorted(), "they leave from the queue where they were");
      assert.equal(halfway.filter((y) => !rows.includes(y)).length, steal.count, "all that are stolen are on their way");
      assert.notDeepEqual(there.toSorted(), before.toSorted());
      await page.getByRole("button", { name: "queues", exact: true }).click();
      assert.equal(await page.locator(".queue-chips").count(), 0);
    });
  });

  test("of the book opens at the point that it makes, with words at it", async () => {
    await onPage(await pageWith("#fig-stealing-burst"), async (page) => {
      const figure = page.locator("#fig-stealing-burst");
      assert.match(await figure.locator(".axis .unit").textContent(), /µs/);
      assert.equal(await figure.locator("ws-timeline").evaluate(({ state }) => state.to), 160_000);
      assert.equal(await figure.locator(".mark-text").textContent(), "half of the queue moves at once");
      assert.equal(await figure.locator(".queue-count").first().textContent(), "4");
      await openText(figure);
      assert.match((await figure.locator(".fig-text").innerText()).replaceAll("\u00a0", " "), /At 132 µs: half of the queue moves at once\./);
      await figure.getByRole("button", { name: "all", exact: true }).click();
      assert((await figure.locator("ws-timeline").evaluate(({ state }) => state.to)) > 800_000);
    }, { token: false });
  });
});

function range(page) {
  return page.locator("ws-timeline").evaluate(({ state: { from, to } }) => ({ from, to }));
}

/** A place in the picture, at a part of what is shown, and its time. */
async function timeAt(page, part) {
  return page.locator(".fig-canvas .fig-picture").evaluate((svg, part) => {
    const figure = svg.closest("ws-timeline");
    const box = svg.getBoundingClientRect();
    const line = svg.querySelector(".lane-line");
    const scale = box.width / svg.viewBox.baseVal.width;
    const [left, right] = ["x1", "x2"].map((name) => Number(line.getAttribute(name)));
    const { from, to } = figure.state;
    return { x: box.x + (left + part * (right - left)) * scale, y: box.y + 40 * scale, t: from + part * (to - from) };
  }, part);
}
