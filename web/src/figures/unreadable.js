/** Data that a figure can't draw; the message is one sentence with the remedy. */
export class Unreadable extends Error {}

/**
 * Parses JSON of a known schema.
 *
 * @param {string} text
 * @param {string} schema for instance `workshop.trace/1`
 * @param {string} remedy what to load instead
 * @returns {any}
 */
export function parseDocument(text, schema, remedy) {
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Unreadable(`This is not JSON: ${remedy}.`);
  }
  return checkSchema(document, schema, remedy);
}

/**
 * @param {any} document
 * @param {string} schema
 * @param {string} remedy
 */
export function checkSchema(document, schema, remedy) {
  const [kind, version] = schema.split("/");
  const [itsKind, itsVersion] = textOf(document?.schema).split("/");
  if (itsKind !== kind) throw new Unreadable(`This has no ${schema} in it: ${remedy}.`);
  if (itsVersion !== version) {
    throw new Unreadable(`This was written in the newer format ${textOf(document.schema)}: update the book, or record it with this version.`);
  }
  return document;
}

/** Longer texts would be no title or name, and take a browser minutes to lay out. */
const MOST_LETTERS = 200;

/** What is to be shown of a value that should be a text. @param {unknown} value @param {string} [otherwise] */
export function textOf(value, otherwise = "") {
  return typeof value === "string" ? value.slice(0, MOST_LETTERS) : otherwise;
}

/** What the reader is told of data that couldn't be read. @param {unknown} error */
export function wordsOf(error) {
  if (error instanceof Unreadable) return error.message;
  // An unforeseen case: the page stands, and the console has the error.
  console.error(error);
  return "This can't be drawn: it isn't as the recorder of this book writes it. Record it again.";
}
