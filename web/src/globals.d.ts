// What mdBook's page offers to a script that loads after its own.

/** The way from this page to the root of the book: `""` or `"../"`. */
declare const path_to_root: string | undefined;

/** Which version of the figures' script belongs to this one. */
declare const FIGURES_VERSION: string;
declare const CHARTS_VERSION: string;

declare module "*.css";

interface AcePosition {
  row: number;
  column: number;
}

interface AceRange {
  start: AcePosition;
  end: AcePosition;
}

interface AceSession {
  doc: { indexToPosition(index: number, startRow: number): AcePosition; replace(range: AceRange, text: string): void };
  widgetManager?: { attach(editor: AceEditor): void; addLineWidget(widget: object): object; removeLineWidget(widget: object): void };
  setMode(mode: string): void;
  setUseWrapMode(on: boolean): void;
  getLength(): number;
  getLine(row: number): string;
  addFold(placeholder: string, range: AceRange): void;
  unfold(): void;
  getFoldAt(row: number, column: number): { range: AceRange } | null;
}

interface AceEditor {
  originalCode: string;
  container: HTMLElement;
  textInput: { getElement(): HTMLTextAreaElement };
  renderer: { scrollToLine(line: number, center: boolean, animate: boolean): void; setPadding(pixels: number): void; setScrollMargin(top: number, bottom: number): void };
  commands: { bindKey(key: string, command: string | null): void };
  session: AceSession;
  selection: { on(event: "changeCursor", listener: () => void): void; getCursor(): AcePosition };
  getValue(): string;
  setValue(text: string, cursor?: number): void;
  setFontSize(size: string): void;
  setOption(name: string, value: unknown): void;
  gotoLine(line: number, column: number, animate: boolean): void;
  focus(): void;
  isFocused(): boolean;
  resize(force: boolean): void;
  on(event: "change" | "blur" | "focus", listener: () => void): void;
}

interface Window {
  ace?: { edit(element: Element): AceEditor; require(module: string): any };
  editors?: AceEditor[];
  hljs?: { highlightBlock(block: Element): void };
  /** The way to the runner, for the figures' script. */
  workshopRunner?: Pick<typeof import("./runner.js"), "ask" | "runnerState">;
  /** What the figures' script shares with a figure that has a script of its own. */
  workshopFigures?: { lit: typeof import("lit/html.js"); figure: typeof import("./figures/figure.js"); format: typeof import("./figures/format.js") };
  /** Which lines of a program are hidden at first; the page's head has noted them. */
  workshopHidden?: WeakMap<Element, [number, number][]>;
  /** What the script of every page shares with the one of a served page. */
  workshopShared?: { busy: typeof import("./busy.js"); load: typeof import("./figures/load.js"); runner: typeof import("./runner.js") };
}
