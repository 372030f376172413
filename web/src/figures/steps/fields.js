// A cell that is a word with several fields: flags, and counts. Its value says which
// flags are set, and how much is counted: `RUNNING|3*REFERENCE`, or `0`.

/** @typedef {import("./read.js").Value} Value */
/** @typedef {{name: string, isCount: boolean}} Field */

/** @param {Value} value @returns {Map<string, number>} */
function parts(value) {
  return new Map(String(value).split("|").map((part) => {
    const [, many = "1", name = ""] = /^(?:(\d+)\*)?(.*)$/.exec(part.trim()) ?? [];
    return [name, Number(many)];
  }));
}

/** What a field of a word holds: 0 or 1 of a flag. @param {Value | undefined} word @param {string} name */
export function fieldOf(word, name) {
  return parts(word ?? "").get(name) ?? 0;
}

/** The word with another value of a field. @param {Field[]} fields @param {Value | undefined} word @param {string} name @param {number} many */
export function withField(fields, word, name, many) {
  return wordOf(fields, (field) => (field === name ? many : fieldOf(word, field)));
}

/** @param {Field[]} fields @param {(name: string) => number} many */
function wordOf(fields, many) {
  const set = fields.map(({ name }) => ({ name, held: many(name) })).filter(({ held }) => held !== 0);
  return set.map(({ name, held }) => (held === 1 ? name : `${held}*${name}`)).join("|") || "0";
}

/** The word as it is always written. @param {Field[]} fields @param {Value} value @returns {Value} */
export function asWord(fields, value) {
  return fields.length > 0 ? wordOf(fields, (name) => fieldOf(value, name)) : value;
}

/** What a step has done to the fields. @param {Field[]} fields @param {Value} before @param {Value} after */
export function fieldChanges(fields, before, after) {
  return fieldsAt(fields, before, after).filter(({ isChanged }) => isChanged).map(({ name, isCount, shown, now }) => (isCount ? `${name} ${shown}` : `${now ? "+" : "−"}${name}`)).join(", ");
}

/** The fields one by one, with what they held before if a step has changed that. @param {Field[]} fields @param {Value} before @param {Value} after */
export function fieldsAt(fields, before, after) {
  return fields.map(({ name, isCount }) => {
    const [old, now] = [fieldOf(before, name), fieldOf(after, name)];
    return { name, isCount, now, isChanged: old !== now, shown: old === now ? String(now) : `${old}\u00a0→\u00a0${now}` };
  });
}

/** The entries of a heap, each of which is new where it has moved. @param {Value} before @param {Value} after */
export function entriesAt(before, after) {
  const [old, now] = [before, after].map((list) => String(list).split(", "));
  return (now ?? []).map((shown, index) => ({ name: "", isCount: true, now: 1, isChanged: old?.[index] !== shown, shown }));
}
