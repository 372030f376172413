// A figure that stands still: its question, its picture, and what it says.

import { svg } from "lit/html.js";

const QUESTION = 30;
const LINE = 19;
const GLYPH = 6.6;

/**
 * Sentences as lines of SVG text, which does not wrap by itself.
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
 * @param {unknown} picture
 * @param {number} height of the picture
 * @param {string} question
 * @param {string[]} sentences
 * @param {number} width
 */
export function still(picture, height, question, sentences, width) {
  const lines = wrapped(sentences, width);
  const asked = wrapped([question], width * 0.8);
  const top = asked.length * 22 + QUESTION - 22;
  return svg`<svg class="fig-still" viewBox=${`0 0 ${width} ${top + height + lines.length * LINE + 8}`} width=${width}>
    ${asked.map((line, index) => svg`<text class="fig-asked" x="0" y=${16 + index * 22}>${line}</text>`)}
    <g transform=${`translate(0 ${top})`}>${picture}</g>
    ${lines.map((line, index) => svg`<text class="fig-said" x="0" y=${top + height + 18 + index * LINE}>${line}</text>`)}</svg>`;
}
