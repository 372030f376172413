// A figure's place in an address: `#fig-heartbeat?s=view:worker,at:2410000`.
// No element has that id, so the browser doesn't scroll; the figure does.

/**
 * @param {string} id
 * @param {Record<string, string>} parts
 */
export function formatLink(id, parts) {
  const state = Object.entries(parts).map(([name, value]) => `${name}:${value}`);
  return `#${id}?s=${encodeURIComponent(state.join(",")).replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
}

/**
 * @param {string} hash
 * @param {string} id
 * @returns {Record<string, string> | undefined} nothing if it is another's
 */
export function parseLink(hash, id) {
  const prefix = `#${id}?s=`;
  if (!hash.startsWith(prefix)) return undefined;
  let state;
  try {
    state = decodeURIComponent(hash.slice(prefix.length));
  } catch {
    return undefined;
  }
  const parts = state.split(",").map((part) => part.split(":"));
  return Object.fromEntries(parts.filter(([name, value]) => name && value !== undefined).map(([name, ...rest]) => [name, rest.join(":")]));
}
