// What the tests of figures share: traces made by hand, and their pictures.

import { readFileSync } from "node:fs";
import { derive } from "../src/figures/timeline/derive.js";
import { parseTrace, readTrace } from "../src/figures/timeline/read.js";

export function fileText(name) {
  return readFileSync(new URL(`data/${name}`, import.meta.url), "utf8");
}

export const LATE = derive(parseTrace(fileText("late-heartbeat.json")));

/** A trace of these events; names, workers and what is dropped may be told. */
export function traceOf(events, { names = {}, ...meta } = {}) {
  return readTrace({ schema: "workshop.trace/1", meta: { title: "by hand", workers: 2, ...meta }, names, events });
}

/** A task that is polled so many times, each poll as long and as far apart as told. */
export function manyPolls(polls, { length = 100, every = 1000, tasks = 1 } = {}) {
  const events = [];
  for (let index = 0; index < polls; index += 1) {
    const start = index * every;
    const task = 1 + (index % tasks);
    events.push([start, "poll+", 0, task, 0], [start + length, "poll-", 0, task, 0]);
  }
  return derive(traceOf(events));
}
