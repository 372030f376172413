// The report of a check, which the test kit writes for a terminal: rows of a label and a
// text beside it, whose lines are broken to fit.

/** @typedef {{label?: string, text: string}} Part */

const LABEL_COLUMNS = 13;
const TEXT_COLUMNS = 66;
const ROW = new RegExp(`^ {2}(?=\\S+ +\\S)(.{${LABEL_COLUMNS - 2}})(?<= )(?=\\S)`);

/**
 * The rows, each with its text in whole paragraphs, and what stands between them as it is.
 *
 * @param {string} message
 * @returns {Part[]}
 */
export function partsOf(message) {
  /** @type {Part[]} */
  const parts = [];
  let last = "";
  for (const line of message.split("\n")) {
    const part = parts.at(-1);
    const [row, label] = ROW.exec(line) ?? [];
    const text = line.slice(LABEL_COLUMNS);
    if (row !== undefined) {
      parts.push({ label: label?.trim(), text });
    } else if (part?.label !== undefined && /^ +$/.test(line.slice(0, LABEL_COLUMNS)) && text) {
      // A word that would have fitted begins a line of its own.
      const isBroken = /^\S/.test(text) && last.length + 1 + text.split(" ")[0].length > TEXT_COLUMNS;
      part.text += `${isBroken ? " " : "\n"}${text}`;
    } else if (part && part.label === undefined) {
      part.text += `\n${line}`;
    } else {
      parts.push({ text: line });
    }
    last = text;
  }
  return parts;
}
