// The order as sentences and as a table.

import { html, nothing } from "lit/html.js";
import { shown, valuesBefore } from "./derive.js";
import { fieldsAt } from "./fields.js";
import { changesOf, effects, failure, remarks } from "./words.js";

/** @typedef {import("./derive.js").Run} Run */

/**
 * @param {Run} run
 * @param {string[]} sentences
 * @param {number} at
 * @param {boolean} isOpen as on paper
 * @param {import("../figure.js").TextState} opened
 * @param {(at: number) => void} seek
 */
export function asText(run, sentences, at, isOpen, opened, seek) {
  return html`<details class="fig-text" ?open=${isOpen} @toggle=${opened.toggle}>
    <summary>The same as text and table</summary>
    <ul>${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul>
    ${isOpen || opened.isOpen ? html`${programs(run)}${moment(run, at)}${table(run, at, seek)}` : nothing}
  </details>`;
}

/** @param {Run} run */
function programs({ steps }) {
  return steps.programs.map((program, thread) => html`<p class="fig-panel-title">What ${steps.threads[thread]} runs</p>
    <ol class="steps-program">${program.map(({ code }) => html`<li><code>${code.trim()}</code></li>`)}</ol>`);
}

/** @param {Run} run @param {number} at */
function moment({ steps, rows, start }, at) {
  const { values, waits, ended } = rows[at - 1]?.then ?? start;
  const before = valuesBefore({ rows, start }, at);
  const held = (/** @type {import("./read.js").Cell} */ { fields }, /** @type {number} */ cell) =>
    fields.length > 0 ? fieldsAt(fields, before[cell] ?? "", values[cell] ?? "").map(({ name, shown: value }) => `${name} ${value}`).join(", ") : shown(values[cell]);
  return html`<p>${at === 0 ? "Before the first step" : `After step ${at}`}: ${steps.cells.map((one, cell) => `${one.name} = ${held(one, cell)}`).join(steps.cells.some(({ fields }) => fields.length > 0) ? "; " : ", ") || "no cells"}.
    ${steps.threads.map((name, thread) => (waits[thread] ? `${name} ${waits[thread]}. ` : ended[thread] ? `${name}: ended. ` : ""))}</p>`;
}

/** @param {Run} run @param {number} at @param {(at: number) => void} seek */
function table(run, at, seek) {
  const { steps, rows, end } = run;
  if (rows.length === 0) return nothing;
  const caption = `The steps of ${steps.title}`;
  return html`<div class="fig-table" tabindex="0" role="group" aria-label=${caption}>
    <table class="steps-table">
      <caption>${caption}</caption>
      <thead><tr><th scope="col">Step</th><th scope="col">Thread</th><th scope="col">Does</th><th scope="col">What comes of it</th><th scope="col">Changes</th></tr></thead>
      <tbody>${rows.map((row, index) => html`<tr class=${index === at - 1 ? "chosen" : ""}>
        <td><button type="button" class="fig-row" @click=${() => seek(index + 1)}>${index + 1}</button></td>
        <td>${steps.threads[row.thread]}</td>
        <td><code>${row.does}</code>${row.ordering ? ` ${row.ordering}` : nothing}${row.place ? html`<br />${row.place}` : nothing}${row.code ? html`<br /><code>${row.code}</code>` : nothing}</td>
        <td>${[...remarks(row), ...effects(run, index), failure(run, index)].filter(Boolean).join("; ")}</td>
        <td>${changesOf(run, row).join(", ")}</td>
      </tr>`)}</tbody>
    </table>
  </div>${end ? html`<p>${end.text}</p>` : nothing}`;
}
