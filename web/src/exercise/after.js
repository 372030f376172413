// What an exercise offers once it is solved.

import { button, element, hideAndPassFocus } from "../common/dom.js";
import { inline } from "../common/prose.js";
import { call, fromRoot } from "../runner.js";
import { differenceLines } from "./difference.js";
import { pageLink } from "./ticks.js";

/**
 * @param {HTMLElement} place the panel
 * @param {number} number
 * @param {{has_models: boolean, has_trace: boolean, has_bench: boolean}} opened
 * @param {{number: number, title: string, page: string | null} | undefined} next the next exercise that isn't solved
 * @param {() => void} explore checks again, with the models
 */
export function afterGreen(place, number, opened, next, explore) {
  const difference = element("div");
  const compare = button("Compare with our solution", async () => {
    const { value } = await call(`exercises/${number}/diff`);
    const shown = differenceLines(value.text.trimEnd().split("\n"));
    difference.replaceChildren(shown);
    hideAndPassFocus(compare, shown);
  });
  const command = (/** @type {string} */ name) => element("code", {}, `cargo workshop ${name} ${number}`);
  const ways = [
    ...(opened.has_trace ? [[command("trace"), " draws a timeline of your code at work."]] : []),
    ...(opened.has_bench ? [[command("bench"), " measures it against ours and others."]] : []),
    ...nextPage(),
    ...(next?.page ? [["Go on to ", element("a", { href: fromRoot(next.page).href }, `exercise ${next.number}`), ": ", ...inline(next.title), "."]] : []),
  ];
  // What the tests don't see comes before everything else.
  const models = opened.has_models
    ? [element("p", {}, button("Explore the models", explore), " A model checker tries your code in every order of its threads’ steps. The first time, it takes a minute or so.")]
    : [];
  const [step, ...others] = [...headingAfter(place), ...ways];
  const more = element("details", {}, element("summary", {}, "What else to try"), element("ul", {}, ...others.map((way) => element("li", {}, ...way))));
  const one = element("p", { class: "next-step" }, element("strong", {}, "Next: "), ...(step ?? []));
  return element("div", { class: "after" }, ...models, one, compare, difference, more);
}

/** The section that follows the panel on the page. */
function headingAfter(/** @type {HTMLElement} */ place) {
  const headings = [...document.querySelectorAll("main :is(h2, h3)[id]")];
  const after = headings.find((heading) => !place.contains(heading) && place.compareDocumentPosition(heading) & Node.DOCUMENT_POSITION_FOLLOWING);
  return after ? [["read on with ", element("a", { href: `#${after.id}` }, after.textContent?.trim() ?? ""), "."]] : [];
}

/** The page that mdBook's arrow leads to. */
function nextPage() {
  const arrow = document.querySelector("a.nav-chapters.next, a.next");
  const link = arrow instanceof HTMLAnchorElement ? pageLink(arrow.href) : undefined;
  // Its number in the contents isn't its name.
  const name = [...(link?.childNodes ?? [])].filter((node) => node.nodeName !== "STRONG" && !(node instanceof HTMLElement && node.matches(".ws-tick")));
  const title = name.map((node) => node.textContent).join("").trim();
  return link && title ? [["Turn the page: ", element("a", { href: link.href }, title), "."]] : [];
}
