/**
 * How a run ended, as the server tells it.
 *
 * @typedef {object} Exit
 * @property {"exited" | "signal" | "timeout" | "output-limit" | "compile-error" | "killed"} reason
 * @property {number | null} [code] exit status, or the signal's number
 * @property {number | null} [compile_ms]
 * @property {number | null} [run_ms]
 * @property {string | null} [message] one sentence about a limit that was reached
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
 * @returns {{text: string, bad: boolean}} `bad` when the program did not do what it should
 */
export function ending(exit, block) {
  const { text, bad } = sentence(exit, block);
  const times = [];
  if (exit.compile_ms != null) times.push(`compiled in ${duration(exit.compile_ms)}`);
  if (exit.run_ms != null && exit.reason !== "compile-error") times.push(`ran for ${duration(exit.run_ms)}`);
  return { text: times.length ? `${text} ${capital(times.join(", "))}.` : text, bad };
}

/**
 * @param {Exit} exit
 * @param {{limitSeconds: number, hangs: boolean, tests: boolean}} block
 */
function sentence({ reason, code, message }, { limitSeconds, hangs, tests }) {
  switch (reason) {
    case "exited":
      if (code === 0) return { text: "Finished.", bad: false };
      if (code === 101 && tests) return { text: "A test failed.", bad: true };
      if (code === 101) return { text: "The program panicked.", bad: true };
      return { text: `The program ended with exit status ${code}.`, bad: true };
    case "timeout":
      return hangs
        ? { text: `It hangs, as announced: the runner ended it after ${limitSeconds} s.`, bad: false }
        : { text: `Time-out. ${message ?? `The runner ended it after ${limitSeconds} s.`}`, bad: true };
    case "output-limit":
      return { text: `Too much output. ${message ?? "The runner ended the program."}`, bad: true };
    case "signal":
      return { text: `The program was ended by ${signalName(code)}.${message ? ` ${message}` : ""}`, bad: true };
    case "killed":
      return { text: message ?? "Ended by the runner.", bad: true };
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

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
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
