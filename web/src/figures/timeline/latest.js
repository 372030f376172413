/** Asks the workshop, once and silently, for the trace that it made last. */
export async function latestTrace() {
  const runner = window.workshopRunner;
  if ((await runner?.runnerState()) !== "ready") return undefined;
  const text = await runner?.ask("traces/latest");
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
