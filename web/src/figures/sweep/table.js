// The sweep as a table.

import { html } from "lit/html.js";
import { grouped, share, time } from "../format.js";
import { throughput } from "./words.js";

/**
 * @param {import("./view.js").Curve[]} curves
 * @param {string} items
 * @param {boolean} isOpen
 */
export function asText(curves, items, isOpen) {
  return html`<details class="fig-text" ?open=${isOpen}>
    <summary>The same as a table</summary>
    ${curves.map((curve) => table(curve, items))}
  </details>`;
}

/** @param {import("./view.js").Curve} curve @param {string} items */
function table({ sweep: { points, peak, x }, label }, items) {
  return html`<div class="fig-table" tabindex="0" role="group" aria-label=${`Table: ${label}`}>
    <table>
      <caption>${label}</caption>
      <thead><tr><th scope="col">${x}</th><th scope="col">Throughput</th><th scope="col">Of the peak</th><th scope="col">Repeats from … to</th><th scope="col">Half wait less than</th><th scope="col">Nine in ten</th></tr></thead>
      <tbody>${points.map(({ n, rate, low, high, p50, p90 }) => html`<tr>
        <th scope="row">${grouped(n)}</th><td>${throughput(rate, items)}</td><td>${share(rate / peak)}</td><td>${share(low / peak)} … ${share(high / peak)}</td>
        <td>${p50 === undefined ? "–" : time(p50)}</td><td>${p90 === undefined ? "–" : time(p90)}</td>
      </tr>`)}</tbody>
    </table>
  </div>`;
}
