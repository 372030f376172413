// `<ws-timeline>`: what is shown of a trace, and what the reader does to it.

import { html, nothing } from "lit/html.js";
import { share, tied, time } from "../format.js";
import { wordsOf } from "../unreadable.js";
import { Figure, isTaken, save, wantsLessMotion } from "../figure.js";
import { toChrome } from "./chrome.js";
import { derive } from "./derive.js";
import { choices, firstState } from "./first.js";
import { latestTrace } from "./latest.js";
import { lanesOf, pollAt } from "./lanes.js";
import { signs } from "./legend.js";
import { clamp, endOf, pollCalled, questionOf, startOf, step } from "./model.js";
import { canOpenPerfetto, openInPerfetto } from "./perfetto.js";
import { Player } from "./player.js";
import { parseTrace, readTrace } from "./read.js";
import { asText } from "./table.js";
import { BLOCK, picture, plan } from "./view.js";
import { describe, explain, isLong, pointsOfInterest, sentences, statistics, turn } from "./words.js";

/** @typedef {import("./derive.js").Timeline} Timeline */
/** @typedef {import("./derive.js").Poll} Poll */
/** @typedef {import("./model.js").Action} Action */
/** @typedef {"recorded" | "own" | "both"} Source */

const SLACK_PX = 8;
/** A press that moves less is a click. */
const DRAG_PX = 5;
const WHEEL_FACTOR = 1.002;
/** How much of what is shown an arrow key moves on by. */
const PAN_PART = 0.2;
/** A tip is at most so wide. */
const TIP_PX = 240;
/** In full screen the picture takes such a part of the height, and is drawn for no less than such a width. */
const ROOM_PART = 0.55;
const ROOMY = 700;
const MOST_GROWTH = 2;
const STEPS = 1000;
const SPEEDS = [0.25, 0.5, 1, 2, 4];
/** @type {[string, string][]} */
const KEYS = [
  ["Space", "play, pause"],
  [", .", "back, forward by one event"],
  ["← →", "move the cursor, while the slider has the focus"],
  ["p P", "next, previous point of interest, the worst first"],
  ["1 … 9", "the poll of that lane at the cursor"],
  ["+ −", "zoom in, out; Ctrl and the wheel zoom at the pointer"],
  ["← →", "earlier, later, as dragging with Shift does"],
  ["dragging", "zooms in on that stretch of time"],
  ["u", "undo"],
  ["r", "start again"],
  ["f", "full screen; Escape leaves it"],
  ["?", "these keys"],
];

export class TimelineFigure extends Figure {
  /** @type {Map<string, Timeline>} */
  recorded = new Map();
  /** @type {Map<string, Timeline>} */
  own = new Map();
  /** @type {Source} */
  source = "recorded";
  /** @type {import("./model.js").State} */
  state = { view: "task", at: 0, from: 0, to: 1, selected: undefined, phase: "shown", guess: undefined };
  /** @type {import("./model.js").State[]} */
  past = [];
  /** What is under the pointer, in words. */
  hover = "";
  /** Where that is told, in pixels of the picture. */
  tip = { x: 0, y: 0 };
  /** Whether the slider has the focus: what is at the cursor is told there. */
  isOnSlider = false;
  /** Where a press began. */
  pressed = { px: 0, t: 0, from: 0, to: 1 };
  /** What is about to be shown, while it's dragged over. @type {{from: number, to: number} | undefined} */
  band = undefined;
  /** The kind of change of which several in a row are one. */
  lastDone = "";
  player = new Player(this, (part) => this.playOn(part), () => this.jumpOn(), () => this.paused());
  dragging = "";
  /** Whether the queues are drawn, where anything is known of them. */
  queues = true;
  chosen = choices({});

  // ---- data

  start() {
    this.chosen = choices(this.dataset);
    this.tryRead(() => {
      for (const { name, text } of this.inline) this.recorded.set(name, derive(parseTrace(text)));
    });
    this.begin();
    if (this.dataset.latest !== undefined && !this.onPaper) latestTrace().then((document) => document && this.tryTo(() => this.take({ snippet: "", name: "latest", document })));
  }

  /** @param {() => void} read */
  tryRead(read) {
    try {
      read();
    } catch (error) {
      this.error = wordsOf(error);
    }
  }

