// The timeline as sentences and as a table.

import { html, nothing } from "lit/html.js";
import { grouped, tied, time } from "../format.js";
import { moveInWords } from "./moves.js";
import { workerName } from "./words.js";

/** @typedef {import("./derive.js").Timeline} Timeline */

const MOST_ROWS = 200;
const MOST_ON_PAPER = 24;
const RESULTS = { ready: "✓ ready", pending: "pending", yielded: "pending, yields", open: "not ended" };

/**
 * @param {{timeline: Timeline, title: string, sentences: string[]}[]} panels
 * @param {boolean} isOpen as on paper, which has room for few rows
 * @param {import("../figure.js").TextState} opened by the reader: only then there are tables
 * @param {(panel: number, poll: number) => void} select
 */
export function asText(panels, isOpen, opened, select) {
  return html`<details class="fig-text" ?open=${isOpen} @toggle=${opened.toggle}>
    <summary>The same as text and table</summary>
    ${panels.map(({ timeline, title, sentences }, panel) => html`
      ${panels.length > 1 ? html`<p class="fig-panel-title">${title}</p>` : nothing}
      <ul>${sentences.map((sentence) => html`<li>${tied(sentence)}</li>`)}</ul>
      ${isOpen || opened.isOpen ? table(timeline, title, isOpen ? MOST_ON_PAPER : MOST_ROWS, (poll) => select(panel, poll)) : nothing}
      ${(isOpen || opened.isOpen) && timeline.moves.length > 0 ? movesTable(timeline, title, isOpen ? MOST_ON_PAPER : MOST_ROWS) : nothing}`)}
  </details>`;
}

/** @param {Timeline} timeline @param {string} title @param {number} most rows @param {(poll: number) => void} select */
function table({ polls, byId }, title, most, select) {
  const longest = [...polls].sort((one, other) => other.self + other.waited - one.self - one.waited).slice(0, most);
  const shown = [...longest].sort((one, other) => one.index - other.index);
  const caption = shown.length < polls.length ? `The ${most} longest of ${grouped(polls.length)} polls of ${title}` : `Polls of ${title}`;
  return html`<div class="fig-table" tabindex="0" role="group" aria-label=${caption}>
    <table>
      <caption>${caption}</caption>
      <thead><tr><th scope="col">Start</th><th scope="col">Worker</th><th scope="col">Task</th><th scope="col">Ran</th><th scope="col">Waited</th><th scope="col">Result</th></tr></thead>
      <tbody>${shown.map((poll) => html`<tr>
        <td><button type="button" class="fig-row" @click=${() => select(poll.index)}>${time(poll.start)}</button></td>
        <td>${workerName(poll.worker)}</td><td>${byId.get(poll.task)?.name}</td><td>${time(poll.end - poll.start)}</td>
        <td>${time(poll.waited)}</td><td>${RESULTS[poll.result]}</td>
      </tr>`)}</tbody>
    </table>
  </div>`;
}

/** @param {Timeline} timeline @param {string} title @param {number} most rows */
function movesTable({ moves, byId }, title, most) {
  const caption = moves.length > most ? `The first ${most} of ${grouped(moves.length)} events of the queues of ${title}` : `The queues of ${title}`;
  const name = (/** @type {number} */ task) => byId.get(task)?.name ?? "a task";
  return html`<div class="fig-table" tabindex="0" role="group" aria-label=${caption}>
    <table>
      <caption>${caption}</caption>
      <thead><tr><th scope="col">Time</th><th scope="col">Worker</th><th scope="col">What it does</th></tr></thead>
      <tbody>${moves.slice(0, most).map((move) => html`<tr><td>${time(move.t)}</td><td>${workerName(move.worker)}</td><td>${moveInWords(move, name)}</td></tr>`)}</tbody>
    </table>
  </div>`;
}
