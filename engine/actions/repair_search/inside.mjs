// Finds the candidates of a function with which every check passes. Runs in the sandbox, and needs only Node 18.
//
// Reads one job (JSON, the path is its argument, see `javascript_search.py`) and writes one report to the descriptor
// BOX_REPORT_FD. Workers (`worker.mjs`), which do not know the nonce, load the module and its tests once and try
// many candidates. A worker that does not end a candidate in time is terminated, and another one goes on after it.

import { spawnSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

const REPORT = Number(process.env.BOX_REPORT_FD);
const FOLDER = path.dirname(fileURLToPath(import.meta.url));
const LEAST = 0.1, MOST = 0.5, WALL = 4, LOAD = 8.0, MEMORY_MB = 256, CONFIRMED = 16;
const now = () => performance.now() / 1000;

/** The files that workers load: test files whose `node:test` is ours, or the module itself. */
function prepared(job) {
  const target = path.resolve(job.path);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, job.text);
  if (!job.tests.length) return [job.typescript && job.esbuild ? bundled(job, target) : target];
  return job.tests.map((test) => {
    const file = path.resolve(test), built = job.typescript ? bundled(job, file) : siblingPath(file, path.extname(file));
    const text = fs.readFileSync(job.typescript ? built : file, "utf8");
    const shim = path.join(FOLDER, "node_test.cjs");
    const address = /\.c?js$/.test(built) ? shim : pathToFileURL(shim).href;
    fs.writeFileSync(built, text.replace(/(["'])node:test\1/g, JSON.stringify(address)));
    return built;
  });
}

const siblingPath = (file, ending) => path.join(path.dirname(file), `.stet-${crypto.randomBytes(6).toString("hex")}${ending}`);

function bundled(job, file) {
  const out = siblingPath(file, ".mjs");
  const made = spawnSync(job.esbuild, [file, "--bundle", "--format=esm", "--platform=node", "--packages=external",
    `--outfile=${out}`, "--log-level=error"], { encoding: "utf8", env: { PATH: process.env.PATH } });
  if (made.status !== 0) throw new Error("the code could not be built");
  return out;
}

/** One worker that tries a list of candidates, each an index, null for the code as it is; passes each result on. */
function worked(job, files, list, allowed, note, until) {
  return new Promise((resolve) => {
    const shared = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(path.join(FOLDER, "worker.mjs"), {
      workerData: { files, list, allowed, shared, edits: job.edits, examples: job.examples, wanted: job.wanted, order: job.order },
      stdout: true, stderr: true, env: {}, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, stackSizeMb: 1 },
    });
    let done = 0, since = now(), isLoaded = false, isOver = false;
    const end = (problem) => {
      if (isOver) return;
      isOver = true;
      clearInterval(watch);
      worker.terminate().then(() => resolve({ done, problem, isLoaded }));
    };
    const watch = setInterval(() => {
      if (now() - since > (isLoaded ? WALL * allowed + 0.2 : LOAD)) end("late");
      else if (until && now() > until) end("unfinished");
    }, 10);
    worker.on("message", (message) => {
      since = now();
      if (message.loaded) isLoaded = true;
      else if ("problem" in message) end(message.problem);
      else {
        done += 1;
        note(message);
        if (done === list.length) end("");
      }
    });
    worker.on("error", () => end("died"));
    worker.on("exit", () => end("died"));
  });
}

/** All of a list, however many workers that takes: a candidate that ends one counts as failing. */
async function all(job, files, list, allowed, note, until, isEnough) {
  let left = list;
  while (left.length && now() < until && !isEnough()) {
    const part = await worked(job, files, job.fresh ? left.slice(0, 1) : left.slice(0, 250), allowed, note, until);
    const skipped = part.done + (part.problem && part.problem !== "unfinished" ? 1 : 0);
    if (skipped > part.done) note({ n: left[part.done], marks: [], isTried: true });
    if (part.problem === "unfinished" || !skipped) break;
    left = left.slice(skipped);
  }
}

async function search(job) {
  const files = prepared(job);
  const runs = [];
  const asItIs = async (list) => {
    const marks = [];
    return [await worked(job, files, list, MOST, (each) => marks.push(each), 0), marks];
  };
  for (const [part, marks] of await Promise.all([asItIs([null, null]), asItIs([null])])) {
    if (!part.isLoaded) return { problem: "the checks could not be loaded" };
    if (!marks.length && part.problem !== "late") return { problem: "the checks could not be run" };
    runs.push(marks);
  }
  const [once, again] = runs.map((marks) => marks[0]?.marks ?? []);
  const count = Math.max(once.length, again.length, job.examples.length);
  if (once.some((mark, at) => mark !== again[at])) return { problem: "the failure varies from run to run" };
  // A check that did not end has no mark, nor have those after it.
  const failing = [...Array(count).keys()].filter((at) => once[at] !== true);
  if (!failing.length) return { problem: "the failure does not occur again" };
  job.fresh = runs.some((marks) => marks.length === 2 && marks[0].marks.some((mark, at) => mark !== marks[1].marks[at]));
  job.order = [...failing, ...[...Array(count).keys()].filter((at) => !failing.includes(at))];
  const seconds = runs.flat().reduce((most, each) => Math.max(most, each.seconds ?? 0), 0);
  const allowed = Math.min(MOST, Math.max(LEAST, 10 * seconds));
  const until = now() + job.seconds, good = [];
  let tried = 0;
  const note = ({ n, marks, isTried }) => {
    tried += 1;
    if (!isTried && marks.length === count && marks.every(Boolean)) good.push(n);
  };
  const lists = Array.from({ length: job.slots }, (_, slot) => [...job.edits.keys()].filter((n) => n % job.slots === slot));
  await Promise.all(lists.map((list) => all(job, files, list, allowed, note, until, () => good.length >= job.most)));
  const confirmed = [];
  for (const n of good.sort((a, b) => a - b).slice(0, CONFIRMED)) {
    const alone = ({ marks }) => marks.length === count && marks.every(Boolean) && confirmed.push(n);
    await worked(job, files, [n], MOST, alone, 0);
  }
  return { good: confirmed, tried, checks: count };
}

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const { nonce, ...own } = job;
fs.unlinkSync(process.argv[2]);
let report;
try {
  report = await search(own);
} catch (error) {
  report = { problem: String(error?.message ?? error).slice(0, 200) };
}
let data = Buffer.from(JSON.stringify({ ...report, nonce }) + "\n");
while (data.length) data = data.subarray(fs.writeSync(REPORT, data));
process.exit(0);
