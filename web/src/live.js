// What the workshop tells of itself: the book was rebuilt, it doesn't build,
// the crates of the programs are being built.

import { whenIdle } from "./busy.js";
import { tellExercises } from "./exercise/news.js";
import { button, element, keepArrowKeys } from "./common/dom.js";
import { building } from "./common/words.js";
import { Refused, newToken, post, runnerState } from "./runner.js";

const CHANNEL = "workshop-events";
/** Events of which a page that opens later has to know the last. */
const STANDING = ["building", "book-error"];
const RETRY_MS = 2000;
const LONGEST_RETRY_MS = 60_000;
const RESTORED_MS = 1000;
const PLACE_KEY = "workshop-place";

export async function startLive() {
  restorePlace();
  if ((await runnerState()) !== "ready") return;
  // A browser opens few connections to one host: one tab listens for all, and
  // repeats to new tabs how things stand.
  const channel = new BroadcastChannel(CHANNEL);
  const latest = new Map();
  const checks = new Map();
  channel.addEventListener("message", ({ data }) => {
    if (data.type !== "hello") show(data);
    else [...latest.values(), ...[...checks.values()].flat()].forEach((event) => channel.postMessage(event));
  });
  channel.postMessage({ type: "hello" });
  const listen = () =>
    follow((event) => {
      if (STANDING.includes(event.type)) latest.set(event.type, event);
      if (event.type === "elsewhere") keepCheck(checks, event);
      channel.postMessage(event);
      show(event);
    });
  if (navigator.locks) navigator.locks.request(CHANNEL, listen);
  else listen();
}

/**
 * Keeps what was told of the checks that go on.
 *
 * @param {Map<string, any[]>} checks
 * @param {any} event
 */
function keepCheck(checks, event) {
  if (event.event.type === "exit") checks.delete(event.run);
  else checks.set(event.run, [...(checks.get(event.run) ?? []), event]);
}

/** @param {(event: any) => void} tell */
async function follow(tell) {
  const leaving = new AbortController();
  addEventListener("pagehide", () => leaving.abort());
  let pause = RETRY_MS;
  while (!leaving.signal.aborted) {
    try {
      const events = post("events", {}, leaving.signal, () => tell({ type: "connected" }));
      for await (const event of events) {
        pause = RETRY_MS;
        tell(event);
      }
    } catch (error) {
      if (leaving.signal.aborted) return;
      if (!(error instanceof Refused)) throw error;
      if (error.needsToken) await newToken();
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, LONGEST_RETRY_MS);
  }
}

/** @param {any} event */
function show(event) {
  switch (event.type) {
    case "reload":
      return whenIdle(reload);
    case "building":
      return showProgress(event);
    case "book-error":
      return showBookError(event.message);
    default:
      return tellExercises(event);
  }
}

function reload() {
  keepPlace();
  location.reload();
}

/** Remembers the place by the heading above it, so that a change further up doesn't move it. */
function keepPlace() {
  const above = headings().filter((heading) => heading.getBoundingClientRect().top <= 0).at(-1);
  const top = above ? -above.getBoundingClientRect().top : scrollY;
  // The browser would go back to the same number of pixels.
  history.scrollRestoration = "manual";
  sessionStorage.setItem(PLACE_KEY, JSON.stringify({ page: location.pathname, id: above?.id, top }));
}

function restorePlace() {
  let place;
  try {
    place = JSON.parse(sessionStorage.getItem(PLACE_KEY) ?? "null");
    sessionStorage.removeItem(PLACE_KEY);
  } catch {
    return;
  }
  if (place?.page !== location.pathname) return;
  let readerMoved = false;
  for (const sign of ["wheel", "touchstart", "keydown", "pointerdown"]) {
    addEventListener(sign, () => (readerMoved = true), { once: true, passive: true });
  }
  const scroll = () => {
    if (readerMoved) return;
    const from = headings().find((heading) => heading.id === place.id);
    scrollTo({ top: place.top + (from ? from.getBoundingClientRect().top + scrollY : 0), behavior: "instant" });
  };
  scroll();
  // The programs get their buttons, and grow, when the runner has answered.
  runnerState().then(() => requestAnimationFrame(() => requestAnimationFrame(scroll)));
  addEventListener("load", () => {
    scroll();
    // Not at once: the browser looks at this after `load` as well.
    setTimeout(() => (history.scrollRestoration = "auto"), RESTORED_MS);
  });
}

function headings() {
  return [...document.querySelectorAll("main :is(h1, h2, h3, h4)[id]")];
}

/** @type {HTMLElement | undefined} */
let progress;

/** @param {{done: number, total: number}} event */
function showProgress({ done, total }) {
  progress?.remove();
  if (done >= total) return;
  const text = building({ done, total });
  progress = element("div", { class: "ws-progress" }, text, element("progress", { value: done, max: total, "aria-label": "Building the crates" }));
  document.querySelector("main")?.append(progress);
}

/** @type {HTMLElement | undefined} */
let banner;

/** @param {string | null} message nothing when the last fault is fixed */
function showBookError(message) {
  banner?.remove();
  if (message == null) return;
  const text = element("pre", { tabIndex: 0, role: "region", "aria-label": "What is wrong with the book" }, message);
  keepArrowKeys(text);
  const shown = element("div", { class: "ws-banner", role: "alert" }, element("strong", {}, "The book does not build; you see its last good version."), text);
  shown.append(button("Dismiss", () => shown.remove()));
  banner = shown;
  document.querySelector("main")?.prepend(shown);
}
