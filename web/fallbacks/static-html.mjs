// Lit's templates as text, without a browser: for the pictures that stand in
// the book's source, and for the tests.

import { nothing } from "lit/html.js";

const ATTRIBUTE = /([\w:.?@-]+)=$/;

/**
 * @param {unknown} value a template, or what may stand in one
 * @returns {string}
 */
export function toText(value) {
  if (value == null || value === nothing || value === false) return "";
  if (Array.isArray(value)) return value.map(toText).join("");
  if (typeof value !== "object") return escaped(value);
  const { strings, values } = /** @type {any} */ (value);
  if (!strings) throw new TypeError("neither text nor a template");
  return strings.map((part, index) => (index < values.length ? hole(part, values[index]) : part)).join("");
}

/** @param {string} before the text up to the hole @param {unknown} value */
function hole(before, value) {
  const attribute = ATTRIBUTE.exec(before);
  if (!attribute) return before + toText(value);
  const name = attribute[1] ?? "";
  const start = before.slice(0, attribute.index);
  if (/^[.@]/.test(name) || value === nothing) return start;
  if (name.startsWith("?")) return value ? `${start}${name.slice(1)}=""` : start;
  return `${start}${name}="${escaped(value)}"`;
}

/** @param {unknown} text */
function escaped(text) {
  return String(text).replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}
