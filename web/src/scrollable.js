import { keepArrowKeys } from "./common/dom.js";

/** Lets the keyboard reach, and scroll, everything that is too wide for the page. */
export function startScrollable() {
  const wide = [...document.querySelectorAll("main :is(pre > code:not(.ace_editor, .suspect), .table-wrapper)")].filter(
    (candidate) => candidate instanceof HTMLElement,
  );
  const watcher = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
    }
  });
  for (const candidate of wide) {
    keepArrowKeys(candidate);
    watcher.observe(candidate);
  }
}