  /** @param {import("../figure.js").Delivery} delivery */
  take({ name, document }) {
    const timeline = derive(readTrace(document));
    const { title, runtime } = timeline.trace;
    const said = this.dataset.latest === undefined ? "This is the trace of your own run." : `This is the trace that was made last: ${title.replaceAll("`", "")}, ${runtime}.`;
    this.accept(name, timeline, said);
  }

  /** @param {string} text */
  load(text) {
    this.own.clear();
    this.accept(this.inlineNames()[0] ?? "loaded", derive(parseTrace(text)), "The trace is loaded.");
  }

  /** @param {string} name @param {Timeline} timeline @param {string} said */
  accept(name, timeline, said) {
    this.own.set(name, timeline);
    this.source = "own";
    const { view } = this.state;
    this.begin();
    this.state = { ...this.state, view, phase: "shown" };
    this.why = `${said} ${this.explained()}`.trim();
  }

  /** @returns {{timeline: Timeline, title: string}[]} */
  shown() {
    const names = [...new Set([...this.recorded.keys(), ...(this.recorded.size ? [] : this.own.keys())])];
    const panels = names.flatMap((name) => {
      const recorded = this.recorded.get(name);
      const own = this.own.get(name);
      const titled = (/** @type {Timeline} */ timeline, /** @type {string} */ note) => ({ timeline, title: `${timeline.trace.title}${note}` });
      if (this.source === "recorded" || !own) return recorded ? [titled(recorded, "")] : [];
      const mine = titled(own, this.recorded.size ? ", yours" : "");
      return this.source === "both" && recorded ? [titled(recorded, ", recorded"), mine] : [mine];
    });
    return panels;
  }

  /** Takes the first state of what is shown. */
  begin() {
    this.player.stop();
    this.panels = this.shown();
    const timelines = this.timelines();
    this.found = timelines.map((timeline) => statistics(timeline, this.chosen.longNs));
    this.points = timelines.flatMap((timeline, panel) => pointsOfInterest(timeline, /** @type {any} */ (this.found)[panel]).map((poll) => ({ panel, poll })));
    this.points.sort((one, other) => Math.max(other.poll.self, other.poll.waited) - Math.max(one.poll.self, one.poll.waited));
    this.question = questionOf(this.dataset.predict, timelines);
    const guess = this.keptGuess();
    this.past = [];
    const asks = this.question !== undefined && guess === undefined && this.source === "recorded" && !this.onPaper;
    this.state = {
      ...firstState(timelines, this.found, this.chosen),
      phase: asks ? "asking" : "shown",
      guess: this.source === "recorded" ? guess : undefined,
    };
    this.why = asks ? "" : this.explained();
  }

  timelines() {
    return (this.panels ?? []).map(({ timeline }) => timeline);
  }

  explained() {
    const { selected } = this.state;
    const timeline = selected && this.timelines()[selected.panel];
    const poll = selected && timeline?.polls[selected.poll];
    return timeline && poll ? explain(poll, timeline) : "";
  }

  // ---- the guess

  keptGuess() {
    const kept = Number(this.store.getItem(`workshop-guess-${this.key}`) ?? NaN);
    return this.question && Number.isFinite(kept) ? kept : undefined;
  }

  /** @param {boolean} guessed */
  reveal(guessed) {
    this.do({ type: "reveal", guessed });
    const { guess } = this.state;
    const answer = this.question?.answer ?? 0;
    const off = (guess ?? answer) - answer;
    if (guessed && guess !== undefined) this.store.setItem(`workshop-guess-${this.key}`, String(guess));
    const verdict = guessed && guess !== undefined ? `You guessed ${time(guess)}; it was at ${time(answer)}, ${time(Math.abs(off))} ${off < 0 ? "later" : "earlier"}.` : "";
    this.why = [verdict, this.explained()].filter(Boolean).join(" ");
    this.past = [];
    this.draw();
    /** @type {HTMLElement | null} */ (this.querySelector(".fig-scrubber"))?.focus();
  }

  // ---- steps

  /** @param {Action} action @param {string} [kind] of which several in a row are undone at once */
  do(action, kind = "") {
    const isScrub = action.type === "seek" || action.type === "guess";
    if (!isScrub && action.type !== "reveal" && !(kind && kind === this.lastDone)) this.past.push(this.state);
    if (!isScrub) this.lastDone = kind;
    this.state = step(this.state, action, this.timelines());
    if (action.type === "select") this.why = this.explained();
    this.draw();
  }

