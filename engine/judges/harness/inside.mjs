// Goes into the box: runs the same calls against several texts of a JavaScript or TypeScript module.
//
// Needs Node 18 and nothing else. Reads one job (JSON, the path is its argument, see `trial.py`) and writes one report
// to the descriptor BOX_REPORT_FD. Each text is loaded and run in a worker of its own, which never sees the nonce;
// `pins.mjs` says what is the same in each. A worker that does not end a call in time is ended itself.

import { spawnSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

const REPORT = Number(process.env.BOX_REPORT_FD);
const UNFIT = new Set(["late", "limit", "died", "reached"]);
const SHOWN = 64_000;
const MEMORY_MB = 256, MOST_LATE = 4;
const BANNER = "import { createRequire as stetRequire } from 'node:module'; const require = stetRequire(import.meta.url);";
const EMPTY = [".css", ".scss", ".less", ".svg", ".png", ".jpg"].map((each) => `--loader:${each}=empty`);
const now = () => performance.now() / 1000;
const digest = (text) => crypto.createHash("sha256").update(text).digest("hex").slice(0, 16);

// A text as the module that it would be in its project: as it is, else built.

const WAYS = {
  node: { fits: (job) => !job.builds, file: (job) => job.path },
  bundle: { fits: (job) => job.esbuild, file: bundled },
  typescript: { fits: (job) => job.typescript, file: transpiled },
  strip: { fits: (job) => job.typescript, file: stripped },
};

function written(job, text) {
  fs.mkdirSync(path.dirname(job.path), { recursive: true });
  fs.writeFileSync(job.path, text);
}

function fresh(job, text) {
  const file = path.join(path.dirname(job.path), `.stet-${crypto.randomBytes(6).toString("hex")}.mjs`);
  if (text !== undefined) fs.writeFileSync(file, text);
  return file;
}

function bundled(job) {
  const out = fresh(job);
  const made = spawnSync(
    job.esbuild,
    [job.path, "--bundle", "--format=esm", "--platform=node", "--packages=external", `--outfile=${out}`,
     "--log-level=error", `--banner:js=${BANNER}`, ...EMPTY],
    { encoding: "utf8", env: { PATH: process.env.PATH } },
  );
  if (made.status !== 0) throw new Error(`esbuild: ${(made.stderr || String(made.error)).trim().split("\n")[0]}`);
  return out;
}

function required(job, name) {
  try {
    return createRequire(job.path)(name);
  } catch {
    throw new Error("nothing here takes its types out: neither esbuild nor typescript is in the project");
  }
}

function transpiled(job) {
  const typescript = required(job, "typescript");
  const options = { target: "ES2022", module: "ESNext", jsx: typescript.JsxEmit?.ReactJSX };
  return fresh(job, typescript.transpileModule(fs.readFileSync(job.path, "utf8"), { compilerOptions: options }).outputText);
}

function stripped(job) {
  const { stripTypeScriptTypes } = createRequire(job.path)("node:module");
  if (!stripTypeScriptTypes) throw new Error("this Node takes no types out of a text");
  return fresh(job, stripTypeScriptTypes(fs.readFileSync(job.path, "utf8"), { mode: "transform" }));
}

// One worker, and the watch over it.

function once(job, file, calls, limits) {
  return new Promise((resolve) => {
    const shared = new Int32Array(new SharedArrayBuffer(8));
    const told = { load: "it ended the process", outcomes: {}, stuck: "", at: null, beside: [] };
    const options = { workerData: { job: visible(job), file, calls, limits, shared }, env: {}, stdout: true, stderr: true };
    const worker = new Worker(new URL("./worker.mjs", import.meta.url), {
      ...options, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    const slack = limits.guards ? 4 : 1; // the worker's own clock comes first
    let seen = -1, since = now(), used = 0, is_loaded = false;
    const end = (stuck) => {
      clearInterval(watch);
      told.stuck ||= stuck;
      told.at ??= shared[0] > 0 && !(calls[shared[0] - 1]?.[0] in told.outcomes) ? calls[shared[0] - 1][0] : null;
      // One that ended between two calls owes an answer to the next.
      if (told.stuck === "died" && !told.load) told.at ??= calls.find(([number]) => !(number in told.outcomes))?.[0] ?? null;
      worker.terminate().then(() => resolve(told));
    };
    const watch = setInterval(() => {
      const spent = process.cpuUsage(), cpu = (spent.user + spent.system) / 1e6;
      if (shared[1] !== seen) [seen, since, used] = [shared[1], now(), cpu];
      const waited = now() - since;
      if (waited > job.stall || (is_loaded && shared[0] && waited > limits.cpu * slack && cpu - used > limits.cpu * slack)) {
        if (!is_loaded) told.load = `it takes longer than ${job.stall} seconds`;
        end("late");
      } else if (now() > limits.end) end("unfinished");
    }, 5);
    worker.on("message", (message) => {
      if ("load" in message) [told.load, is_loaded] = [message.load, true];
      else if ("over" in message) {
        told.beside = message.over;
        end("");
      }
      else told.outcomes[message.end] = message.outcome;
    });
    worker.on("error", (error) => end(error?.code === "ERR_WORKER_OUT_OF_MEMORY" ? "limit" : "died"));
    worker.on("exit", () => end("died"));
  });
}

const visible = ({ nonce, texts, calls, ...job }) => job;

async function run(job, file, calls, { cpu, most, wanted, end }) {
  const told = { load: "it was not loaded", outcomes: {}, beside: [] };
  let left = calls, late = 0;
  while (left.length && now() < end && late < most) {
    const valid = Object.values(told.outcomes).filter(isValid).length;
    const part = await once(job, file, left, { cpu, wanted: wanted - valid, end, guards: late > 0 });
    if (told.load) told.load = part.stuck === "unfinished" && part.load ? "no time was left to load it" : part.load;
    Object.assign(told.outcomes, part.outcomes);
    told.beside.push(...part.beside);
    if (part.load || part.at === null || part.stuck === "unfinished") break;
    const kind = part.stuck || "died";
    told.outcomes[part.at] = { kind, error: "", message: "", digest: kind, opaque: false, results: [], variables: "", printed: "" };
    left = left.slice(left.findIndex(([number]) => number === part.at) + 1);
    late += 1;
  }
  return told;
}

const isValid = (each) => each.kind === "ok" || (each.kind === "raised" && !["TypeError", "ReferenceError"].includes(each.error));

/** The first way in which a text can be loaded, and what its calls came to. */
async function told(job, number, calls, limits, ways) {
  let first;
  for (const name of ways) {
    let result;
    try {
      written(job, job.texts[number]);
      const file = WAYS[name].file(job);
      result = { ...(await run(job, file, calls, limits)), way: name, built: name === "node" ? "" : fs.readFileSync(file, "utf8") };
    } catch (error) {
      result = { load: String(error?.message ?? error).slice(0, 300), outcomes: {}, beside: [], way: name, built: "" };
    }
    if (!result.load) return result;
    first ??= result;
  }
  return first ?? { load: "neither esbuild nor typescript is in the project", outcomes: {}, beside: [], way: "", built: "" };
}

async function compare(job, calls) {
  const end = now() + job.seconds;
  const ways = Object.keys(WAYS).filter((name) => WAYS[name].fits(job));
  const probe = await told(job, 0, calls, { cpu: job.cpu, most: MOST_LATE, wanted: job.wanted, end: now() + 0.4 * job.seconds }, ways);
  const unfit = Object.entries(probe.outcomes).filter(([, each]) => UNFIT.has(each.kind));
  const leftOut = unfit.map(([number, each]) => ({ call: Number(number), kind: each.kind, message: each.message }));
  const out = new Set(unfit.map(([number]) => Number(number)));
  const fit = calls.filter(([number]) => number in probe.outcomes && !out.has(number));
  if (probe.load || !fit.length) return { texts: [row(probe, probe, new Set())], left_out: leftOut };
  const all = { most: 1, wanted: fit.length + 1, end };
  const base = await told(job, 0, fit, { ...all, cpu: 20 * job.cpu }, [probe.way]);
  const same = new Set(Object.keys(base.outcomes).filter((n) => probe.outcomes[n].digest === base.outcomes[n].digest));
  for (const number of Object.keys(base.outcomes)) {
    if (!same.has(number)) leftOut.push({ call: Number(number), kind: "flaky", message: "" });
  }
  const texts = [base];
  for (let number = 1; number < job.texts.length; number += 1) {
    texts.push(await told(job, number, fit, { ...all, cpu: 40 * job.cpu }, ways));
  }
  return { texts: texts.map((each) => row(each, base, same)), left_out: leftOut };
}

/** Outcomes in full only where they differ from the first text's, which come in full. */
function row(each, base, same) {
  const outcomes = {};
  for (const [number, outcome] of Object.entries(each.outcomes)) {
    if (!same.has(number)) continue;
    const alike = each !== base && base.outcomes[number]?.digest === outcome.digest;
    outcomes[number] = alike ? { kind: outcome.kind, digest: outcome.digest } : outcome;
  }
  const beside = each === base ? [] : each.beside.filter((what) => !base.beside.includes(what));
  return { load: each.load, beside: beside.slice(0, 3).join("; "), outcomes, built: each.built.length > SHOWN ? "" : each.built };
}

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
fs.unlinkSync(process.argv[2]);
job.path = path.resolve(job.path);
const report = await compare(job, job.calls.map(([setup, body, names], number) => [number, setup, body, names]));
let data = Buffer.from(JSON.stringify({ ...report, nonce: job.nonce }) + "\n");
while (data.length) data = data.subarray(fs.writeSync(REPORT, data));
process.exit(0);
