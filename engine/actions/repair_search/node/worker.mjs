// A worker of the search in a thread: loads the module and its tests once, and tries candidates one after the other.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

const { called, example, serve, silence } = createRequire(import.meta.url)("./trial.cjs");
const { files, examples, wanted } = workerData;
const line = {
  post: parentPort.postMessage.bind(parentPort),
  next: () => new Promise((resolve) => { parentPort.once("message", resolve); }),
};

async function loaded() {
  silence();
  process.on("unhandledRejection", () => undefined);
  process.on("uncaughtException", () => undefined);
  globalThis.__stet_tests__ = [];
  globalThis.__stet_called__ = called;
  for (const file of files) {
    if (/\.c?js$/.test(file)) {
      try {
        createRequire(file)(file);
        continue;
      } catch (error) {
        if (error?.code !== "ERR_REQUIRE_ESM" && !(error instanceof SyntaxError)) throw error;
      }
    }
    await import(pathToFileURL(file).href);
  }
  const known = globalThis.__stet_tests__.filter(({ name }) => !wanted.length || wanted.some((each) => each.endsWith(name)));
  return [...examples.map((each) => example(each, globalThis)), ...known.map(({ run }) => run)];
}

let checks;
try {
  checks = await loaded();
} catch {
  line.post({ problem: "not loaded" });
}
if (checks) await serve(checks, line, globalThis);
