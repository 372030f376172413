import { ask, runnerState } from "../../runner.js";

/** Asks the workshop, once and silently, for the trace that it made last. */
export async function latestTrace() {
  if ((await runnerState()) !== "ready") return undefined;
  const text = await ask("traces/latest");
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
