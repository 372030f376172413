const DEFAULT_LIMIT_SECONDS = 10;
const PREFIX = "snippet-";

/**
 * @typedef {object} Settings
 * @property {string} name after `snippet-`
 * @property {number} limitSeconds
 * @property {boolean} tests run the block's `#[test]`s instead of its `main`
 * @property {boolean} hangs the block is meant to run into its timeout
 * @property {boolean} release compiled so unless the reader wants it otherwise
 * @property {boolean} localOnly the block can't run on a server such as play.rust-lang.org
 */

/**
 * Reads what the fence says of a block, from the classes mdBook makes of it.
 *
 * @param {Iterable<string>} classes
 * @returns {Settings | undefined} nothing for a block that isn't a snippet
 */
export function settingsOf(classes) {
  const all = [...classes];
  const name = all.find((name) => name.startsWith(PREFIX))?.slice(PREFIX.length);
  if (!name) return undefined;
  const limit = all.map((name) => /^limit-(\d+)s$/.exec(name)?.[1]).find((seconds) => seconds !== undefined);
  return {
    name,
    limitSeconds: limit === undefined ? DEFAULT_LIMIT_SECONDS : Number(limit),
    tests: all.includes("tests"),
    hangs: all.includes("expect-timeout"),
    release: all.includes("release"),
    localOnly: all.includes("local-only"),
  };
}

/**
 * Whether the block's tests are to be run: it says so, or has nothing else to run.
 *
 * @param {Settings} settings
 * @param {string} code
 */
export function runsTests({ tests }, code) {
  return tests || (/^\s*#\[test\]/m.test(code) && !/\bfn\s+main\b/.test(code));
}

/**
 * Why a program can't run on a server such as play.rust-lang.org; nothing if it can.
 *
 * @param {Settings} settings
 */
export function localReason({ localOnly, limitSeconds }) {
  if (localOnly) return "it uses crates that only the workshop has, or measures the machine it runs on";
  if (limitSeconds > DEFAULT_LIMIT_SECONDS) return "it runs longer than others let it";
  return undefined;
}