  undo() {
    const before = this.past.pop();
    if (!before) return;
    this.state = before;
    this.why = this.explained() || "Undone.";
    this.draw();
  }

  reset() {
    this.store.removeItem(`workshop-guess-${this.key}`);
    this.begin();
    this.draw();
  }

  /** @param {{panel: number, poll: Poll}} point */
  jump({ panel, poll }) {
    this.do({ type: "select", panel, poll: poll.index, show: true });
  }

  /** @param {1 | -1} direction */
  nextPoint(direction) {
    const points = this.points ?? [];
    const { selected } = this.state;
    const now = points.findIndex(({ panel, poll }) => panel === selected?.panel && poll.index === selected.poll);
    const next = points[now < 0 ? (direction > 0 ? 0 : points.length - 1) : (now + direction + points.length) % points.length];
    if (next) this.jump(next);
  }

  /** @param {1 | -1} direction */
  nextEvent(direction) {
    const times = this.timelines().flatMap(({ polls, wakes, moves }) => [...polls.flatMap(({ start, end }) => [start, end]), ...wakes.map(({ t }) => t), ...(this.queues ? moves.map(({ t }) => t) : [])]);
    const { at } = this.state;
    const ahead = times.filter((t) => (direction > 0 ? t > at : t < at));
    if (ahead.length === 0) return;
    const next = ahead.reduce((one, other) => (direction > 0 ? Math.min(one, other) : Math.max(one, other)));
    this.seek(next);
    this.why = this.nowIs();
    this.draw();
  }

  /** @param {number} at */
  seek(at) {
    this.do({ type: "seek", at });
    const { from, to } = this.state;
    if (at < from || at > to) {
      const width = to - from;
      const start = clamp(at - width / 2, 0, endOf(this.timelines()) - width);
      this.state = { ...this.state, from: start, to: start + width };
      this.draw();
    }
  }

  nowIs() {
    const panels = this.panels ?? [];
    return `${time(this.state.at)}: ${panels.map(({ timeline, title }) => `${panels.length > 1 ? `${title}: ` : ""}${describe(timeline, this.state.at)}`).join("; ")}.`;
  }

  /** Plays on by a part of what is shown. @param {number} part */
  playOn(part) {
    const { from, to, at } = this.state;
    const next = at + part * (to - from);
    this.do({ type: "seek", at: Math.min(next, to) });
    return next < to;
  }

  /** With reduced motion: one jump to the next poll. */
  jumpOn() {
    const starts = this.timelines().flatMap(({ polls }) => polls.map(({ start }) => start));
    const next = starts.filter((start) => start > this.state.at && start <= this.state.to);
    if (next.length > 0) this.do({ type: "seek", at: Math.min(...next) });
    return next.length > 0;
  }

  togglePlay() {
    if (this.player.isPlaying) {
      this.player.stop();
      this.paused();
      return;
    }
    const { at, from, to } = this.state;
    if (at < from || at >= to) this.state = { ...this.state, at: from };
    this.why = "";
    this.player.start(wantsLessMotion());
    this.draw();
  }

  /** What goes on is said when the time stands still. */
  paused() {
    this.why = this.nowIs();
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const { key } = event;
    if (key === "Escape") return this.hideTip() || this.closeMenu() || this.leaveLarge();
    if (isTaken(event)) return false;
    if (key === "?") return this.toggleHelp(), true;
    if (!this.panels?.length || this.state.phase === "asking") return false;
    /** @type {Record<string, () => void>} */
    const does = {
      " ": () => this.togglePlay(),
      ",": () => this.nextEvent(-1),
      ".": () => this.nextEvent(1),
      p: () => this.nextPoint(1),
      P: () => this.nextPoint(-1),
      f: () => this.toggleLarge(),
      u: () => this.undo(),
      r: () => this.reset(),
      ArrowLeft: () => this.pan(-PAN_PART),
      ArrowRight: () => this.pan(PAN_PART),
      "+": () => this.do({ type: "zoom", factor: 0.5 }),
      "-": () => this.do({ type: "zoom", factor: 2 }),
      Home: () => this.seek(this.state.from),
      End: () => this.seek(this.state.to),
    };
    if (/^[1-9]$/.test(key)) this.selectInLane(Number(key) - 1);
    else if (does[key]) does[key]();
    else return false;
    return true;
  }

