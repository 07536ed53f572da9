// Loaded before a test file, in its process: reports that the file finished by itself, and whether the assertions still
// work. process.exit skips this event.
import assert from "node:assert";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Captured now: a test file may replace what others import.
const [write, temporary, place, hash] = [writeFileSync, tmpdir(), join, createHash];
const held = [assert, assert.strict].map((module) => [module, new Map(Object.entries(module))]);

function lies(compare, left, right) {
  try {
    compare(left, right);
    return true;
  } catch {
    return false;
  }
}

function changed() {
  for (const [module, known] of held) {
    for (const [name, value] of known) if (module[name] !== value) return `changes \`assert.${name}\``;
  }
  const drawn = Math.random();
  const failed = lies(assert.strictEqual, drawn, drawn + 1) || lies(assert.deepStrictEqual, { drawn }, { drawn: -1 });
  return failed ? "a comparison that has to fail did not" : "";
}

if (process.env.NODE_TEST_CONTEXT && process.argv[1]) {
  const name = hash("sha256").update(process.argv[1]).digest("hex");
  process.once("beforeExit", () => write(place(temporary, `.stet-${name}`), `STET_MARKER${changed()}`));
}
