// Loaded before a test file, in its process: notes that it came to its end by itself. process.exit skips this event.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

if (process.env.NODE_TEST_CONTEXT && process.argv[1]) {
  const name = createHash("sha256").update(process.argv[1]).digest("hex");
  process.once("beforeExit", () => writeFileSync(join(tmpdir(), `.stet-${name}`), "STET_TOKEN"));
}
