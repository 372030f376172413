// Runs a program on a server that speaks the protocol of play.rust-lang.org:
// `POST /execute`, one answer when all is over.

import { Refused } from "../runner.js";

const LIMIT_MS = 30_000;

/** @typedef {{success: boolean, exitDetail: string, stdout: string, stderr: string}} Answer */

/**
 * The server that the page's head names; nothing if it names none.
 *
 * @returns {URL | undefined}
 */
export function remoteRunner() {
  const content = document.querySelector('meta[name="workshop-runner"]')?.getAttribute("content")?.trim();
  if (!content) return undefined;
  const base = new URL(content, document.baseURI);
  return new URL(`${base.pathname.replace(/\/?(execute)?$/, "")}/execute`, base);
}

/**
 * Runs `code` there, and yields events as the local runner would.
 *
 * @param {URL} server
 * @param {{code: string, mode: string, tests: boolean}} request
 * @param {AbortSignal} signal
 */
export async function* execute(server, { code, mode, tests }, signal) {
  yield { type: "compiling" };
  const crateType = /\bfn\s+main\b/.test(code) ? "bin" : "lib";
  const body = { channel: "stable", mode, edition: "2024", crateType, tests, backtrace: false, code };
  let answer;
  let value;
  // `AbortSignal.any` is too young for some browsers.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), LIMIT_MS);
  const stop = () => late.abort();
  signal.addEventListener("abort", stop, { once: true });
  try {
    answer = await fetch(server, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal: late.signal,
    });
    value = await answer.json();
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Refused(answer ? `${server.host} answered ${answer.status}.` : `${server.host} cannot be reached, or does not answer.`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
  if (!answer.ok || typeof value.stdout !== "string") throw new Refused(`${server.host} refused: ${value.error ?? answer.status}`);
  yield* eventsOf(value, tests);
}

/**
 * @param {Answer} answer
 * @param {boolean} tests
 */
export function* eventsOf({ success, exitDetail, stdout, stderr }, tests) {
  const lines = stderr.split(/(?<=\n)/);
  const start = lines.findIndex((line) => /^\s+Running /.test(line));
  const compiler = start === -1 ? lines : lines.slice(0, start);
  const found = diagnostics(compiler);
  yield* found;
  const text = start === -1 ? "" : lines.slice(start + 1).join("");
  if (text) yield { type: "stderr", text };
  if (tests) yield* testEvents(stdout);
  else if (stdout) yield { type: "stdout", text: stdout };
  const isCompiled = success || start !== -1;
  if (!isCompiled && !found.some(({ level }) => level === "error")) yield { type: "stderr", text: stderr };
  yield { type: "exit", compile_ms: null, run_ms: null, ...ending(success, exitDetail, isCompiled) };
}

/**
 * @param {boolean} success
 * @param {string} detail in the server's words
 * @param {boolean} isCompiled
 */
function ending(success, detail, isCompiled) {
  if (success) return { reason: "exited", code: 0 };
  if (!isCompiled) return { reason: "compile-error", code: null };
  const [, kind, number] = /(status|signal) (\d+)/.exec(detail) ?? [];
  if (number === undefined) return { reason: "killed", code: null, message: detail.toLowerCase() || "ended by the server" };
  return { reason: kind === "status" ? "exited" : "signal", code: Number(number) };
}

/**
 * What the compiler says, without cargo's own words.
 *
 * @param {string[]} lines
 * @returns {{type: "diagnostic", level: string, rendered: string, line: number | null}[]}
 */
function diagnostics(lines) {
  const cargo = /^\s+(?:Compiling|Finished|Blocking|Updating|Downloading|Downloaded) |^For more information about|^(?:error|warning): (?:could not compile|aborting|`\w+` .* generated)|^Some errors have/;
  const said = lines.filter((line) => !cargo.test(line)).join("");
  const messages = said.split(/^(?=(?:error|warning)(?:\[|:))/m).filter((message) => /^(?:error|warning)/.test(message));
  return messages.map((message) => {
    const line = /--> src\/(?:main|lib)\.rs:(\d+)/.exec(message)?.[1];
    const level = message.startsWith("error") ? "error" : "warning";
    return { type: "diagnostic", level, rendered: `${message.trimEnd()}\n`, line: line === undefined ? null : Number(line) };
  });
}

/** @param {string} stdout what the test harness printed */
function* testEvents(stdout) {
  const outcomes = new Map([["ok", "passed"], ["FAILED", "failed"], ["ignored", "ignored"]]);
  const [results = "", ...rest] = stdout.split(/^failures:$/m);
  const messages = new Map();
  for (const part of (rest[0] ?? "").split(/^(?=---- .* stdout ----$)/m)) {
    const [, name, message] = /^---- (\S+).* stdout ----\n([^]*)/.exec(part) ?? [];
    if (name) messages.set(name, (message ?? "").trim());
  }
  for (const [, name = "", word = ""] of results.matchAll(/^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)/gm)) {
    yield { type: "test", name, clause: null, outcome: outcomes.get(word), message: messages.get(name) ?? null };
  }
}
