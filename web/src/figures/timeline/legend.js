// What the symbols of a picture mean: those that stand in it, and no others.

import { svg } from "lit/html.js";
import { time } from "../format.js";
import { hasGlobal } from "./queues.js";
import { isLong } from "./words.js";

/** @typedef {{glyph: unknown, text: string}} Sign the glyph in a box of 26 × 16 pixels */

/**
 * @param {import("./derive.js").Timeline[]} timelines
 * @param {import("./model.js").State} state
 * @param {{longNs: number, queues: boolean, still?: boolean}} settings
 * @returns {Sign[]}
 */
export function signs(timelines, { view, selected, phase }, { longNs, queues, still }) {
  const byWorker = view === "worker";
  const any = (/** @type {(timeline: import("./derive.js").Timeline) => boolean} */ test) => timelines.some(test);
  const anyPoll = (/** @type {(poll: import("./derive.js").Poll) => boolean} */ test) => any(({ polls }) => polls.some(test));
  const chosen = phase === "shown" && selected !== undefined && timelines[selected.panel]?.polls[selected.poll];
  const withQueues = queues && any(({ moves }) => moves.length > 0);
  const has = (/** @type {string} */ kind) => withQueues && byWorker && any(({ moves }) => moves.some((move) => move.kind === kind));
  /** @type {[unknown, unknown, string][]} */
  const all = [
    [any(({ wakes, workers }) => wakes.some(({ spawned, worker }) => !spawned && (!byWorker || workers.includes(worker)))), svg`<path class="wake" d="M9 5h8l-4 6z"></path>`, byWorker ? "wakes a task" : "is woken"],
    [chosen && chosen.wake, svg`<path class="arrow" d="M13 0V10"></path><path class="wake" d="M9 8h8l-4 6z"></path>`, "from what woke it"],
    [!byWorker && anyPoll(({ waited }) => waited > 0), svg`<path class="wait legend-wait" d="M2 8H24"></path>`, "waits: could run, is not polled yet"],
    [true, svg`<path class="legend-poll" d="M5 2V14"></path><rect class="legend-poll" x="10" y="2" width="14" height="12"></rect>`, "is polled: the task runs, for a moment or longer"],
    [anyPoll(({ result }) => result === "ready"), svg`<path class="tick" d="M8 8l3 4l6 -9"></path>`, "ready: it has finished"],
    [anyPoll((poll) => isLong(poll, longNs)), svg`<rect class="long" x="3" y="2" width="20" height="12"></rect>`, `keeps its worker for ${time(longNs)} or more`],
    [chosen, svg`<path class="wake dim" d="M3 5h8l-4 6z"></path><rect class="legend-poll dim" x="15" y="2" width="9" height="12"></rect>`, "pale: did not lead to the poll chosen"],
    [byWorker && any(({ parks }) => parks.length > 0), svg`<path class="legend-hatch" d="M3 13l6 -9M9 13l6 -9M15 13l6 -9"></path>`, "parked: the thread sleeps until it is unparked"],
    [withQueues && byWorker && any(({ searches }) => searches.length > 0), svg`<path class="searching" d="M2 8H24"></path>`, "searches the others' queues"],
    [withQueues && byWorker, svg`<path class="queue" d="M3 14V9H9V4H15V9H22V14Z"></path>`, "tasks in a queue"],
    [withQueues && byWorker && !still, svg`<path class="queue-chips" d="M3 5h7v7h-7zM13 5h7v7h-7z"></path>`, "the same, at the cursor"],
    [has("steal") || has("overflow") || has("take"), svg`<path class="carried" d="M13 1V14m-3.5 -5l3.5 5l3.5 -5"></path>`, any(({ steps }) => hasGlobal(steps)) ? "tasks move: stolen, spilled over when full, or taken back" : "tasks are stolen"],
    [has("notify"), svg`<path class="notify" d="M13 1V14m-3.5 -5l3.5 5l3.5 -5"></path>`, "wakes a worker to help"],
  ];
  return all.filter(([isThere]) => isThere).map(([, glyph, text]) => ({ glyph, text }));
}
