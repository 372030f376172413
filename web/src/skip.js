import { element } from "./common/dom.js";

/** The first stop of the keyboard leads past the contents, which have a stop for each page. */
export function startSkipLink() {
  const main = document.querySelector("main");
  if (!main) return;
  main.id ||= "text";
  main.tabIndex = -1;
  const skip = element("a", { class: "ws-skip", href: `#${main.id}` }, "Skip to the text");
  // The address stays as it is: a figure's place may stand in it.
  skip.addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  document.body.prepend(element("nav", { "aria-label": "Skip" }, skip));
}
