// Figures of made-up data, put into a page of the book.

import { readFileSync } from "node:fs";
import { onPage, pageWith } from "./browser.mjs";

export function data(name) {
  return readFileSync(new URL(`../test/data/${name}.json`, import.meta.url), "utf8").trim();
}

export const TRACE = data("late-heartbeat");
export const QUEUES = data("queues");
export const SWEEP = data("yield-sweep");
export const GAP = data("steps-gap");
export const RECORDED = data("steps-recorded");

/** The Markdown of README.md, as HTML. */
export function figure(id, tag, attributes, documents) {
  const all = Object.entries({ question: `The question of ${id}?`, ...attributes }).map(([name, value]) => `data-${name}="${value}"`);
  const scripts = Object.entries(documents).map(([name, text]) => `<script type="application/json" data-name="${name}">${text}</script>`);
  return `<figure class="fig wide" id="${id}"><${tag} ${all.join(" ")}>${scripts.join("")}</${tag}><figcaption><p>What to notice.</p></figcaption></figure>`;
}

export const FIGURES = {
  timeline: figure("fig-timeline", "ws-timeline", { select: "longest-wait" }, { beat: TRACE }),
  compared: figure("fig-compared", "ws-timeline", { view: "worker", tasks: "heartbeat" }, { beat: TRACE, other: TRACE }),
  guessed: figure("fig-guessed", "ws-timeline", { predict: "poll:heartbeat:3", select: "longest-wait" }, { beat: TRACE }),
  queues: figure("fig-queues", "ws-timeline", { view: "worker" }, { queues: QUEUES }),
  empty: figure("fig-empty", "ws-timeline", {}, {}),
  sweep: figure("fig-sweep", "ws-sweep", { x: "numbers between two yields", items: "numbers", budget: "50us" }, { sweep: SWEEP }),
  gap: figure("fig-gap", "ws-steps", {}, { gap: GAP }),
  recorded: figure("fig-recorded", "ws-steps", {}, { recorded: RECORDED }),
  scheduler: figure("fig-scheduler", "ws-scheduler", { load: "long", workers: "3", without: "slot" }, {}),
  litmus: figure("fig-litmus", "ws-litmus", { program: "mp", orderings: "relaxed" }, {}),
  asked: figure("fig-asked", "ws-litmus", { program: "sb", orderings: "pairs", predict: "" }, {}),
  drawn: figure("fig-drawn", "ws-sweep", { x: "numbers between two yields", predict: "" }, { sweep: SWEEP }),
};

/** Opens a page with these figures in place of its text. */
export async function onFigures(markup, visit, { fragment = "", prepare, ...settings } = {}) {
  const path = await firstPage();
  const inject = async (page) => {
    await page.route(`**/${path}`, async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).replace(/<main>[^]*<\/main>/, () => `<main><h1 id="of-tests">Figures</h1>${markup}</main>`);
      await route.fulfill({ response: answer, body });
    });
    await prepare?.(page);
  };
  await onPage(path + fragment, visit, { prepare: inject, token: false, ...settings });
}

/** Opens what a figure says as text; its tables come once the browser has told of the fold. */
export async function openText(figure) {
  await figure.locator(".fig-text summary").first().click();
  await figure.locator(".fig-text .fig-table").first().waitFor();
}

let first;

function firstPage() {
  first ??= pageWith("h1");
  return first;
}
