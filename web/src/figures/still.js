// A figure that stands still: its question, its picture, and what it says.

import { svg } from "lit/html.js";

const QUESTION = 30;
const LINE = 19;
const GLYPH = 6.6;
const SIGN = 30;

/**
 * Sentences as lines of SVG text, which doesn't wrap by itself.
 *
 * @param {string[]} sentences
 * @param {number} width in pixels
 */
function wrapped(sentences, width) {
  const most = Math.floor(width / GLYPH);
  return sentences.flatMap((sentence) => {
    const lines = [""];
    for (const word of sentence.split(" ")) {
      const line = lines.at(-1) ?? "";
      if (line && line.length + 1 + word.length > most) lines.push(word);
      else lines[lines.length - 1] = line ? `${line} ${word}` : word;
    }
    return lines;
  });
}

/**
 * Signs and their meanings, in as many lines as they need.
 *
 * @param {{glyph: unknown, text: string}[]} signs
 * @param {number} width
 */
function laidOut(signs, width) {
  let [x, y] = [0, 0];
  return signs.map(({ glyph, text }) => {
    const wide = SIGN + text.length * GLYPH + 18;
    if (x > 0 && x + wide > width) [x, y] = [0, y + LINE];
    const place = { x, y, glyph, text };
    x += wide;
    return place;
  });
}

/**
 * @param {unknown} picture
 * @param {number} height of the picture
 * @param {string} question
 * @param {string[]} sentences
 * @param {number} width
 * @param {{glyph: unknown, text: string}[]} [signs] and what they mean
 */
export function still(picture, height, question, sentences, width, signs = []) {
  const legend = laidOut(signs, width);
  const lines = wrapped(sentences, width);
  const asked = wrapped([question], width * 0.8);
  const top = asked.length * 22 + QUESTION - 22;
  const foot = top + height + (legend.length > 0 ? (legend.at(-1)?.y ?? 0) + LINE + 8 : 0);
  return svg`<svg class="fig-still" viewBox=${`0 0 ${width} ${foot + lines.length * LINE + 8}`} width=${width}>
    ${asked.map((line, index) => svg`<text class="fig-asked" x="0" y=${16 + index * 22}>${line}</text>`)}
    <g transform=${`translate(0 ${top})`}>${picture}</g>
    ${legend.map(({ x, y, glyph, text }) => svg`<g class="fig-picture" transform=${`translate(${Math.round(x)} ${top + height + 4 + y})`}>${glyph}<text class="sign-text" x=${SIGN} y="13">${text}</text></g>`)}
    ${lines.map((line, index) => svg`<text class="fig-said" x="0" y=${foot + 18 + index * LINE}>${line}</text>`)}</svg>`;
}
