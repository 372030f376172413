// The runs as tables: what they came to, what each part is worth for this load,
// what the costs are, and what happened.

import { html, nothing } from "lit/html.js";
import { ALL, shownOf } from "./choice.js";
import { PARTS } from "./model.js";
import { PART, choiceOf, costsOf, us } from "./names.js";
import { runOf } from "./run.js";
import { MODEL, capital, eventInWords, lasts, nameOf, queuesOf } from "./words.js";

/** @typedef {import("./run.js").Run} Run */
/** @typedef {import("./choice.js").Runs} Runs */

/** @param {Run} run @returns {[string, string][]} */
function measures({ meters, moments }) {
  const { makespan, longest, waiter, polls, steals, stolen, unparks, useless, parks } = meters;
  const state = /** @type {import("./run.js").Moment} */ (moments[0]).state;
  return [
    ["The last task ends after", lasts(makespan)],
    ["The longest wait of a ready task", longest === Infinity ? "forever" : `${us(longest)}${waiter && longest > 0 ? `, task ${nameOf(state, waiter.task)}` : ""}`],
    ["Polls of each worker", polls.join(" / ")],
    ["Steals (tasks)", `${steals} (${stolen})`],
    ["Unparked (for nothing)", `${unparks} (${useless})`],
    ["Parked", String(parks)],
  ];
}

/** @param {Runs} runs */
export function meterTable(runs) {
  const columns = shownOf(runs).map(measures);
  const [first = []] = columns;
  return html`<table class="scheduler-meters">
    <caption class="ws-sr">What the runs came to</caption>
    <thead><tr><td></td>${shownOf(runs).map(({ settings }, index) => html`<th scope="col">${runs.before ? (index === 0 ? "Before: " : "Now: ") : ""}${choiceOf(settings.parts)}</th>`)}</tr></thead>
    <tbody>${first.map(([name], row) => {
      const values = columns.map((column) => column[row]?.[1] ?? "");
      const isChanged = values.length > 1 && values[0] !== values[1];
      return html`<tr><th scope="row">${name}</th>${values.map((value, index) => html`<td class=${isChanged && index === 1 ? "changed" : ""}>${value}</td>`)}</tr>`;
    })}</tbody>
  </table>`;
}

/**
 * @param {Runs} runs
 * @param {string[]} sentences
 * @param {{at: number, state: import("./model.js").State}} cursor
 * @param {boolean} isOpen as on paper
 * @param {import("../figure.js").TextState} opened
 * @param {(at: number) => void} seek
 */
export function asText(runs, sentences, { at, state }, isOpen, opened, seek) {
  return html`<details class="fig-text" ?open=${isOpen} @toggle=${opened.toggle}>
    <summary>The same as text and tables; what each part is worth, and the model's costs</summary>
    <ul>${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul>
    ${isOpen || opened.isOpen ? html`<p class="fig-panel-title">At ${us(at)}, ${choiceOf(state.settings.parts)}</p><ul>${queuesOf(state).map((line) => html`<li>${capital(line)}</li>`)}</ul>
      ${partsTable(runs.now)}${costs(runs.now)}${isOpen ? nothing : log(runs.now, seek)}` : nothing}
  </details>`;
}

/** @param {string} caption @param {unknown} content */
function scrolled(caption, content) {
  return html`<div class="fig-table" tabindex="0" role="group" aria-label=${caption}><table><caption>${caption}</caption>${content}</table></div>`;
}

/** Every part taken out by itself. @param {Run} run */
function partsTable({ settings }) {
  const rows = [undefined, ...PARTS].map((part) => ({ part, run: runOf({ ...settings, parts: part ? { ...ALL, [part]: false } : ALL }) }));
  const [first] = rows;
  return scrolled(`What each part is worth for this load, with ${settings.workers} workers`, html`<thead><tr><th scope="col">Without</th><th scope="col">What it does</th>${first && measures(first.run).map(([name]) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map(({ part, run }) => html`<tr><th scope="row">${part ? PART[part].name : "nothing"}</th><td class="wrap">${part ? PART[part].does : "all parts are there"}</td>${measures(run).map(([, value]) => html`<td>${value}</td>`)}</tr>`)}</tbody>`);
}

/** @param {Run} run */
function costs({ settings }) {
  return html`<p>${MODEL} What the model leaves out: caches other than by the last cost, contention, the operating system, and queues that overflow.</p>
    ${scrolled("What takes how long, and by what source", html`<thead><tr><th scope="col">What</th><th scope="col">Cost</th><th scope="col">Source</th></tr></thead>
      <tbody>${costsOf(settings).map(([what, cost, source]) => html`<tr><th scope="row">${what}</th><td>${cost === 0 ? "0" : us(cost)}</td><td class="wrap">${source}</td></tr>`)}</tbody>`)}`;
}

/** What happened, event by event. @param {Run} run @param {(at: number) => void} seek */
function log(run, seek) {
  const events = run.moments.flatMap(({ state, events }) => events.map((event) => ({ time: event[0], text: eventInWords(state, event) })));
  return scrolled(`What happens ${choiceOf(run.settings.parts)}`, html`<thead><tr><th scope="col">Time</th><th scope="col">What happens</th></tr></thead>
    <tbody>${events.map(({ time, text }) => html`<tr><td><button type="button" class="fig-row" @click=${() => seek(time)}>${us(time)}</button></td><td class="wrap">${capital(text)}</td></tr>`)}</tbody>`);
}
