import { element, keepArrowKeys } from "../common/dom.js";

const CONTEXT = 2;

/**
 * The lines in which `other` differs from `text`. One stretch, from the first
 * that differs to the last: enough to see which version is which.
 *
 * @param {string} text
 * @param {string} other
 */
export function difference(text, other) {
  const [old, now] = [text.split("\n"), other.split("\n")];
  const shorter = Math.min(old.length, now.length);
  let before = 0;
  while (before < shorter && old[before] === now[before]) before += 1;
  let after = 0;
  while (after < shorter - before && old.at(-1 - after) === now.at(-1 - after)) after += 1;
  const from = Math.max(0, before - CONTEXT);
  return differenceLines([
    ...old.slice(from, before).map((line) => ` ${line}`),
    ...old.slice(before, old.length - after).map((line) => `-${line}`),
    ...now.slice(before, now.length - after).map((line) => `+${line}`),
    ...now.slice(now.length - after).slice(0, CONTEXT).map((line) => ` ${line}`),
  ]);
}

/**
 * Shows the lines of a difference, which begin with `-`, `+` or a space.
 *
 * @param {string[]} lines
 */
export function differenceLines(lines) {
  const classes = new Map([["-", "removed"], ["+", "added"]]);
  const shown = lines.map((line) => element("span", { class: classes.get(line.charAt(0)) ?? "" }, `${line}\n`));
  const pre = element("pre", { class: "difference", tabIndex: 0, role: "region", "aria-label": "Difference" }, ...shown);
  keepArrowKeys(pre);
  return pre;
}
