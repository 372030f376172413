import { ansiPieces } from "./ansi.js";

/**
 * How a run ended, as the server tells it.
 *
 * @typedef {object} Exit
 * @property {"exited" | "signal" | "timeout" | "output-limit" | "compile-error" | "killed"} reason
 * @property {number | null} [code] exit status, or the signal's number
 * @property {number | null} [compile_ms]
 * @property {number | null} [run_ms]
 * @property {string | null} [message] what limit was reached: lower case, without a dot
 */

/**
 * Says a duration as people do.
 *
 * @param {number} ms
 */
export function duration(ms) {
  if (ms < 1) return "under 1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

/**
 * Says in one line how a run ended.
 *
 * @param {Exit} exit
 * @param {{limitSeconds: number, hangs: boolean, tests: boolean}} block
 * @returns {{text: string, bad: boolean}} `bad` when the program didn't do what it should
 */
export function ending(exit, block) {
  const { text, bad } = reasonInWords(exit, block);
  return { text: [text, ...times(exit)].join(" "), bad };
}

/**
 * @param {Exit} exit
 * @param {{limitSeconds: number, hangs: boolean, tests: boolean}} block
 */
function reasonInWords({ reason, code, message }, { limitSeconds, hangs, tests }) {
  switch (reason) {
    case "exited":
      if (code === 0) return { text: "Finished.", bad: false };
      if (code === 101 && tests) return { text: "A test failed.", bad: true };
      if (code === 101) return { text: "The program panicked.", bad: true };
      return { text: `The program ended with exit status ${code}.`, bad: true };
    case "timeout":
      return hangs
        ? { text: `It hangs, as announced: ended after ${limitSeconds} s.`, bad: false }
        : { text: `Timeout: ${message ?? `ended after ${limitSeconds} s`}.`, bad: true };
    case "output-limit":
      return { text: `Too much output: ${message ?? "ended by the runner"}.`, bad: true };
    case "signal":
      return { text: `The program was ended by ${signalName(code)}${message ? `: ${message}` : ""}.`, bad: true };
    case "killed":
      return { text: sentence(message ?? "ended by the runner"), bad: true };
    case "compile-error":
      return { text: "This does not compile.", bad: true };
    default:
      return { text: `Ended: ${reason}.`, bad: true };
  }
}

/** @param {number | null | undefined} number */
function signalName(number) {
  const names = new Map([
    [4, "SIGILL, an illegal instruction"],
    [6, "SIGABRT: it aborted, or ran out of memory"],
    [7, "SIGBUS, a bad memory access"],
    [9, "SIGKILL"],
    [11, "SIGSEGV, a bad memory access or a stack overflow"],
    [24, "SIGXCPU: out of processor time"],
    [25, "SIGXFSZ: a file grew too large"],
  ]);
  return number == null ? "a signal" : (names.get(number) ?? `signal ${number}`);
}

/**
 * The server's words as a sentence of the page.
 *
 * @param {string} words lower case, without a dot
 */
export function sentence(words) {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/**
 * The first line of what the compiler says, without colors.
 *
 * @param {string} rendered
 */
export function firstLine(rendered) {
  const [first = ""] = rendered.split("\n");
  return ansiPieces(first).map(({ text }) => text).join("");
}

/** @param {Exit} exit */
function times({ reason, compile_ms, run_ms }) {
  if (compile_ms == null) return run_ms == null ? [] : [`It ran for ${duration(run_ms)}.`];
  if (reason === "compile-error") return [`The compiler took ${duration(compile_ms)}.`];
  return [`Compiled in ${duration(compile_ms)}${run_ms == null ? "" : `, ran for ${duration(run_ms)}`}.`];
}

/**
 * A test's name as a sentence: `tests::a_wake_is_not_lost` is "a wake is not lost".
 *
 * @param {string} name
 */
export function spoken(name) {
  return (name.split("::").at(-1) ?? name).replaceAll("_", " ");
}

/**
 * How far the building of the crates has come.
 *
 * @param {{done: number, total: number}} progress
 */
export function building({ done, total }) {
  return `Building the crates that the programs use: ${done} of ${total}. This happens once.`;
}
