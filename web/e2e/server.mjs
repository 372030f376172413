// Two small servers on loopback: one for the book as static files, one that
// speaks the protocol of play.rust-lang.org's `/execute`.

import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const TYPES = { html: "text/html", js: "text/javascript", css: "text/css", woff2: "font/woff2", svg: "image/svg+xml", png: "image/png" };

/**
 * @param {import("node:http").RequestListener} answer
 * @returns {Promise<{url: string, port: number, close: () => Promise<void>}>}
 */
async function listen(answer) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}`, port, close };
}

/** @param {string} file */
function typeOf(file) {
  return TYPES[file.split(".").at(-1)];
}

/**
 * Serves the files of `folder`; `runner`, if there is one, takes the place of the address that the pages name.
 *
 * @param {string} folder
 * @param {() => string} [runner]
 */
export function serveBook(folder, runner) {
  return listen((request, response) => {
    const file = join(folder, decodeURIComponent(new URL(request.url, "http://x").pathname));
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "Content-Type": typeOf(file), "Cache-Control": "max-age=600" });
    const body = readFileSync(file);
    if (!runner || !file.endsWith(".html")) return response.end(body);
    response.end(body.toString().replace(/(<meta name="workshop-runner" content=")[^"]*/, `$1${runner()}`));
  });
}

/**
 * Answers each `POST /execute` with what `run` makes of it, and keeps what it was sent.
 *
 * @param {(request: any) => {status?: number, body: object} | Promise<{status?: number, body: object}>} run
 */
export async function servePlayground(run) {
  const calls = [];
  const server = await listen(async (request, response) => {
    const cors = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "content-type" };
    if (request.method === "OPTIONS") return response.writeHead(204, cors).end();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const isCall = request.method === "POST" && request.url === "/execute" && request.headers["content-type"] === "application/json";
    const call = JSON.parse(Buffer.concat(chunks).toString() || "null");
    calls.push({ headers: request.headers, ...call });
    const { status = 200, body } = isCall ? await run(call) : { status: 404, body: { error: "no such call" } };
    response.writeHead(status, { ...cors, "Content-Type": "application/json" }).end(JSON.stringify(body));
  });
  return { ...server, calls };
}
