// The way to the local runner: is it there, may this page use it, and its
// streams of events.

import { jsonLines } from "./common/ndjson.js";
import { localStore } from "./common/storage.js";

/** @typedef {"ready" | "no-token" | "none"} RunnerState */

const TOKEN_KEY = "workshop-token";
const TOKEN_FRAGMENT = "#token=";
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

/** Waits until another tab has brought a new token. */
export function newToken() {
  return new Promise((resolve) => {
    addEventListener("storage", function changed({ key }) {
      if (key !== TOKEN_KEY) return;
      removeEventListener("storage", changed);
      resolve(undefined);
    });
  });
}

/**
 * Takes the token out of the launch link's fragment, keeps it, and cleans the
 * address. Any other fragment is somebody else's.
 */
export function adoptToken() {
  if (!location.hash.startsWith(TOKEN_FRAGMENT)) return;
  store.setItem(TOKEN_KEY, decodeURIComponent(location.hash.slice(TOKEN_FRAGMENT.length)));
  history.replaceState(history.state, "", location.pathname + location.search);
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
  // Whoever was given a token came by the link that `cargo workshop` printed, under whatever name.
  return loopback || store.getItem(TOKEN_KEY) !== null;
}

/** @type {Promise<RunnerState> | undefined} */
let found;

/** Asks once whether the runner is there, and whether this page has its token. */
export function runnerState() {
  found ??= probe();
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
 * connection, which ends whatever runs behind it.
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
    return await fetch(fromRoot(`api/${path}`), {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Workshop-Token": store.getItem(TOKEN_KEY) ?? "" },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused("The workshop does not answer: is `cargo workshop` still running?");
  }
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
      return "The workshop was started anew: open the link printed in your terminal once.";
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
