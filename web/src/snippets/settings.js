const DEFAULT_LIMIT_SECONDS = 10;
const PREFIX = "snippet-";

/**
 * @typedef {object} Settings
 * @property {string} name after `snippet-`
 * @property {number} limitSeconds
 * @property {boolean} tests run the block's `#[test]`s instead of its `main`
 * @property {boolean} hangs the block is meant to run into its time-out
 * @property {boolean} release compiled so unless the reader wants it otherwise
 * @property {boolean} localOnly the block cannot run on play.rust-lang.org
 */

/**
 * Reads what the fence says of a block, from the classes mdBook makes of it.
 *
 * @param {Iterable<string>} classes
 * @returns {Settings | undefined} nothing for a block that is no snippet
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
 * Where the code would go on a page without a runner.
 *
 * @param {string} code
 * @param {{tests: boolean, release: boolean}} how
 */
export function playgroundLink(code, { tests, release }) {
  const query = new URLSearchParams({
    version: "stable",
    mode: release ? "release" : "debug",
    edition: "2024",
    ...(tests ? { test: "true" } : {}),
    code,
  });
  return `https://play.rust-lang.org/?${query}`;
}
