const GLYPH = 6.6;

/**
 * Sentences as lines of SVG text, which does not wrap by itself.
 *
 * @param {string[]} sentences
 * @param {number} width in pixels
 */
export function wrapped(sentences, width) {
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
