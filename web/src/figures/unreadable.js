/** Data that a figure cannot draw; the message is one sentence with the remedy. */
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
  const [itsKind, itsVersion] = String(document?.schema ?? "").split("/");
  if (itsKind !== kind) throw new Unreadable(`This has no ${schema} in it: ${remedy}.`);
  if (itsVersion !== version) {
    throw new Unreadable(`This was written in the newer format ${document.schema}: update the book, or record it with this version.`);
  }
  return document;
}
