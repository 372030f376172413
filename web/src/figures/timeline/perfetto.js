// Hands a trace to ui.perfetto.dev in a new tab. Nothing is uploaded: that
// page asks for the data and gets it by `postMessage`.

const ORIGIN = "https://ui.perfetto.dev";
const ASK_EVERY_MS = 200;
const GIVE_UP_MS = 30_000;

/** A page opened from disk can't be asked back. */
export function canOpenPerfetto() {
  return location.protocol !== "file:";
}

/**
 * @param {string} title
 * @param {string} json
 * @returns {boolean} false if the browser opened no tab
 */
export function openInPerfetto(title, json) {
  const opened = window.open(ORIGIN);
  if (!opened) return false;
  const ask = setInterval(() => opened.postMessage("PING", ORIGIN), ASK_EVERY_MS);
  const end = () => {
    clearInterval(ask);
    removeEventListener("message", answered);
  };
  const answered = (/** @type {MessageEvent} */ event) => {
    if (event.origin !== ORIGIN || event.source !== opened || event.data !== "PONG") return;
    end();
    const buffer = new TextEncoder().encode(json).buffer;
    opened.postMessage({ perfetto: { buffer, title, fileName: `${title}.json` } }, ORIGIN);
  };
  addEventListener("message", answered);
  setTimeout(end, GIVE_UP_MS);
  return true;
}
