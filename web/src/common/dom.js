/**
 * Makes an element. Text is only ever set as text: nothing on the page is
 * parsed as HTML.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {{class?: string, on?: Record<string, (event: Event) => void>, [name: string]: unknown}} [settings]
 *     properties such as `type` or `hidden`, attributes such as `aria-label`
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, settings = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (name === "class") {
      made.className = String(value);
    } else if (name === "on") {
      for (const [event, listener] of Object.entries(settings.on ?? {})) made.addEventListener(event, listener);
    } else if (name in made) {
      Reflect.set(made, name, value);
    } else {
      made.setAttribute(name, String(value));
    }
  }
  made.append(...children);
  return made;
}

/**
 * A button with at most a glyph that screen readers leave out.
 *
 * @param {string} text
 * @param {() => void} onClick
 * @param {{glyph?: string, class?: string, hidden?: boolean, "aria-label"?: string}} [settings]
 */
export function button(text, onClick, { glyph, ...settings } = {}) {
  const made = element("button", {
    type: "button",
    ...settings,
    class: `ws-button ${settings.class ?? ""}`.trim(),
    on: { click: onClick },
  });
  if (glyph) made.append(element("span", { "aria-hidden": "true" }, glyph), " ");
  made.append(text);
  return made;
}

/** Hides `from`; the focus, if it was there, goes to `to` and isn't lost. */
export function hideAndPassFocus(/** @type {HTMLElement} */ from, /** @type {HTMLElement} */ to) {
  if (from.contains(document.activeElement)) to.focus();
  from.hidden = true;
}

/** Keeps the keys that scroll `scrollable` from turning the page of the book. */
export function keepArrowKeys(/** @type {HTMLElement} */ scrollable) {
  scrollable.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) event.stopPropagation();
  });
}
