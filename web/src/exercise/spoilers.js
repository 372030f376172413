// What gives an exercise away on its page is hidden until it is solved.

import { button, element } from "../common/dom.js";

const SPOILS = /^When yours is green/;

export class Spoilers {
  /**
   * @param {HTMLElement} place the panel
   * @param {number} number of the exercise
   */
  constructor(place, number) {
    const headings = [...document.querySelectorAll("main h2")];
    const heading = headings.find((one) => SPOILS.test(one.textContent?.trim() ?? "") && place.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (!heading) return;
    const section = element("div", { class: "spoilers" });
    const notice = element("p", { class: "spoilers-notice ws-screen-only" }, `What follows gives exercise ${number} away. It opens when yours is green. `);
    notice.append(button("Show it now", () => this.show()));
    const parts = [];
    for (let next = heading.nextSibling; next && next.nodeName !== "H2"; next = next.nextSibling) parts.push(next);
    heading.after(notice, section);
    section.append(...parts);
    // A search within the page, or a link into it, opens it.
    section.setAttribute("hidden", "until-found");
    section.addEventListener("beforematch", () => this.show());
    this.section = section;
    this.notice = notice;
  }

  show() {
    this.section?.removeAttribute("hidden");
    this.notice?.remove();
  }
}
