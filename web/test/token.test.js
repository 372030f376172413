import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const GOOD = "0123456789abcdef0123456789abcdef";
const OTHER = "f".repeat(32);

let stored;
let asked;
let answers;
let reloaded;
let events;

beforeEach(() => {
  stored = new Map([["workshop-token", GOOD]]);
  asked = [];
  answers = async (token) => (token === GOOD ? 200 : 401);
  reloaded = 0;
  events = new EventTarget();
  globalThis.localStorage = {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, String(value)),
    removeItem: (key) => void stored.delete(key),
  };
  globalThis.addEventListener = events.addEventListener.bind(events);
  globalThis.removeEventListener = events.removeEventListener.bind(events);
  globalThis.dispatchEvent = events.dispatchEvent.bind(events);
  globalThis.history = { state: null, replaceState: (_state, _title, address) => visit(`${location.origin}${address}`) };
  globalThis.fetch = async (url, { method, headers } = {}) => {
    if (method !== "POST") return Response.json({ workshop: 1 });
    asked.push([String(url), headers["X-Workshop-Token"]]);
    return Response.json({}, { status: await answers(headers["X-Workshop-Token"]) });
  };
});

/** Goes to an address of the workshop, as `location` tells it. */
function visit(address) {
  const { href, origin, protocol, hostname, pathname, search, hash } = new URL(address, "http://127.0.0.1:3000/");
  globalThis.location = { href, origin, protocol, hostname, pathname, search, hash, reload: () => (reloaded += 1) };
}

let copies = 0;

/** The module as a page loads it: with nothing remembered. */
function load(address) {
  visit(address);
  return import(`../src/runner.js?copy=${(copies += 1)}`);
}

test("a token that the workshop doesn't know never replaces the one that is kept", async () => {
  const { adoptToken, runnerState, call } = await load(`/one.html?q#token=${OTHER}`);
  assert.equal(await adoptToken(), false);
  assert.equal(stored.get("workshop-token"), GOOD);
  assert.equal(location.hash, "", "the address is clean");
  assert.equal(location.search, "?q");
  assert.deepEqual(asked, [["http://127.0.0.1:3000/api/ping", OTHER]]);
  assert.equal(await runnerState(), "ready");
  assert.equal((await call("exercises")).status, 200, "the page that a foreign site opened still runs");
});

test("what isn't a token is neither asked about nor kept, and throws nothing", async () => {
  for (const fragment of ["%", "moved", "", "%0d%0a", `${GOOD}0`, `${GOOD}%`, "ü", encodeURIComponent(`${OTHER}\n`)]) {
    const { adoptToken } = await load(`/#token=${fragment}`);
    assert.equal(await adoptToken(), false, fragment);
    assert.equal(location.hash, "", fragment);
  }
  assert.deepEqual([stored.get("workshop-token"), asked], [GOOD, []]);
  const { adoptToken } = await load("/#a-heading");
  await adoptToken();
  assert.equal(location.hash, "#a-heading", "any other fragment is the page's");
});

test("the link of the terminal brings the token, and the runner is ready only then", async () => {
  stored.delete("workshop-token");
  let answer;
  answers = () => new Promise((resolve) => (answer = () => resolve(200)));
  const { adoptToken, runnerState } = await load(`/#token=${GOOD}`);
  adoptToken();
  const state = runnerState();
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(stored.get("workshop-token"), undefined, "it isn't tested yet");
  answer();
  assert.equal(await state, "ready");
  assert.equal(stored.get("workshop-token"), GOOD);
});

test("a workshop that doesn't answer leaves the token as it was", async () => {
  answers = () => Promise.reject(new TypeError("no connection"));
  const { adoptToken } = await load(`/#token=${OTHER}`);
  assert.equal(await adoptToken(), false);
  assert.equal(stored.get("workshop-token"), GOOD);
});

test("the link of a restarted workshop is taken in a tab that shows the same page", async () => {
  const { adoptLaterTokens, newToken, runnerState } = await load("/");
  adoptLaterTokens();
  assert.equal(await runnerState(), "ready");
  answers = async (token) => (token === OTHER ? 200 : 401);
  const waiting = newToken();
  visit(`/#token=${OTHER}`);
  dispatchEvent(new Event("hashchange"));
  await waiting;
  assert.deepEqual([stored.get("workshop-token"), reloaded], [OTHER, 0]);
});

test("a page that had no token loads again once it has one", async () => {
  stored.delete("workshop-token");
  const { adoptLaterTokens, runnerState } = await load("/");
  adoptLaterTokens();
  assert.equal(await runnerState(), "no-token");
  visit(`/#token=${GOOD}`);
  dispatchEvent(new Event("hashchange"));
  while (reloaded === 0) await new Promise((resolve) => setTimeout(resolve));
  assert.equal(stored.get("workshop-token"), GOOD);
});
