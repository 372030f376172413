// What an exercise's panel has wherever the page is: its heading, and the
// command that checks it. All else needs the workshop, and comes with its script.

import { button, element } from "../common/dom.js";

const COPIED_MS = 2000;

/** Gives every `<div class="exercise" data-exercise="N">` its command. */
export function startCommands() {
  for (const place of document.querySelectorAll("main .exercise[data-exercise]")) {
    if (place instanceof HTMLElement && /^\d+$/.test(place.dataset.exercise ?? "")) start(place);
  }
}

/** @param {HTMLElement} place */
function start(place) {
  const number = place.dataset.exercise;
  const id = `exercise-${number}-panel`;
  const command = `cargo test -p exercise-${number}`;
  place.setAttribute("role", "group");
  place.setAttribute("aria-labelledby", id);
  place.append(
    element(headingBelow(place), { id }, `Exercise ${number}`),
    element("div", { class: "exercise-row exercise-command" }, element("code", {}, command), copyButton(command)),
  );
}

/** @param {string} command */
function copyButton(command) {
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(command);
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), COPIED_MS);
  }, { "aria-label": `Copy the command ${command}`, class: "ws-screen-only" });
  // Only pages from this machine or over https may write to the clipboard.
  copy.hidden = !navigator.clipboard;
  return copy;
}

/**
 * The level of heading that fits below the one before `place`.
 *
 * @param {HTMLElement} place
 * @returns {"h2" | "h3" | "h4"}
 */
function headingBelow(place) {
  const before = [...document.querySelectorAll("main :is(h1, h2, h3)")].filter(
    (heading) => heading.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  switch (before.at(-1)?.tagName) {
    case "H3":
      return "h4";
    case "H2":
      return "h3";
    default:
      return "h2";
  }
}
