// The book as plain files: on somebody's web server, and opened from disk.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { launch, reasonToSkip } from "./browser.mjs";

const BOOK = process.env.WORKSHOP_BOOK && resolve(process.env.WORKSHOP_BOOK);
const HOST = "http://book.example";
const TYPES = { html: "text/html", js: "text/javascript", css: "text/css", woff2: "font/woff2", svg: "image/svg+xml", png: "image/png" };

describe("the static book", { skip: reasonToSkip() || (!BOOK && "set WORKSHOP_BOOK to the folder of the built book") }, () => {
  let browser;
  let path;
  before(async () => {
    browser = await launch();
    const pages = readdirSync(BOOK, { recursive: true }).filter((file) => file.endsWith(".html") && file !== "print.html");
    path = pages.find((file) => /class="[^"]*\bsnippet-/.test(readFileSync(join(BOOK, file), "utf8")));
    assert(path, "no page has a snippet");
  });
  after(() => browser.close());

  test("on a web server asks for nothing but its own files, and says where code would go", async () => {
    await visit(`${HOST}/${path}`, async (page, requests) => {
      await page.getByText("This page is read-only here").first().waitFor();
      assert.deepEqual(requests.filter((address) => !existsSync(fileOf(address))), []);
      const links = page.getByRole("link", { name: "Send to play.rust-lang.org" });
      const local = await page.locator("code.local-only").count();
      assert.equal(await links.count(), (await page.locator(".snippet").count()) - local);
      for (const recorded of await page.locator(".recorded pre").all()) assert(await recorded.isVisible());
    });
  });

  test("opened from disk reads as well, and asks for nothing at all", async () => {
    await visit(pathToFileURL(join(BOOK, path)).href, async (page, requests) => {
      await page.getByText("This page is read-only here").first().waitFor();
      assert.deepEqual(requests.filter((address) => !address.startsWith("file:")), []);
      assert(await page.evaluate(() => document.fonts.check('16px "Source Serif 4"')));
    });
  });

  test("opened from disk draws its figures", async () => {
    const drawn = readdirSync(BOOK, { recursive: true }).find((file) => file.endsWith("timeline.html"));
    await visit(pathToFileURL(join(BOOK, drawn)).href, async (page, requests) => {
      assert((await page.locator("ws-timeline .fig-picture").count()) >= 3);
      await page.locator(".fig-menu summary").first().click();
      assert.equal(await page.getByRole("button", { name: "Open in Perfetto" }).count(), 0, "nobody could answer");
      assert.deepEqual(requests.filter((address) => !address.startsWith("file:")), []);
    });
  });

  async function visit(address, look) {
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const faults = [];
      const requests = [];
      page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
      page.on("pageerror", (error) => faults.push(error.stack));
      page.on("request", (request) => requests.push(request.url()));
      await page.route(`${HOST}/**`, (route) => {
        const file = fileOf(route.request().url());
        if (!existsSync(file)) return route.fulfill({ status: 404 });
        return route.fulfill({ body: readFileSync(file), contentType: TYPES[file.split(".").at(-1)] });
      });
      await page.goto(address);
      await look(page, requests);
      assert.deepEqual(faults, []);
    } finally {
      await context.close();
    }
  }
});

/** @param {string} address on the imagined host */
function fileOf(address) {
  return join(BOOK, decodeURIComponent(new URL(address).pathname));
}
