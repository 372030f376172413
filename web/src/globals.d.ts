// What mdBook's page offers to a script that loads after its own.

/** The way from this page to the root of the book: `""` or `"../"`. */
declare const path_to_root: string | undefined;

declare module "*.css";

interface AceEditor {
  originalCode: string;
  textInput: { getElement(): HTMLTextAreaElement };
  renderer: { setPadding(pixels: number): void; setScrollMargin(top: number, bottom: number): void };
  commands: { bindKey(key: string, command: string | null): void };
  session: { setUseWrapMode(on: boolean): void };
  getValue(): string;
  setValue(text: string, cursor?: number): void;
  setFontSize(size: string): void;
  setOption(name: string, value: unknown): void;
  resize(force: boolean): void;
  on(event: "change" | "blur" | "focus", listener: () => void): void;
}

interface Window {
  ace?: { edit(element: Element): AceEditor };
  hljs?: { highlightBlock(block: Element): void };
}
