// How the exercises stand: in the contents, and for their panels.

import { element } from "../common/dom.js";
import { call, fromRoot, runnerState } from "../runner.js";
import { onNews } from "./news.js";

/**
 * @typedef {object} Listed an exercise, as the server lists it
 * @property {number} number
 * @property {string} title
 * @property {string | null} page
 * @property {string} state
 * @property {boolean} [solved] when it was last checked
 * @property {boolean} [explored] whether the models of a solved one were
 * @property {number} [held]
 * @property {number} [clauses]
 * @property {number} [unwritten] clauses that reach a `todo!`
 * @property {number} [milestones]
 * @property {number} [reached] milestones
 * @property {boolean} next
 */

// The list reads all sources of all exercises.
const LEAST_PAUSE_MS = 1000;
/** How often the page asks for its first list if the server doesn't answer. */
const MOST_TRIES = 5;

/** @type {Listed[]} */
let list = [];
/** @type {Set<(list: Listed[]) => void>} */
const listeners = new Set();

/** Calls `listener` now and whenever something has changed. */
export function onList(/** @type {(list: Listed[]) => void} */ listener) {
  listeners.add(listener);
  if (list.length > 0) listener(list);
}

export async function startTicks() {
  if ((await runnerState()) !== "ready") return;
  onList(tick);
  onList(showSegments);
  let due = 0;
  let last = 0;
  let tries = 0;
  const load = async () => {
    last = Date.now();
    due = 0;
    try {
      list = (await call("exercises")).value;
    } catch {
      // Without a server the last state stands; the panel says what is wrong.
      tries += 1;
      if (list.length === 0 && tries < MOST_TRIES) due ||= window.setTimeout(load, LEAST_PAUSE_MS * tries);
      return;
    }
    for (const listener of listeners) listener(list);
  };
  onNews(({ type }) => {
    if (type === "elsewhere") return;
    due ||= window.setTimeout(load, Math.max(0, last + LEAST_PAUSE_MS - Date.now()));
  });
  await load();
}

/** @type {HTMLElement | undefined} */
let segments;

/** One segment for each exercise, above the contents; each leads to its page. @param {Listed[]} list */
function showSegments(list) {
  const solved = list.filter(({ state }) => state === "solved").length;
  const unexplored = list.filter(isUnexplored).length;
  const next = list.find((exercise) => exercise.next);
  const parts = list.map((exercise) => {
    const stands = isUnexplored(exercise) ? "unexplored" : exercise.state === "solved" ? "solved" : exercise.state === "not-started" ? "open" : "begun";
    const says = `Exercise ${exercise.number}: ${spokenState(exercise)}`;
    const kind = { class: stands, title: says, ...(exercise.next ? { "aria-current": "step" } : {}) };
    // A link each would be as many stops of the keyboard again: the contents have them.
    return element("span", kind);
  });
  const words = `${solved} of ${list.length} exercises solved${unexplored ? `, ${unexplored} with models still to be explored` : ""}`;
  const way = next?.page ? [element("a", { href: fromRoot(next.page).href }, `${solved || next.state !== "not-started" ? "Continue" : "Start"}: exercise ${next.number}`)] : [];
  const shown = element("div", { class: "ws-segments" }, element("div", { class: "segments", role: "img", "aria-label": words }, ...parts), element("p", {}, `${words}.`), element("p", {}, ...way));
  const start = document.querySelector("main .start a");
  // The way in becomes the way on.
  if (start instanceof HTMLAnchorElement && next?.page && (solved || next.state !== "not-started")) {
    start.href = fromRoot(next.page).href;
    start.replaceChildren(`Continue: exercise ${next.number}`);
    start.nextElementSibling?.replaceChildren(words, ".");
  }
  if (segments) segments.replaceWith(shown);
  else document.querySelector("#mdbook-sidebar .sidebar-scrollbox")?.prepend(shown);
  segments = shown;
}

/** @param {Listed[]} list */
function tick(list) {
  for (const exercise of list) {
    if (exercise.page === null) continue;
    const link = pageLink(fromRoot(exercise.page).href);
    link?.querySelector(".ws-tick")?.remove();
    const sign = signOf(exercise);
    if (!link || !sign) continue;
    const words = element("span", { class: "ws-sr" }, ` ${sign.words}`);
    link.append(element("span", { class: "ws-tick", title: sign.words }, element("span", { "aria-hidden": "true" }, ` ${sign.glyph}`), words));
  }
}

/** Solved, and its models have never been explored. @param {Listed} exercise */
function isUnexplored({ state, explored }) {
  return state === "solved" && explored === false;
}

/** @param {Listed} exercise */
function signOf(exercise) {
  const { state, solved } = exercise;
  if (isUnexplored(exercise)) return { glyph: "✓", words: "solved, models still to be explored" };
  if (state === "solved") return { glyph: "✓", words: "solved" };
  if (state === "changed" && solved) return { glyph: "~", words: "was solved, and has changed since" };
  return undefined;
}

/**
 * The link to a page in the contents.
 *
 * @param {string} address
 * @returns {HTMLAnchorElement | undefined}
 */
export function pageLink(address) {
  const links = [...document.querySelectorAll("#mdbook-sidebar a[href]:not(.ws-segments a)")];
  const found = links.find((link) => link instanceof HTMLAnchorElement && link.href.replace(/#.*/s, "") === address);
  return found instanceof HTMLAnchorElement ? found : undefined;
}

/**
 * How an exercise stands, in words.
 *
 * @param {Listed} exercise
 */
export function spokenState({ state, solved, explored, held, clauses, unwritten, milestones, reached }) {
  switch (state) {
    case "not-started":
      return "not started";
    case "not-checked":
      return "not checked yet";
    case "changed":
      return solved ? "was solved, and has changed since: check it again" : "changed since its last check";
    case "does-not-compile":
      return "did not compile when it was last checked";
    case "solved":
      return explored === false ? "solved; its models are still to be explored" : "solved";
    default: {
      if (held === clauses) return "every clause holds when tested, but a model fails";
      const steps = milestones ? `${reached} of ${milestones} milestones: ` : "";
      return `${steps}${held} of ${clauses} clauses held when it was last checked${unwritten ? `, ${unwritten} not written yet` : ""}`;
    }
  }
}
