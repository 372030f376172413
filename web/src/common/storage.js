/**
 * The browser's storage, or one that forgets where the browser refuses it
 * (some do for `file://`, or in private windows).
 *
 * @returns {Pick<Storage, "getItem" | "setItem" | "removeItem">}
 */
export function localStore() {
  try {
    const probe = "workshop-probe";
    localStorage.setItem(probe, "");
    localStorage.removeItem(probe);
    return localStorage;
  } catch {
    const kept = new Map();
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    };
  }
}
