// The reader's file of exercise 1, as the tests change it and leave it.

import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../../", import.meta.url);
const FOLDER = new URL("exercises/01-block-on/", ROOT);

/** Where `cargo` is run. */
export const WORKSHOP = fileURLToPath(ROOT);
export const FILE = fileURLToPath(new URL("src/lib.rs", FOLDER));
export const SOLUTION = readFileSync(new URL("solutions/01-block-on/src/lib.rs", ROOT), "utf8");
export const before = readFileSync(FILE, "utf8");
const keptBefore = kept();

export const read = () => readFileSync(FILE, "utf8");
export const write = (text) => writeFileSync(FILE, text);

/** The files that were put aside, the newest last. */
export function kept() {
  return readdirSync(FOLDER).filter((name) => name.endsWith(".kept.rs")).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

export const textOfKept = (name) => readFileSync(new URL(name, FOLDER), "utf8");

/** Leaves all as it was. */
export function restore() {
  if (read() !== before) write(before);
  for (const name of kept()) if (!keptBefore.includes(name)) rmSync(new URL(name, FOLDER));
}
