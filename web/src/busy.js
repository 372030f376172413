// A page that reloads would end the run that the reader waits for.

let running = 0;
/** @type {(() => void)[]} */
let waiting = [];

/**
 * Marks the page as busy until `work` is done.
 *
 * @template T
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
export async function whileBusy(work) {
  running += 1;
  try {
    return await work;
  } finally {
    running -= 1;
    if (running === 0) waiting.splice(0).forEach((action) => action());
  }
}

/** Does `action` now, or as soon as nothing runs. */
export function whenIdle(/** @type {() => void} */ action) {
  if (running === 0) action();
  else waiting.push(action);
}
