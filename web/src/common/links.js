// A page of the book, relative to its root, with or without an anchor. Not
// part of an address, of a path upward or of a longer word.
const PAGE = /(?<![\w./:@\\#?=%-])(?:[a-z0-9_-]+\/)*[a-z0-9_-]+\.html(?:#[A-Za-z0-9_-]+)?(?![\w/:@?=%-])/g;

/**
 * Splits a message into text and links to pages of the book.
 *
 * @param {string} message
 * @returns {{text: string, page?: string}[]} the whole message, in order
 */
export function linkPieces(message) {
  /** @type {{text: string, page?: string}[]} */
  const pieces = [];
  let from = 0;
  for (const match of message.matchAll(PAGE)) {
    if (match.index > from) pieces.push({ text: message.slice(from, match.index) });
    pieces.push({ text: match[0], page: match[0] });
    from = match.index + match[0].length;
  }
  if (from < message.length) pieces.push({ text: message.slice(from) });
  return pieces;
}