  /** @param {number} place of the lane, from the top */
  selectInLane(place) {
    const lanes = this.timelines().flatMap((timeline, panel) => lanesOf(timeline, this.state.view, this.chosen.tasks).map((lane) => ({ lane, panel })));
    const { lane, panel } = lanes[place] ?? {};
    const poll = lane?.polls.filter(({ start }) => start <= this.state.at).at(-1) ?? lane?.polls[0];
    if (poll && panel !== undefined) this.jump({ panel, poll });
  }

  // ---- the pointer

  /** @param {MouseEvent} event */
  placeOf(event) {
    const svg = this.querySelector(".fig-canvas .fig-picture");
    if (!svg) return undefined;
    const box = svg.getBoundingClientRect();
    const settings = this.settings();
    const { panels, x, left, right } = plan(this.timelines(), this.state, settings);
    const px = ((event.clientX - box.left) / box.width) * settings.width;
    const py = ((event.clientY - box.top) / box.width) * settings.width;
    const t = x.invert(clamp(px, left, right));
    const panel = panels.find(({ top, bottom }) => py >= top && py <= bottom);
    const row = panel?.rows.find(({ y }) => py >= y - 8 && py <= y + BLOCK + 4);
    const poll = row && pollAt(row.lane, t, x.invert(left + SLACK_PX) - x.invert(left));
    return { t, panel, poll, row, px, py, perPx: (this.state.to - this.state.from) / (right - left) };
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0) return;
    const place = this.placeOf(event);
    if (!place) return;
    const { from, to } = this.state;
    this.pressed = { px: place.px, t: place.t, from, to };
    this.lastDone = "";
    // A finger has no other way to move the cursor.
    this.dragging = this.state.phase === "asking" ? "guess" : event.shiftKey ? "pan" : event.pointerType === "touch" ? "cursor" : "range";
    /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
    if (this.dragging !== "pan") this.drag(place.t);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const place = this.placeOf(event);
    if (!place) return;
    const { dragging, pressed } = this;
    if (dragging === "pan") {
      const from = pressed.from + (pressed.px - place.px) * place.perPx;
      return this.do({ type: "range", from, to: from + pressed.to - pressed.from }, "pan");
    }
    if (dragging === "range") {
      if (!this.band && Math.abs(place.px - pressed.px) < DRAG_PX) return;
      this.band = { from: Math.min(pressed.t, place.t), to: Math.max(pressed.t, place.t) };
      this.hover = "";
      return this.draw();
    }
    if (dragging) return this.drag(place.t);
    const { panel, poll } = place;
    const hides = this.state.phase === "asking" && poll?.task === this.question?.task && (poll?.start ?? 0) >= (this.question?.from ?? 0);
    const hover = panel && poll && !hides ? `${panel.timeline.byId.get(poll.task)?.name}, ${turn(poll, panel.timeline) === "job" ? "a job" : `poll ${poll.number}`}: ${time(poll.end - poll.start)} from ${time(poll.start)}${poll.waited > 0 ? `, after a wait of ${time(poll.waited)}` : ""}` : "";
    if (hover === this.hover) return;
    this.hover = hover;
    this.tip = { x: place.px, y: place.row ? place.row.y + BLOCK + 6 : place.py };
    this.draw();
  }

  /** @param {PointerEvent} event */
  up(event) {
    const place = this.placeOf(event);
    const { dragging, band } = this;
    this.release();
    if (band) return this.do({ type: "range", ...band });
    if (!place || (dragging !== "cursor" && dragging !== "range")) return;
    if (place.panel && place.poll) this.do({ type: "select", panel: place.panel.index, poll: place.poll.index });
    else this.do({ type: "deselect" });
  }

  release() {
    this.dragging = "";
    this.band = undefined;
    this.lastDone = "";
    this.draw();
  }

  leave() {
    if (this.dragging || !this.hover) return;
    this.hover = "";
    this.draw();
  }

  /** With Ctrl, as a browser zooms; a pinch on a touchpad is told in the same way. @param {WheelEvent} event */
  wheel(event) {
    const place = this.placeOf(event);
    if (!event.ctrlKey || !place || this.state.phase === "asking") return;
    event.preventDefault();
    this.do({ type: "zoom", factor: WHEEL_FACTOR ** clamp(event.deltaY, -400, 400), around: place.t }, "wheel");
  }

  /** @param {number} part of what is shown */
  pan(part) {
    const { from, to } = this.state;
    const by = part * (to - from);
    this.do({ type: "range", from: from + by, to: to + by }, "pan");
  }

  /** @param {number} t */
  drag(t) {
    this.player.stop();
    this.do(this.dragging === "guess" ? { type: "guess", at: t } : { type: "seek", at: t });
  }

  /** @param {boolean} isOn */
  onSlider(isOn) {
    this.isOnSlider = isOn;
    // A slider that is drawn no more loses the focus while the rest is drawn.
    queueMicrotask(() => this.draw());
  }

  hideTip() {
    const isShown = this.hover !== "" || this.isOnSlider;
    this.hover = "";
    this.isOnSlider = false;
    if (isShown) this.draw();
    return isShown;
  }

  /** What is under the pointer, or at the cursor while the slider has the focus; and what is dragged over. */
  over() {
    const scale = this.scale();
    const { x, left, right, height } = plan(this.timelines(), this.state, this.settings(scale));
    const { from, to } = this.band ?? { from: 0, to: 0 };
    const band = this.band ? html`<div class="fig-band" style=${`left: ${x(from) * scale}px; width: ${(x(to) - x(from)) * scale}px; height: ${(height - 40) * scale}px`}><span>${time(to - from)}</span></div>` : nothing;
    const isCursor = !this.hover && this.isOnSlider && !this.player.isPlaying;
    const text = this.hover || (isCursor ? this.nowIs() : "");
    const at = isCursor ? { x: clamp(x(this.state.at), left, right), y: height - 38 } : this.tip;
    const place = clamp(at.x * scale - TIP_PX / 2, 0, Math.max(0, this.width - TIP_PX));
    return html`${band}${text && !this.band ? html`<div class="fig-tip" aria-hidden="true" style=${`left: ${place}px; top: ${at.y * scale}px; width: ${TIP_PX}px`}><span>${tied(text)}</span></div>` : nothing}`;
  }

  // ---- the address

  linkParts() {
    const { view, at, from, to, selected } = this.state;
    return {
      view,
      at: String(Math.round(at)),
      range: `${Math.round(from)}-${Math.round(to)}`,
      ...(selected ? { poll: `${selected.panel}.${selected.poll}` } : {}),
      ...(this.queues ? {} : { queues: "off" }),
    };
  }

  /** @param {Record<string, string>} parts */
  applyLink({ view, at, range, poll, queues }) {
    this.queues = queues !== "off";
    const end = endOf(this.timelines());
    const [from = 0, to = end] = (range ?? "").split("-").map(Number);
    const [panel = 0, index = -1] = (poll ?? "").split(".").map(Number);
    const exists = this.timelines()[panel]?.polls[index] !== undefined;
    const state = { ...this.state, view: /** @type {"task" | "worker"} */ (view === "worker" ? "worker" : "task"), selected: exists ? { panel, poll: index } : undefined, phase: /** @type {const} */ ("shown") };
    if (from >= 0 && to > from && from < end) Object.assign(state, { from, to: Math.min(to, end) });
    if (Number.isFinite(Number(at))) state.at = clamp(Number(at), 0, end);
    this.state = state;
    this.why = this.explained();
  }

  // ---- what is drawn

  /** @param {number} [scale] */
  settings(scale = this.scale()) {
    const panels = this.panels ?? [];
    return {
      width: Math.round(this.width / scale),
      id: `${this.key}-${this.state.view}`,
      longNs: this.chosen.longNs,
      tasks: this.chosen.tasks,
      titles: panels.map(({ title }) => title),
      label: this.conclusion(),
      question: this.question,
      queues: this.queues,
    };
  }

  /** In full screen the lanes grow with the room that they have. */
  scale() {
    if (!this.frame.classList.contains("fig-large")) return 1;
    const { height } = plan(this.timelines(), this.state, this.settings(1));
    return clamp((innerHeight * ROOM_PART) / height, 1, Math.max(1, Math.min(MOST_GROWTH, this.width / ROOMY)));
  }

  /** What the picture shows, in one sentence. */
  conclusion() {
    if (this.state.phase === "asking") return `A timeline, a part of which is covered until you have guessed.`;
    return `A timeline. ${this.explained() || this.timelines().map((timeline, panel) => sentences(timeline, /** @type {any} */ (this.found)[panel])[1]).join(" ")}`;
  }

  template() {
    if (!this.panels?.length) return this.emptyTemplate();
    if (this.onPaper) return this.paperTemplate();
    const asking = this.state.phase === "asking";
    return html`${this.head()}
      ${asking ? this.predictTemplate() : nothing}
      <div class="fig-bar">${asking ? nothing : this.chips()}<span class="fig-gap"></span>${this.queueFilter()}${this.views()}<span class="fig-tools">${this.largeButton()}${this.menu("a trace", this.exports())}</span></div>
      ${this.help(KEYS)}
      <div class=${`fig-canvas ${this.dragging}`} @pointerdown=${this.down} @pointermove=${this.move} @pointerup=${this.up} @pointercancel=${this.release} @pointerleave=${this.leave} @wheel=${this.wheel}>${picture(this.timelines(), this.state, this.settings())}${this.over()}</div>
      ${this.legend()}
      ${asking ? nothing : this.transport()}
      <p class="fig-now" ?hidden=${asking}>${asking ? nothing : tied(this.hover || this.nowIs())}</p>
      ${this.whyLine()}
      ${asking ? nothing : this.text(false)}
      ${this.provenance()}`;
  }

  emptyTemplate() {
    if (this.onPaper) return html`${this.head()}<p>${this.error || "A timeline that waits for a trace, on the screen."}</p>`;
    return html`${this.head()}
      <div class="fig-empty"><p>No trace is here yet. Load one, drop a file here, or paste its text.</p>${this.fileButton("Load a trace …")}</div>
      ${this.whyLine()}`;
  }

  paperTemplate() {
    const frames = (this.dataset.print ?? "task worker").split(/\s+/).filter((frame) => frame === "task" || frame === "worker");
    const drawn = frames.map((view) => {
      const state = { ...this.state, view: /** @type {"task" | "worker"} */ (view), phase: /** @type {const} */ ("shown") };
      return html`<div class="fig-canvas">${picture(this.timelines(), state, { ...this.settings(), id: `${this.key}-paper-${view}`, still: true })}</div>`;
    });
    return html`${this.head()}${drawn}${this.legend()}<p class="fig-why">${tied(this.explained())}</p>${this.text(true)}${this.provenance()}${this.linkOnPaper()}`;
  }

  /** @param {boolean} isOpen */
  text(isOpen) {
    const notes = (/** @type {Timeline} */ { marks }) => marks.filter(({ isNote }) => isNote).map(({ t, text }) => `At ${time(t)}: ${text}.`);
    const panels = (this.panels ?? []).map(({ timeline, title }, index) => ({ timeline, title, sentences: [...sentences(timeline, /** @type {any} */ (this.found)[index]), ...notes(timeline)] }));
    return asText(panels, isOpen, this.textState(), (panel, poll) => this.do({ type: "select", panel, poll, show: true }));
  }

  predictTemplate() {
    const end = endOf(this.timelines());
    const { guess } = this.state;
    const drag = (/** @type {Event} */ event) => this.do({ type: "guess", at: (Number(/** @type {HTMLInputElement} */ (event.target).value) / STEPS) * end });
    return html`<div class="fig-predict">
      <p>${this.dataset.predictText ?? "When does it start? Drag the marker to where you think."}</p>
      <input type="range" min="0" max=${STEPS} .value=${String(Math.round(((guess ?? 0) / end) * STEPS))} aria-label="Your guess" aria-valuetext=${guess === undefined ? "no guess yet" : time(guess)} @input=${drag} />
      <button type="button" class="ws-button primary" aria-disabled=${String(guess === undefined)} @click=${() => guess !== undefined && this.reveal(true)}>Check</button>
      <button type="button" class="ws-button" @click=${() => this.reveal(false)}>I'll just look</button>
    </div>`;
  }

  views() {
    const choose = (/** @type {"task" | "worker"} */ view, /** @type {string} */ text) =>
      html`<button type="button" class="ws-button" aria-pressed=${String(this.state.view === view)} @click=${() => this.do({ type: "view", view })}>${text}</button>`;
    return html`<span class="fig-group" role="group" aria-label="Lanes">${choose("task", "by task")}${choose("worker", "by worker")}</span>`;
  }

  /** Only where a scheduler has told of its queues, and in the lanes that show them. */
  queueFilter() {
    if (this.state.view !== "worker" || !this.timelines().some(({ moves }) => moves.length > 0)) return nothing;
    const toggle = () => {
      this.queues = !this.queues;
      this.draw();
    };
    return html`<button type="button" class="ws-button" aria-pressed=${String(this.queues)} @click=${toggle}>queues</button>`;
  }

  legend() {
    const all = signs(this.timelines(), this.state, this.settings());
    return html`<ul class="fig-signs">${all.map(({ glyph, text }) => html`<li><svg class="fig-picture" width="26" height="16" aria-hidden="true">${glyph}</svg>${text}</li>`)}</ul>`;
  }

  zooms() {
    const isAll = this.state.from <= startOf(this.timelines()) && this.state.to === endOf(this.timelines());
    return html`<span class="fig-group" role="group" aria-label="Zoom">
      <button type="button" class="ws-button" aria-label="Closer" @click=${() => this.do({ type: "zoom", factor: 0.5 })}>+</button>
      <button type="button" class="ws-button" aria-label="Wider" aria-disabled=${String(isAll)} @click=${() => this.do({ type: "zoom", factor: 2 })}>−</button>
      <button type="button" class="ws-button" aria-disabled=${String(isAll)} @click=${() => this.do({ type: "all" })}>all</button>
    </span>`;
  }

  chips() {
    const panels = this.timelines();
    const found = this.found ?? [];
    const poll = pollCalled("longest-poll", panels, found);
    const wait = pollCalled("longest-wait", panels, found);
    const name = (/** @type {{panel: number, poll: Poll}} */ { panel, poll: { task } }) => panels[panel]?.byId.get(task)?.letter;
    const isBad = poll && isLong(poll.poll, this.chosen.longNs);
    const what = poll && panels[poll.panel] ? turn(poll.poll, /** @type {Timeline} */ (panels[poll.panel])) : "poll";
    const where = (/** @type {number} */ panel) => (panels.length < 2 ? "" : panels.length === 2 ? (panel === 0 ? "above: " : "below: ") : `${panel + 1}: `);
    const chip = (/** @type {{panel: number, poll: Poll} | undefined} */ target, /** @type {string} */ text, /** @type {boolean} */ bad) =>
      target
        ? html`<button type="button" class=${`ws-button fig-chip ${bad ? "bad" : ""}`} title=${this.panels?.[target.panel]?.title ?? ""} @click=${() => this.jump(target)}>${where(target.panel)}${text}</button>`
        : nothing;
    const idle = panels.length === 1 ? found[0]?.idle.reduce((one, other) => (other.part > one.part ? other : one)) : undefined;
    return html`${chip(poll, `longest ${what} ${time(poll?.poll.self ?? 0)} (${poll ? name(poll) : ""})`, Boolean(isBad))}
      ${chip(wait, `longest wait ${time(wait?.poll.waited ?? 0)} (${wait ? name(wait) : ""})`, false)}
      ${idle ? html`<button type="button" class="ws-button fig-chip" @click=${() => this.showIdle(idle.worker)}>worker ${idle.worker} idle ${share(idle.part)}</button>` : nothing}`;
  }

  /** @param {number} worker */
  showIdle(worker) {
    const timeline = this.timelines()[0];
    const longest = timeline?.parks.filter((park) => park.worker === worker).reduce((/** @type {{start: number, end: number} | undefined} */ one, other) => (one && one.end - one.start >= other.end - other.start ? one : other), undefined);
    this.do({ type: "view", view: "worker" });
    if (longest) this.seek(longest.start);
    this.why = longest ? `Worker ${worker} is parked longest from ${time(longest.start)} on, for ${time(longest.end - longest.start)}: it has nothing to do, so its thread sleeps, and nothing unparks it.` : `Worker ${worker} is never parked in this trace: when it is idle it stays awake.`;
    this.draw();
  }

  transport() {
    const { at, from, to } = this.state;
    const seek = (/** @type {Event} */ event) => {
      this.player.stop();
      this.do({ type: "seek", at: from + (Number(/** @type {HTMLInputElement} */ (event.target).value) / STEPS) * (to - from) });
    };
    const press = (/** @type {string} */ label, /** @type {string} */ glyph, /** @type {() => void} */ action) =>
      html`<button type="button" class="ws-button" aria-label=${label} @click=${action}><span aria-hidden="true">${glyph}</span></button>`;
    const scale = this.scale();
    const { left, right } = plan(this.timelines(), this.state, this.settings(scale));
    return html`<input class="fig-scrubber" type="range" min="0" max=${STEPS} .value=${String(Math.round(clamp((at - from) / (to - from), 0, 1) * STEPS))}
        style=${`margin-inline-start: ${left * scale - 8}px; width: ${(right - left) * scale + 16}px`} aria-label="Time" aria-valuetext=${this.nowIs()} @input=${seek} @focus=${() => this.onSlider(true)} @blur=${() => this.onSlider(false)} />
      <div class="fig-bar fig-transport">
        <span class="fig-group" role="group" aria-label="Time">
          ${press("To the start", "|◀", () => this.seek(from))}${press("Back by one event", "‹", () => this.nextEvent(-1))}
          ${press(this.player.isPlaying ? "Pause" : "Play", this.player.isPlaying ? "II" : "▶", () => this.togglePlay())}
          ${press("Forward by one event", "›", () => this.nextEvent(1))}${press("To the end", "▶|", () => this.seek(to))}
        </span>
        <select aria-label="Speed" @change=${(/** @type {Event} */ event) => (this.player.speed = Number(/** @type {HTMLSelectElement} */ (event.target).value))}>
          ${SPEEDS.map((speed) => html`<option value=${speed} ?selected=${speed === this.player.speed}>${speed}×</option>`)}
        </select>
        <span class="fig-group" role="group" aria-label="Points of interest">${press("Previous point of interest", "‹", () => this.nextPoint(-1))}
          <button type="button" class="ws-button" @click=${() => this.nextPoint(1)}>what is worst?<span aria-hidden="true"> ›</span></button></span>
        ${this.zooms()}${this.sources()}
      </div>`;
  }

  sources() {
    if (this.own.size === 0 || this.recorded.size === 0) return nothing;
    const choose = (/** @type {Event} */ event) => {
      this.source = /** @type {Source} */ (/** @type {HTMLSelectElement} */ (event.target).value);
      this.begin();
      this.draw();
    };
    const option = (/** @type {Source} */ value, /** @type {string} */ text) => html`<option value=${value} ?selected=${this.source === value}>${text}</option>`;
    return html`<select aria-label="Which run" @change=${choose}>${option("recorded", "the recorded run")}${option("own", "your run")}${this.recorded.size === 1 ? option("both", "both") : nothing}</select>`;
  }

  exports() {
    const [first] = this.timelines();
    if (!first) return nothing;
    const name = first.trace.title.replace(/[^\w-]+/g, "-").toLowerCase();
    const chrome = () => JSON.stringify(toChrome(first));
    return html`<button type="button" class="ws-button" @click=${() => save(`${name}.json`, JSON.stringify(first.trace.document))}>Save the trace</button>
      <button type="button" class="ws-button" @click=${() => save(`${name}-chrome.json`, chrome())}>Save for Chrome, Perfetto</button>
      ${canOpenPerfetto()
        ? html`<button type="button" class="ws-button" @click=${() => openInPerfetto(first.trace.title, chrome())}>Open in Perfetto</button>
            <p>This opens an outside site; your trace stays in your browser.</p>`
        : nothing}`;
  }

  /** Where the data is from, and what it cost to have it. */
  provenance() {
    const traces = this.timelines().map(({ trace }) => trace);
    const from = traces.map(({ machine, runtime, recorded }) => [runtime, machine, recorded].filter(Boolean).join(", "));
    const costs = traces.flatMap(({ eventCostNs }) => eventCostNs ?? []);
    const [least, most] = [Math.min(...costs), Math.max(...costs)];
    const cost = costs.length ? `; recording cost ${least === most ? least : `${least} to ${most}`} ns an event` : "";
    return html`<p class="fig-source">${[...new Set(from)].join(" | ")}${cost}</p>`;
  }
}
