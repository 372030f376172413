// The book as plain files: on any web server, and opened from disk.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { assertAccessible, launch, reasonToSkip, together, wronglyFolded } from "./browser.mjs";
import { serveBook, servePlayground } from "./server.mjs";

const BOOK = process.env.WORKSHOP_BOOK && resolve(process.env.WORKSHOP_BOOK);
const HOST = "http://book.example";
const PLAY = "https://play.rust-lang.org/execute";
const CARGO = "   Compiling playground v0.0.1 (/playground)\n";
const RAN = "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.61s\n     Running `target/debug/playground`\n";
const ERROR = `error[E0425]: cannot find function \`oops\` in this scope\n --> src/main.rs:2:5\n  |\n2 |     oops()\n\nerror: could not compile \`playground\` (bin "playground") due to 1 previous error\n`;

describe("the static book", { skip: reasonToSkip() || (!BOOK && "set WORKSHOP_BOOK to the folder of the built book") }, () => {
  let browser;
  let server;
  let path;
  before(async () => {
    server = await serveBook(BOOK);
    // To the page it is some host of the web, where no `cargo workshop` can be.
    browser = await launch(`--host-resolver-rules=MAP ${new URL(HOST).host} 127.0.0.1:${server.port}`);
    // The first page with a snippet that can run elsewhere, too.
    const isPortable = (classes) => /\bsnippet-/.test(classes) && !/\b(local-only|limit-60s)\b/.test(classes);
    path = pages().find((file) => [...readFileSync(join(BOOK, file), "utf8").matchAll(/class="([^"]*)"/g)].some(([, classes]) => isPortable(classes)));
    assert(path, "no page has a snippet that can run elsewhere");
  });
  after(() => Promise.all([browser.close(), server.close()]));

  test("on a web server asks for nothing but its own files, says where code would go, and marks what is local only", async () => {
    await visit(`${HOST}/${path}`, async (page, requests) => {
      await page.getByText("Run sends this program to play.rust-lang.org").first().waitFor();
      assert.deepEqual(requests.filter((address) => !existsSync(fileOf(address))), []);
      assert.deepEqual(await wronglyFolded(page), []);
    });
    await together(pages(), {}, (context, file) =>
      visitIn(context, `${HOST}/${file}`, async (page, requests) => {
        const all = await page.locator(".snippet").count();
        const local = await page.locator(".snippet:has(code:is(.local-only, .limit-60s))").count();
        await page.waitForFunction(() => [...document.querySelectorAll(".snippet")].every((one) => one.querySelector(".snippet-status:not(:empty), .snippet-hint")));
        // Some stand in an answer that is still folded.
        assert.equal(await page.getByRole("button", { name: "Run on play.rust-lang.org", includeHidden: true }).count(), all - local, file);
        assert.equal(await page.getByText("Local only:").count(), local, file);
        assert.equal(requests.filter((address) => !address.startsWith(HOST)).length, 0, "nothing is sent before a click");
        // The bars are what a static page has otherwise than a served one.
        await assertAccessible(page, ".snippet-bar");
        await page.evaluate(() => document.documentElement.classList.replace("light", "navy"));
        await assertAccessible(page, ".snippet-bar", ["color-contrast"]);
      }),
    );
  });

  test("has a page of its own for addresses that don't exist, which leads on", () => {
    const missing = readFileSync(join(BOOK, "404.html"), "utf8");
    const main = /<main>([^]*)<\/main>/.exec(missing)[1];
    assert.match(main, /This page isn't here|This page isn’t here/);
    const links = [...main.matchAll(/<a href="([^"#]+)"/g)].map(([, link]) => link);
    assert(links.length >= 2);
    for (const link of links) assert(existsSync(join(BOOK, link)), link);
  });

  test("sends a program to play.rust-lang.org at a click, and shows what comes back", async () => {
    await visit(`${HOST}/${path}`, async (page, requests) => {
      let sent;
      await page.route(PLAY, (route) => {
        sent = route.request().postDataJSON();
        return route.fulfill({
          headers: { "Access-Control-Allow-Origin": "*" },
          json: { success: true, exitDetail: "Exited with status 0", stdout: "from afar\n", stderr: `${CARGO}${RAN}aside\n` },
        });
      });
      const snippet = remoteSnippet(page);
      await snippet.getByRole("button", { name: "Run on play.rust-lang.org" }).click();
      await snippet.getByText("Finished.").waitFor();
      assert.equal(await snippet.locator(".stdout").textContent(), "from afar\n");
      assert.match(await snippet.locator(".stderr").textContent(), /aside/);
      assert.deepEqual([sent.channel, sent.edition, sent.crateType, sent.tests], ["stable", "2024", "bin", false]);
      assert.match(sent.code, /fn main/);
      assert.deepEqual(requests.filter((address) => !address.startsWith(HOST)), [PLAY]);
    });
  });

  test("runs its programs on whatever server the page's head names", async () => {
    // On loopback the page asks whether `cargo workshop` serves it, and this server says 404.
    let answer;
    const playground = await servePlayground((call) => answer(call));
    const book = await serveBook(BOOK, () => playground.url);
    const host = new URL(playground.url).host;
    try {
      await visit(`${book.url}/${path}`, async (page) => {
        const snippet = remoteSnippet(page);
        const run = snippet.getByRole("button", { name: `Run on ${host}` });
        await snippet.getByText(`Run sends this program to ${host}`).waitFor();
        assert.equal(playground.calls.length, 0);

        answer = () => ({ body: { success: false, exitDetail: "Exited with status 101", stdout: "", stderr: CARGO + ERROR } });
        await edit(page, snippet, "fn main() {\n    oops()\n}\n");
        await run.click();
        await snippet.getByText("This does not compile.").waitFor();
        assert.match(await snippet.locator(".ws-mark").innerText(), /error\[E0425\]/);
        await snippet.getByRole("button", { name: "Go to line 2" }).click();
        await assertAccessible(page);

        const stdout = "\nrunning 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\n\nleft is not right\n\n\nfailures:\n    a\n";
        answer = () => ({ body: { success: false, exitDetail: "Exited with status 101", stdout, stderr: CARGO + RAN } });
        await edit(page, snippet, "#[test]\nfn a() { assert!(false) }\n");
        await run.click();
        await snippet.getByText("A test failed.").waitFor();
        assert.match(await snippet.locator(".test-message").innerText(), /left is not right/);
        const { code, tests, crateType, headers } = playground.calls.at(-1);
        assert.deepEqual([code, tests, crateType], ["#[test]\nfn a() { assert!(false) }\n", true, "lib"]);
        assert.deepEqual([headers.cookie, headers.referer], [undefined, undefined], "the program, and nothing else");

        answer = () => ({ status: 429, body: { error: "too many runs" } });
        await run.click();
        await snippet.getByText(`${host} refused: too many runs`).waitFor();

        answer = () => new Promise(() => {});
        await run.click();
        await snippet.getByText(`Waiting for ${host}`).waitFor();
        await snippet.getByRole("button", { name: "Stop" }).click();
        await snippet.getByText("Stopped.").waitFor();

        // Without a network: the words, and the text that was typed.
        await page.context().setOffline(true);
        await run.click();
        await snippet.getByText(`${host} cannot be reached`).waitFor();
        await page.context().setOffline(false);
        await page.reload();
        assert.match(await remoteSnippet(page).locator("code.editable").evaluate((code) => globalThis.ace.edit(code).getValue()), /assert!\(false\)/);
      }, /429|404|ERR_INTERNET_DISCONNECTED/);
      const nowhere = await serveBook(BOOK, () => "");
      try {
        await visit(`${nowhere.url}/${path}`, async (page) => {
          await page.getByText("This page is read-only here").first().waitFor();
          assert.equal(await page.getByRole("button", { name: /Run/ }).count(), 0);
        }, /404/);
      } finally {
        await nowhere.close();
      }
    } finally {
      await Promise.all([book.close(), playground.close()]);
    }
  });

  test("opened from disk reads as well, and asks for nothing at all", async () => {
    await visit(pathToFileURL(join(BOOK, path)).href, async (page, requests) => {
      await page.getByText("Run sends this program to play.rust-lang.org").first().waitFor();
      assert.deepEqual(requests.filter((address) => !address.startsWith("file:")), []);
      assert(await page.evaluate(() => document.fonts.check('16px "Source Serif 4"')));
    });
  });

  test("opened from disk draws its figures", async () => {
    const drawn = readdirSync(BOOK, { recursive: true }).find((file) => file.endsWith("timeline.html"));
    await visit(pathToFileURL(join(BOOK, drawn)).href, async (page, requests) => {
      assert((await page.locator("ws-timeline .fig-picture").count()) >= 3);
      await page.locator(".fig-menu summary").first().click();
      assert.equal(await page.getByRole("button", { name: "Open in Perfetto" }).count(), 0, "no server could answer");
      assert.deepEqual(requests.filter((address) => !address.startsWith("file:")), []);
    });
  });

  async function visit(address, look, errors) {
    const context = await browser.newContext();
    try {
      await visitIn(context, address, look, errors);
    } finally {
      await context.close();
    }
  }
});

/** Goes there in the context's one tab. */
async function visitIn(context, address, look, errors) {
  const page = context.pages()[0] ?? (await context.newPage());
  const faults = [];
  const requests = [];
  const watch = {
    console: (message) => message.type() === "error" && !errors?.test(message.text()) && faults.push(message.text()),
    pageerror: (error) => faults.push(error.stack),
    request: (request) => requests.push(request.url()),
  };
  for (const [event, listener] of Object.entries(watch)) page.on(event, listener);
  await page.goto(address);
  await look(page, requests);
  assert.deepEqual(faults, [], address);
  for (const [event, listener] of Object.entries(watch)) page.off(event, listener);
}

/** Those with programs. */
function pages() {
  const all = readdirSync(BOOK, { recursive: true }).filter((file) => file.endsWith(".html") && file !== "print.html").sort();
  return all.filter((file) => /class="[^"]*\bsnippet-/.test(readFileSync(join(BOOK, file), "utf8")));
}

function remoteSnippet(page) {
  return page.locator(".snippet:has(code:not(.local-only, .limit-60s))").first();
}

async function edit(page, snippet, code) {
  await snippet.locator("textarea").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(code);
}

/** @param {string} address on the imagined host */
function fileOf(address) {
  return join(BOOK, decodeURIComponent(new URL(address).pathname));
}
