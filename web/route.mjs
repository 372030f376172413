// The way of a new reader, as pictures: clone, one command, Start, the first red check,
// the first green one. `node route.mjs FOLDER` works in a clone of its own, which it
// leaves in FOLDER, and says how long each step has taken. Nothing in this checkout changes.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OUT = resolve(process.argv[2] ?? "route");
const CLONE = join(OUT, "clone");
const FILE = join(CLONE, "exercises/01-block-on/src/lib.rs");
const PATIENCE_MS = 600_000;
const BAR = /^\[[=> ]*\] \d+\/\d+/;

/** What a reader may write first: right, except that it never sleeps. */
const FIRST_TRY = `let mut future = std::pin::pin!(future);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }`;
const SECOND_TRY = `struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = std::pin::pin!(future);
    let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
    let mut cx = std::task::Context::from_waker(&waker);
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        std::thread::park();
    }`;

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
const began = Date.now();
const terminal = [];

/** @param {string} line */
function print(line) {
  // Of cargo's bar a terminal shows only how far it is last.
  if (BAR.test(terminal.at(-1) ?? "")) terminal.pop();
  terminal.push(line);
}

print("$ git clone …/async-workshop && cd async-workshop");
const cloned = spawnSync("git", ["clone", "--quiet", "--depth=1", `file://${ROOT}`, CLONE], { encoding: "utf8" });
if (cloned.status !== 0) throw new Error(cloned.stderr);
print("$ cargo workshop");
const started = Date.now();
const server = spawn("cargo", ["workshop", "serve", "--no-open", "--port", "0"], { cwd: CLONE, stdio: ["ignore", "pipe", "pipe"] });
const link = await new Promise((found, failed) => {
  let said = "";
  const hear = (/** @type {Buffer} */ data) => {
    said += data;
    for (const line of data.toString().split(/[\r\n]/).filter(Boolean)) print(line);
    const link = /http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]+/.exec(said)?.[0];
    if (link) found(link);
  };
  server.stdout.on("data", hear);
  server.stderr.on("data", hear);
  server.on("exit", () => failed(new Error(said)));
  setTimeout(() => failed(new Error(`no link within ${PATIENCE_MS} ms:\n${said}`)), PATIENCE_MS).unref();
});
const served = Date.now();

const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  let number = 0;
  const keep = async (/** @type {string} */ name) => {
    number += 1;
    await page.screenshot({ path: join(OUT, `${number}-${name}.png`) });
    console.log(`${number}-${name}.png  ${((Date.now() - began) / 1000).toFixed(1)} s after the start`);
  };

  await page.setContent("<pre style='font:15px/1.5 monospace; white-space:pre-wrap; padding:24px; margin:-8px; background:#1d1f21; color:#eee; min-height:100vh; box-sizing:border-box'></pre>");
  await page.locator("pre").evaluate((pre, text) => (pre.textContent = text), [...terminal.slice(0, 6), ...(terminal.length > 12 ? ["…"] : []), ...terminal.slice(6).slice(-6)].join("\n"));
  await keep("terminal");

  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(link);
  // The reader takes the cover's way in, and the way to the first exercise that each page has beside it.
  const start = page.locator("main .start a");
  await start.waitFor();
  await keep("first-page");
  const way = await start.evaluate((link) => link.href);
  await start.click();
  await page.waitForURL(way);
  await keep("start");
  await page.getByRole("link", { name: "Start: exercise 1" }).click();
  const check = page.getByRole("button", { name: "Check" }).first();
  await check.waitFor();
  await page.locator(".ws-progress").waitFor({ state: "detached" });
  await keep("exercise");

  const stub = readFileSync(FILE, "utf8");
  const written = (/** @type {string} */ body) => writeFileSync(FILE, stub.replace(/drop\(future\);\s*todo!\([^)]*\)/, body));
  const panel = page.locator('.exercise[data-exercise="1"]');
  const stop = panel.getByRole("button", { name: "Stop" });
  for (const [body, name] of [[FIRST_TRY, "red"], [SECOND_TRY, "green"]]) {
    written(body);
    // The page shows what another editor has saved.
    await page.waitForFunction((part) => window.ace?.edit(document.querySelector(".work .ace_editor")).getValue().includes(part), body.split("\n")[0]);
    const asked = Date.now();
    await check.click();
    await stop.waitFor();
    await stop.waitFor({ state: "hidden" });
    console.log(`   the check took ${((Date.now() - asked) / 1000).toFixed(1)} s: ${await panel.locator(".exercise-count").innerText()}`);
    await keep(name);
  }
  console.log(`the command took ${((served - started) / 1000).toFixed(1)} s to its link`);
} finally {
  await browser.close();
  server.kill("SIGINT");
}
