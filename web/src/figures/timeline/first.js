// The first frame of a timeline, from nothing but its data and attributes.

import { parseTime } from "../format.js";
import { still } from "../still.js";
import { derive } from "./derive.js";
import { endOf, pollCalled, rangeOf, startOf } from "./model.js";
import { MOMENTS } from "./moments.js";
import { parseTrace } from "./read.js";
import { signs } from "./legend.js";
import { picture, plan } from "./view.js";
import { explain, sentences, statistics } from "./words.js";

export const LONG_NS = 1_000_000;

/**
 * What the attributes of `<ws-timeline>` say, with what holds where they say nothing.
 *
 * @param {DOMStringMap} data
 */
export function choices(data) {
  return {
    longNs: data.long === "none" ? Infinity : (parseTime(data.long) ?? LONG_NS),
    tasks: (data.tasks ?? "").split(",").map((name) => name.trim()).filter(Boolean),
    view: /** @type {"task" | "worker"} */ (data.view === "worker" ? "worker" : "task"),
    select: data.select,
    range: data.range,
    note: data.note,
  };
}

/**
 * Marks what the figure is about, in each panel where it happens: `steal: half of the queue moves at once`.
 *
 * @param {string | undefined} note
 * @param {import("./derive.js").Timeline[]} timelines
 * @returns {number | undefined} when it happens first
 */
export function noted(note, timelines) {
  const [, kind = "", words = ""] = /^(\w+): (.+)$/.exec(note ?? "") ?? [];
  const times = timelines.flatMap((timeline) => {
    const { marks, byId, moves, trace } = timeline;
    const isWhole = trace.dropped + trace.leftOut === 0;
    const moment = (isWhole && MOMENTS[kind]?.(timeline)) || moves.find((move) => move.kind === kind);
    if (!moment) return [];
    const { t, worker, task = 0 } = { t: /** @type {any} */ (moment).start, ...moment };
    const text = words.replace("{worker}", `W${worker}`).replace("{task}", () => byId.get(task)?.name ?? "");
    if (!marks.some((mark) => mark.text === text)) marks.unshift({ t, text, task: 0, isNote: true });
    return [t];
  });
  return times[0];
}

/**
 * @param {import("./derive.js").Timeline[]} timelines
 * @param {import("./words.js").Statistics[]} found
 * @param {ReturnType<typeof choices>} chosen
 * @returns {import("./model.js").State}
 */
export function firstState(timelines, found, { view, select, range, note }) {
  const selected = pollCalled(select, timelines, found);
  const mark = noted(note, timelines);
  const shown = rangeOf(range, endOf(timelines), startOf(timelines));
  return {
    view,
    at: selected?.poll.start ?? mark ?? startOf(timelines),
    // In a run of the reader's it may come later.
    ...(mark !== undefined && mark > shown.to ? rangeOf(undefined, endOf(timelines), startOf(timelines)) : shown),
    selected: selected && { panel: selected.panel, poll: selected.poll.index },
    phase: "shown",
    guess: undefined,
  };
}

/**
 * The picture for readers without JavaScript, with what it says in words.
 *
 * @param {{name: string, text: string}[]} documents
 * @param {DOMStringMap} data
 * @param {string} id
 * @param {number} width
 */
export function timelinePicture(documents, data, id, width) {
  const timelines = documents.map(({ text }) => derive(parseTrace(text)));
  const chosen = choices(data);
  const found = timelines.map((timeline) => statistics(timeline, chosen.longNs));
  const state = firstState(timelines, found, chosen);
  const said = timelines.map((timeline, index) => sentences(timeline, /** @type {any} */ (found)[index]));
  const selected = state.selected && timelines[state.selected.panel]?.polls[state.selected.poll];
  const why = selected && state.selected ? [explain(selected, /** @type {any} */ (timelines[state.selected.panel]))] : [];
  const titles = timelines.map(({ trace }) => trace.title);
  const settings = { width, id: `${id}-still`, longNs: chosen.longNs, tasks: chosen.tasks, titles, queues: true, label: `A timeline. ${(why[0] ?? said[0]?.[1]) ?? ""}`, question: undefined, still: true };
  const { height } = plan(timelines, state, settings);
  return still(picture(timelines, state, settings), height, data.question ?? "", [...why, ...said.flat()], width, signs(timelines, state, settings));
}
