// The way to the local runner: is it there, may this page use it, and its
// streams of events.

import { jsonLines } from "./common/ndjson.js";
import { localStore } from "./common/storage.js";

/** @typedef {"ready" | "no-token" | "none"} RunnerState */

const TOKEN_KEY = "workshop-token";
const TOKEN_FRAGMENT = "#token=";
/** As `cargo workshop` makes them. */
const TOKEN = /^[0-9a-f]{32}$/;
const TOKEN_EVENT = "workshop-new-token";
const PING_LIMIT_MS = 2000;

const store = localStore();

/** A refusal that the reader is told in words. */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {number} [status] of the answer, if there was one
   */
  constructor(message, status) {
    super(message);
    this.needsToken = status === 401 || status === 403;
  }
}

/** Waits until a new token has come, in another tab or in this one. */
export function newToken() {
  return new Promise((resolve) => {
    const came = (/** @type {Event & {key?: string}} */ { type, key }) => {
      if (type === "storage" && key !== TOKEN_KEY) return;
      removeEventListener("storage", came);
      removeEventListener(TOKEN_EVENT, came);
      resolve(undefined);
    };
    addEventListener("storage", came);
    addEventListener(TOKEN_EVENT, came);
  });
}

/** @type {Promise<boolean>} */
let adopted = Promise.resolve(false);

/**
 * Takes the token out of the launch link's fragment, cleans the address, and
 * keeps the token if it's the workshop's. Any site can open this page with a
 * fragment of its own: what the workshop doesn't know never replaces the token
 * that is kept. Any other fragment belongs to the page.
 */
export function adoptToken() {
  adopted = adopted.then(takeToken);
  return adopted;
}

/** A reader who opens the link in a tab with this very page doesn't load it again. */
export function adoptLaterTokens() {
  addEventListener("hashchange", async () => {
    if (!(await adoptToken())) return;
    if ((await runnerState()) === "ready") dispatchEvent(new Event(TOKEN_EVENT));
    else location.reload();
  });
}

/** @returns {Promise<boolean>} whether there was a new token, and it's good */
async function takeToken() {
  if (!location.hash.startsWith(TOKEN_FRAGMENT)) return false;
  const token = location.hash.slice(TOKEN_FRAGMENT.length);
  history.replaceState(history.state, "", location.pathname + location.search);
  if (!TOKEN.test(token) || token === store.getItem(TOKEN_KEY) || !(await isGood(token))) return false;
  store.setItem(TOKEN_KEY, token);
  return true;
}

/** Asks the workshop whether this is its token. */
async function isGood(/** @type {string} */ token) {
  try {
    return (await request("ping", {}, token, AbortSignal.timeout(PING_LIMIT_MS))).status === 200;
  } catch {
    return false;
  }
}

/** The address of a page or of a call, from the root of the book. */
export function fromRoot(/** @type {string} */ path) {
  const root = typeof path_to_root === "string" ? path_to_root : "";
  return new URL(path, new URL(root || "./", location.href));
}

/** True if this page may be served by `cargo workshop`: only then is it worth a request. */
export function mayBeLocal() {
  if (location.protocol === "file:") return false;
  const loopback = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);
  // A reader with a token came by the link that `cargo workshop` printed, under any name.
  return loopback || store.getItem(TOKEN_KEY) !== null;
}

/** @type {Promise<RunnerState> | undefined} */
let found;

/** Asks once whether the runner is there, and whether this page has its token. */
export function runnerState() {
  found ??= adopted.then(probe);
  return found;
}

/** @returns {Promise<RunnerState>} */
async function probe() {
  if (!mayBeLocal()) return "none";
  try {
    const answer = await fetch(fromRoot("api/ping"), { signal: AbortSignal.timeout(PING_LIMIT_MS) });
    if (!answer.ok || !answer.headers.get("content-type")?.startsWith("application/json")) return "none";
    if ((await answer.json()).workshop !== 1) return "none";
  } catch {
    return "none";
  }
  return store.getItem(TOKEN_KEY) === null ? "no-token" : "ready";
}

/**
 * Calls the runner and yields its events. Aborting `signal` closes the
 * connection, which ends what runs behind it.
 *
 * @param {string} path below `api/`
 * @param {object} body
 * @param {AbortSignal} signal
 * @param {() => void} [onOpen] called when the answer begins
 * @returns {AsyncGenerator<any>}
 */
export async function* post(path, body, signal, onOpen) {
  const answer = await send(path, body, signal);
  if (!answer.ok || answer.body === null) throw new Refused(await refusal(answer), answer.status);
  onOpen?.();
  try {
    yield* jsonLines(answer.body);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Refused("The connection to the workshop broke off.");
  }
}

/**
 * Calls the runner for one answer.
 *
 * @param {string} path below `api/`
 * @param {object} [body]
 * @param {number} [alsoFine] a status, besides 200, that is an answer and no refusal
 * @returns {Promise<{status: number, value: any}>}
 */
export async function call(path, body = {}, alsoFine = 200) {
  const answer = await send(path, body);
  if (answer.status !== 200 && answer.status !== alsoFine) throw new Refused(await refusal(answer), answer.status);
  return { status: answer.status, value: await answer.json() };
}

/**
 * @param {string} path
 * @param {object} body
 * @param {AbortSignal} [signal]
 */
async function send(path, body, signal) {
  try {
    return await request(path, body, store.getItem(TOKEN_KEY) ?? "", signal);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused("The workshop does not answer: is `cargo workshop` still running?");
  }
}

/**
 * @param {string} path
 * @param {object} body
 * @param {string} token
 * @param {AbortSignal} [signal]
 */
function request(path, body, token, signal) {
  return fetch(fromRoot(`api/${path}`), {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Workshop-Token": token },
    body: JSON.stringify(body),
    signal,
  });
}

/**
 * Asks the runner for something that may not be there.
 *
 * @param {string} path below `api/`
 * @returns {Promise<string | undefined>}
 */
export async function ask(path) {
  try {
    const answer = await send(path, {});
    return answer.status === 200 ? await answer.text() : undefined;
  } catch {
    return undefined;
  }
}

/** @param {Response} answer */
async function refusal(answer) {
  switch (answer.status) {
    case 401:
    case 403:
      return "The workshop has been restarted: open the link printed in your terminal once.";
    case 429:
      return "The runner is busy with other programs: try again in a moment.";
    default:
      return `The workshop cannot do this: ${await reason(answer)}.`;
  }
}

/** @param {Response} answer `{error, help}`, both lower case and without a dot */
async function reason(answer) {
  const fallback = `${answer.status} ${answer.statusText}`.trim();
  const { error = fallback, help } = await answer.json().catch(() => ({}));
  return help ? `${error}; ${help}` : error;
}
