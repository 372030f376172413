// What the workshop tells of the exercises without being asked.

/** @type {Set<(news: any) => void>} */
const listeners = new Set();

/**
 * Calls `listener` with each piece of news: `exercise-file`, `progress` and
 * `elsewhere` as the server sends them, and `connected` when some may have
 * been missed.
 *
 * @param {(news: any) => void} listener
 */
export function onNews(listener) {
  listeners.add(listener);
}

/** @param {any} news */
export function tellExercises(news) {
  for (const listener of listeners) listener(news);
}
