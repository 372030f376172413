// An editor draws only what is on the screen; paper gets a plain copy.

/** The page with all chapters, which prints itself. */
export function isPrintPage() {
  return location.pathname.endsWith("/print.html");
}

/** On the print page every editor becomes a plain block, for good. */
export function flattenEditors() {
  for (const code of editors()) {
    code.parentElement?.replaceWith(plainCopy(code));
  }
}

/** On any other page the copies exist while it is printed. */
export function copyEditorsWhilePrinting() {
  addEventListener("beforeprint", () => {
    for (const code of editors()) {
      const copy = plainCopy(code);
      copy.classList.add("ws-print-only");
      code.parentElement?.after(copy);
    }
    for (const details of document.querySelectorAll("main details:not([open])")) {
      details.setAttribute("open", "");
      details.setAttribute("data-opened", "");
    }
  });
  addEventListener("afterprint", () => {
    document.querySelectorAll("pre.ws-print-only").forEach((copy) => copy.remove());
    for (const details of document.querySelectorAll("details[data-opened]")) {
      details.removeAttribute("open");
      details.removeAttribute("data-opened");
    }
  });
}

function editors() {
  return window.ace ? document.querySelectorAll("pre > code.ace_editor") : [];
}

/** @param {Element} code */
function plainCopy(code) {
  const pre = document.createElement("pre");
  const copy = document.createElement("code");
  copy.className = "language-rust";
  copy.textContent = window.ace?.edit(code).getValue() ?? "";
  pre.append(copy);
  window.hljs?.highlightBlock(copy);
  return pre;
}
