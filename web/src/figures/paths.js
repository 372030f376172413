// Paths of SVG. (d3-shape would do, and would cost a tenth of all our bytes.)

/** @typedef {[number, number]} Place in pixels */

/** To a tenth of a pixel: more is noise in the file. */
export function round(/** @type {number} */ pixels) {
  return Math.round(pixels * 10) / 10;
}

/** A line from place to place. @param {Place[]} places */
export function polyline(places) {
  return places.map(([x, y], index) => `${index ? "L" : "M"}${round(x)} ${round(y)}`).join("");
}

/** The area between two lines. @param {Place[]} upper @param {Place[]} lower from left to right, too */
export function ribbon(upper, lower) {
  return upper.length > 1 ? `${polyline([...upper, ...lower.toReversed()])}Z` : "";
}

/** A line that keeps its height until the next place. @param {Place[]} places */
export function staircase(places) {
  return places.map(([x, y], index) => (index ? `H${round(x)}V${round(y)}` : `M${round(x)} ${round(y)}`)).join("");
}

/** @param {number} x @param {number} y @param {number} width @param {number} height */
export function rectangle(x, y, width, height) {
  return `M${round(x)} ${y}h${round(width)}v${height}h${round(-width)}z`;
}
