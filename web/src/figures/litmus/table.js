// The outcomes as a table: with the orderings as they are, and with each preset.

import { html, nothing } from "lit/html.js";
import { JUDGES, outcomes } from "./model.js";
import { PRESETS, preset } from "./programs.js";
import { MODEL, NAME, choiceOf, codeLines, heading, labelOf, sentences, stepsOf } from "./words.js";

/**
 * @param {import("./view.js").Shown} shown
 * @param {boolean} isOpen as on paper
 * @param {import("../figure.js").TextState} opened
 */
export function asText(shown, isOpen, opened) {
  const { program, orders, all, chosen } = shown;
  return html`<details class="fig-text" ?open=${isOpen} @toggle=${opened.toggle}>
    <summary>The same as text and table</summary>
    ${isOpen || opened.isOpen ? html`<ul>${sentences(program, orders, all, chosen).map((sentence) => html`<li>${sentence}</li>`)}</ul>
      ${codeLines(program, orders).map((lines, thread) => html`<p class="fig-panel-title">${program.threads[thread]?.name}</p><ol class="steps-program">${lines.map((line) => html`<li><code>${line}</code></li>`)}</ol>`)}
      ${chosen?.witness ? html`<p class="fig-panel-title">“${labelOf(program, chosen.key)}”</p><p>${heading(chosen)}</p><ol>${stepsOf(chosen.witness).map(({ thread, does, overtakes }) => html`<li>${program.threads[thread]?.name}: ${does}${overtakes ? `, ${overtakes}` : ""}</li>`)}</ol>` : nothing}
      ${table(shown)}` : nothing}
    <p>${MODEL}</p>
  </details>`;
}

/** @param {import("./view.js").Shown} shown */
function table({ program, orders, all }) {
  const columns = [{ name: `Now: ${choiceOf(program, orders)}`, all }, ...PRESETS.map(({ id, name }) => ({ name, all: outcomes(program, preset(program, id)) }))];
  const caption = `Where each outcome of “${program.name}” can happen`;
  return html`<div class="fig-table" tabindex="0" role="group" aria-label=${caption}><table><caption>${caption}</caption>
    <thead><tr><th scope="col">Outcome</th>${columns.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${all.map(({ key }, row) => html`<tr><th scope="row">${labelOf(program, key)}${key === program.bad ? ` (${program.fear})` : ""}</th>${columns.map(({ all }) => html`<td>${JUDGES.filter((judge) => all[row]?.can[judge]).map((judge) => NAME[judge]).join(", ") || "can't happen"}</td>`)}</tr>`)}</tbody></table></div>`;
}
