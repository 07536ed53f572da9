// A worker of the search in the sandbox: loads the module and its tests once, and tries candidates one after the other.

import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";
import vm from "node:vm";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

const { files, list, allowed, edits, examples, wanted, order } = workerData;
const post = parentPort.postMessage.bind(parentPort);
const real = { setTimeout, clearTimeout, now: performance.now.bind(performance) };
const guarded = new vm.Script("globalThis.__stet_check__()");
const quiet = () => undefined;

let spent = 0;

/** Runs a check, at most for the allowed time: what does not end synchronously is interrupted, the rest given up. */
async function held(check) {
  let timer;
  const began = real.now();
  try {
    globalThis.__stet_check__ = check;
    const result = guarded.runInThisContext({ timeout: Math.ceil(1_000 * allowed) });
    const late = new Promise((resolve) => { timer = real.setTimeout(resolve, 1_000 * allowed, false); });
    const passed = (await Promise.race([result, late])) === true;
    if (real.now() - began < 1_000 * allowed) spent += real.now() - began;
    return passed;
  } catch {
    return false;
  } finally {
    real.clearTimeout(timer);
  }
}

/** An example as a function that says whether it holds. */
function example({ source, want, error }) {
  const body = want ? `return [(${source}), (${want})];` : `return [(${source})];`;
  const run = new Function("__space__", `with (__space__) { ${body} }`);
  return async () => {
    try {
      const [got, wish] = run(globalThis.__stet_space__);
      const value = got && typeof got.then === "function" ? await got : got;
      return !error && (value === wish || isDeepStrictEqual(value, wish));
    } catch (raised) {
      return Boolean(error) && [raised?.name, raised?.constructor?.name].includes(error);
    }
  };
}

async function loaded() {
  for (const each of ["log", "info", "warn", "error", "debug"]) console[each] = quiet;
  process.on("unhandledRejection", quiet);
  process.on("uncaughtException", quiet);
  globalThis.__stet_tests__ = [];
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
  globalThis.__stet_space__ = globalThis.__stet__ ?? {};
  const known = globalThis.__stet_tests__.filter(({ name }) => !wanted.length || wanted.some((each) => each.endsWith(name)));
  return [...examples.map(example), ...known.map(({ run }) => run)];
}

async function tried(n, checks) {
  [globalThis.__stet_at__, globalThis.__stet_code__] = n === null ? [undefined, ""] : edits[n];
  const marks = [];
  spent = 0;
  for (const at of order.length ? order : checks.keys()) {
    marks.push(await held(checks[at]));
    if (n !== null && !marks[marks.length - 1]) break;
  }
  globalThis.__stet_at__ = undefined;
  post({ n, marks, seconds: spent / 1_000 });
}

try {
  const checks = await loaded();
  post({ loaded: true });
  for (const n of list) await tried(n, checks);
} catch {
  post({ problem: "not loaded" });
}
