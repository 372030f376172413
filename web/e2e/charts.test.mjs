// Charts: drawn from the page's own tables, which stay.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertAccessible, launch, onPage, onPages, pageWith, pagesWith, reasonToSkip } from "./browser.mjs";

describe("a chart", { skip: reasonToSkip() }, () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  test("has a bar for each row of its table, and another column at a click", async () => {
    await onPage(await pageWith('div.chart[data-own="solution 14"]'), async (page) => {
      const chart = page.locator("div.chart").first();
      const picture = chart.getByRole("img");
      const table = page.locator("details.chart-table").first();
      const cells = (column) => table.locator(`tbody tr td:nth-child(${column})`).allTextContents();
      const values = () => chart.locator(".chart-row:not(.chart-axis) .chart-value").evaluateAll((all) => all.map((it) => it.firstChild.textContent));
      assert.deepEqual(await values(), (await cells(2)).map((text) => text.split(" ")[0]));
      const [own] = await values();
      assert.ok((await picture.getAttribute("aria-label")).startsWith(`wake_many: the lowest is solution 14 at ${own} µs`));
      await chart.getByRole("button", { name: "yield_many" }).click();
      assert.deepEqual(await values(), (await cells(3)).map((text) => text.split(" ")[0]));
      assert.equal(await picture.getAttribute("aria-label"), await chart.getByRole("status").textContent());
      await chart.getByRole("button", { name: "chained_spawn" }).click();
      assert.equal(await chart.locator(".own").filter({ hasText: "without" }).count(), 0);
      const ranges = (await cells(4)).map((text) => text.match(/\[(.*)–(.*)\]/).slice(1).map((it) => Number(it.replaceAll(",", ""))));
      const overlaps = ranges.slice(1).some(([low]) => low <= ranges[0][1]);
      assert.equal((await chart.getByText("no clear difference from the lowest").count()) > 0, overlaps, `${ranges.join(" ")}`);
      await table.locator("summary").click();
      assert.equal(await table.locator("table").isVisible(), true);
      const widths = await chart.locator(".chart-bar").evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
      assert.ok(widths.every((width) => width > 0), widths.join());
    });
  });

  test("has the reader's own figures beside the recorded ones, and says where there is no clear difference", async () => {
    const one = (contender, parameter, median, spread) => ({ contender, parameter, median, range: [median - spread, median + spread] });
    const measured = [one("exercise-4", "50", 17.1, 0.3), one("solution-4", "50", 17.3, 0.2), one("exercise-4", "10", 8.2, 0.1), one("solution-4", "10", 4.1, 0.1)];
    const prepare = (page) => page.route("**/exercises/4/bench", (route) => route.fulfill({ json: measured }));
    await onPage(await pageWith('div.chart[data-bench="4"]'), async (page) => {
      const chart = page.locator("div.chart").first();
      await chart.locator(".here").first().waitFor();
      const here = () => chart.locator(".here").evaluateAll((rows) => rows.map((row) => `${row.querySelector(".chart-name").textContent}: ${row.querySelector(".chart-value").textContent}`));
      assert.deepEqual(await here(), ["▶ yours, on your machine: 17.1", "solution 4, on your machine: 17.3"]);
      assert.match(await chart.getByRole("status").textContent(), /the lowest is solution 4 .* no clear difference between yours and solution 4\.$/);
      await chart.getByRole("button", { name: "10", exact: true }).click();
      assert.match(await chart.getByRole("status").textContent(), /yours takes 2 times as long as solution 4\.$/);
      await chart.getByRole("button", { name: "0", exact: true }).click();
      assert.deepEqual(await here(), [], "what wasn't measured");
      await assertAccessible(page, "div.chart");
    }, { prepare });
    await onPage(await pageWith('div.chart[data-bench="4"]'), async (page) => {
      await page.locator(".chart-bars").first().waitFor();
      assert.equal(await page.locator(".here").count(), 0);
    }, { token: false });
  });

  test("of ratios colors the table, but no noise", async () => {
    await onPage(await pageWith('div.chart[data-kind="heat"]'), async (page) => {
      const cell = (text) => page.locator("table.heat").first().getByRole("cell", { name: text, exact: true }).first();
      assert.match(await cell("2.83").getAttribute("class"), /hot/);
      for (const text of ["1.13", "1.96"]) assert.doesNotMatch((await cell(text).getAttribute("class")) ?? "", /hot|cold/, text);
      const strength = (text) => cell(text).evaluate((it) => parseInt(it.style.getPropertyValue("--heat")));
      assert.ok((await strength("2.83")) > (await strength("1.73")));
    });
  });

  test("fits a phone, and is for all", async () => {
    const paths = await pagesWith("div.chart");
    assert.ok(paths.length >= 3, paths.join());
    for (const settings of [{ viewport: { width: 390, height: 844 } }, { theme: "navy" }, { forcedColors: "active" }]) {
      await onPages(paths, async (page, path) => {
        await page.locator("table.heat, .chart-bars").first().waitFor();
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path);
        await assertAccessible(page, "main");
      }, settings);
    }
  });

  test("costs a page without one nothing", async () => {
    await onPage("introduction.html", async (page) => {
      const asked = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
      assert.equal(asked.filter((name) => name.includes("charts.js")).length, 0);
    });
  });
});
