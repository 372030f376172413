/**
 * Yields each line of `stream` as the JSON value it holds, as soon as the line
 * is complete. A line that is no JSON ends the stream with an error.
 *
 * @param {ReadableStream<Uint8Array>} stream
 * @returns {AsyncGenerator<any>}
 */
export async function* jsonLines(stream) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      for (const line of lines) {
        if (line.trim() !== "") yield JSON.parse(line);
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
