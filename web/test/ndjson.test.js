import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonLines } from "../src/common/ndjson.js";

/** A stream that delivers exactly these pieces. */
function streamOf(...pieces) {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
      controller.close();
    },
  });
}

async function all(stream) {
  const values = [];
  for await (const value of jsonLines(stream)) values.push(value);
  return values;
}

test("one value a line, wherever the pieces are cut", async () => {
  assert.deepEqual(await all(streamOf('{"a":', '1}\n{"b"', ":2}\n\n")), [{ a: 1 }, { b: 2 }]);
});

test("the last line needs no line break", async () => {
  assert.deepEqual(await all(streamOf('{"a":1}\n{"b":2}')), [{ a: 1 }, { b: 2 }]);
});

test("a character cut in two pieces is one character", async () => {
  const bytes = new TextEncoder().encode('"é→"\n');
  assert.deepEqual(await all(streamOf(bytes.slice(0, 2), bytes.slice(2, 4), bytes.slice(4))), ["é→"]);
});

test("a value is there before the stream ends", async () => {
  const { readable, writable } = new TransformStream();
  const writer = writable.getWriter();
  writer.write(new TextEncoder().encode("1\n"));
  const lines = jsonLines(readable);
  assert.deepEqual(await lines.next(), { done: false, value: 1 });
  await lines.return();
});

test("a line that is no JSON is an error", async () => {
  await assert.rejects(all(streamOf("1\nnope\n")), SyntaxError);
});
