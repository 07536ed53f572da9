// Runs the same calls against several texts of a JavaScript or TypeScript module, in the sandbox.
//
// Needs only Node 18. Reads one job (JSON, the path is its argument, see `harness_run.py`) and writes one report to the
// descriptor BOX_REPORT_FD. `loading.mjs` makes each text a file, which is loaded and run in a separate worker without
// the nonce; `determinism.mjs` defines what is the same in each. A worker that does not end a call in time is
// terminated.

import fs from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";

import { NoBuilder, WAYS, built, builtAsSecondFile } from "./loading.mjs";

const REPORT = Number(process.env.BOX_REPORT_FD);
const UNFIT = new Set(["late", "limit", "died", "reached"]);
const SHOWN = 64_000;
const MEMORY_MB = 256, MOST_LATE = 4, CLOSE = 1e-9;
const LOOKS = 0.4, TIMEOUT = 10 * LOOKS;
const MOST_GROWN = 3, GROWING = 4;
const NUMBER = /\x01[-+.\w]+/g;
const now = () => performance.now() / 1000;

// One worker, and its time limit.

const visible = ({ nonce, texts, calls, probed, probe, untyped, ...job }) => job;

const begun = (job, data) => new Worker(new URL("./worker.mjs", import.meta.url), {
  workerData: { job: visible(job), ...data }, env: {}, stdout: true, stderr: true,
  resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, stackSizeMb: 1 }, // a worker's own stack is four times that of a program
});

function once(job, file, calls, limits) {
  return new Promise((resolve) => {
    const shared = new Int32Array(new SharedArrayBuffer(8));
    const result = { load: "it ended the process", gaveUp: false, outcomes: {}, stuck: "", at: null, side_effects: [] };
    const worker = begun(job, { file, calls, limits, shared });
    const slack = limits.guards ? 4 : 1; // the worker's own clock triggers first
    let seen = -1, since = now(), used = 0, is_loaded = false;
    const end = (stuck) => {
      clearInterval(watch);
      result.stuck ||= stuck;
      result.at ??= shared[0] > 0 && !(calls[shared[0] - 1]?.[0] in result.outcomes) ? calls[shared[0] - 1][0] : null;
      // A worker that ended between two calls is charged to the next.
      if (result.stuck === "died" && !result.load) result.at ??= calls.find(([number]) => !(number in result.outcomes))?.[0] ?? null;
      worker.terminate().then(() => resolve(result));
    };
    const watch = setInterval(() => {
      const spent = process.cpuUsage(), cpu = (spent.user + spent.system) / 1e6;
      if (shared[1] !== seen) [seen, since, used] = [shared[1], now(), cpu];
      const waited = now() - since;
      if (waited > job.stall || (is_loaded && shared[0] && waited > limits.cpu * slack && cpu - used > limits.cpu * slack)) {
        if (!is_loaded) [result.load, result.gaveUp] = [`it takes longer than ${job.stall} seconds`, true];
        end("late");
      } else if (now() > limits.end) end("unfinished");
    }, 5);
    worker.on("message", (message) => {
      if ("load" in message) [result.load, is_loaded] = [message.load, true];
      else if ("over" in message) {
        result.side_effects = message.over;
        end("");
      }
      else result.outcomes[message.end] = message.outcome;
    });
    worker.on("error", (error) => end(error?.code === "ERR_WORKER_OUT_OF_MEMORY" ? "limit" : "died"));
    worker.on("exit", () => end("died"));
  });
}

async function run(job, file, calls, { cpu, most, wanted, end }) {
  const result = { load: "it was not loaded", outcomes: {}, side_effects: [] };
  let left = calls, late = 0;
  while (left.length && now() < end && late < most) {
    const valid = Object.values(result.outcomes).filter(isValid).length;
    const part = await once(job, file, left, { cpu, wanted: wanted - valid, end, guards: late > 0 });
    const isLate = part.stuck === "unfinished" && Boolean(part.load);
    if (result.load) [result.load, result.gaveUp] = [isLate ? "no time was left to load it" : part.load, part.gaveUp || isLate];
    Object.assign(result.outcomes, part.outcomes);
    result.side_effects.push(...part.side_effects);
    if (part.load || part.at === null || part.stuck === "unfinished") break;
    const kind = part.stuck || "died";
    result.outcomes[part.at] = { kind, error: "", message: "", digest: kind, opaque: false, results: [], variables: "", printed: "" };
    left = left.slice(left.findIndex(([number]) => number === part.at) + 1);
    late += 1;
  }
  return result;
}

const isValid = (each) => each.kind === "ok" || (each.kind === "raised" && !["TypeError", "ReferenceError"].includes(each.error));

/** The first way in which a text can be loaded, and the outcomes of its calls. */
async function loaded(job, number, calls, limits, ways) {
  let first;
  for (const name of ways) {
    let result;
    try {
      const file = built(job, job.texts[number], name);
      result = { ...(await run(job, file, calls, limits)), way: name, built: name === "node" ? "" : fs.readFileSync(file, "utf8") };
    } catch (error) {
      result = { load: String(error?.message ?? error).slice(0, 300), gaveUp: error instanceof NoBuilder, outcomes: {}, side_effects: [], way: name, built: "" };
    }
    if (!result.load) return result;
    first ??= result;
  }
  return first ?? { load: "neither esbuild nor typescript is in the project", outcomes: {}, side_effects: [], way: "", built: "" };
}

/** Whether a difference may not count: an input that the first text fails on by accident, or one on which both fail. */
const mayBeExcused = (old, now) => isClose(old, now) || !isValid(old) || (old.kind === "raised" && now?.kind === "raised");

async function compare(job, calls) {
  const begun = now(), end = begun + job.seconds;
  const ways = Object.keys(WAYS).filter((name) => WAYS[name].fits(job));
  const probe = await loaded(job, 0, calls, { cpu: job.cpu, most: MOST_LATE, wanted: job.wanted, end: now() + 0.4 * job.seconds }, ways);
  const unfit = Object.entries(probe.outcomes).filter(([, each]) => UNFIT.has(each.kind));
  const leftOut = unfit.map(([number, each]) => ({ call: Number(number), kind: each.kind, message: each.message }));
  const out = new Set(unfit.map(([number]) => Number(number)));
  const fit = calls.filter(([number]) => number in probe.outcomes && !out.has(number));
  if (probe.load || !fit.length) return { texts: [row(probe, probe, new Set())], left_out: leftOut };
  const all = { most: 1, wanted: fit.length + 1, end };
  const again = () => loaded(job, 0, fit, { ...all, cpu: 20 * job.cpu }, [probe.way]);
  // If all calls are usable, the first text runs again only if necessary; the time for that is reserved.
  const kept = end - 1.2 * (now() - begun);
  let base = unfit.length ? await again() : null;
  const rest = !base && kept > now() ? kept : end;
  const others = [];
  for (let number = 1; number < job.texts.length; number += 1) {
    others.push(await loaded(job, number, fit, { ...all, cpu: 40 * job.cpu, end: rest }, ways));
  }
  base ??= others.length && others.every((each) => agrees(each, probe)) ? probe : await again();
  const same = new Set(Object.keys(base.outcomes).filter((n) => probe.outcomes[n].digest === base.outcomes[n].digest));
  for (const number of Object.keys(base.outcomes)) {
    if (!same.has(number)) leftOut.push({ call: Number(number), kind: "flaky", message: "" });
  }
  const texts = [base, ...others].map((each) => row(each, base, same));
  const isAlike = others.every((each) => !each.load && [...same].every((n) => isClose(base.outcomes[n], each.outcomes[n])));
  const mayBeAlike = others.every((each) => !each.load && [...same].every((n) => mayBeExcused(base.outcomes[n], each.outcomes[n])));
  const unseen = job.probed.length && mayBeAlike ? await missed(job, [base, ...others], fit.filter(([n]) => same.has(String(n)))) : null;
  const growth = isAlike && job.grown.length ? await grew(job, [base, ...others], same) : [];
  return { texts, left_out: leftOut, unseen, growth };
}

/** For some calls among the `same` ones, enlarged: the seconds of old and new with fewer and with more items; 0 where one fails. */
async function grew(job, texts, same) {
  const chosen = job.grown.filter(([number]) => same.has(String(number))).slice(0, MOST_GROWN);
  const sides = texts.slice(0, 2).map(() => new Float64Array(new SharedArrayBuffer(16 * chosen.length)));
  for (const [at, spent] of chosen.length ? sides.entries() : []) {
    const worker = begun(job, { calls: chosen, limits: { cpu: job.cpu }, growing: { file: built(job, job.texts[at], texts[at].way), spent } });
    await new Promise((done) => {
      for (const event of ["message", "error", "exit"]) worker.on(event, done);
      setTimeout(done, 1_000 * GROWING);
    });
    await worker.terminate();
  }
  return chosen.map(([number], at) => [number, ...sides.flatMap((spent) => [...spent.slice(2 * at, 2 * at + 2)])]);
}

/** Whether two texts agree on every call, and two runs do: another run of the first would add nothing. */
function agrees(result, first) {
  const numbers = Object.keys(first.outcomes);
  return !result.load && numbers.every((n) => result.outcomes[n]?.digest === first.outcomes[n].digest);
}

/** Whether two outcomes are the same except for rounding, or one is missing. */
function isClose(one, other) {
  if (!other || one.digest === other.digest) return true;
  const [first, second] = [one, other].map((each) => [each.kind, each.error, each.printed, ...each.results, each.variables].join("\0"));
  const words = (text) => text.replace(NUMBER, "\x01"), numbers = (text) => text.match(NUMBER) ?? [];
  return words(first) === words(second) && numbers(first).every((text, at) => {
    const [mine, theirs] = [text, numbers(second)[at]].map((each) => Number(each.slice(1)));
    return Object.is(mine, theirs) || Math.abs(mine - theirs) <= Math.max(CLOSE * Math.abs(mine), 1e-12);
  });
}

// Checks what the inputs execute: runs the texts again, with probes in the changed places. Outcomes do not count here.

/** The probes of the first two texts that no call reached; null if one of them cannot run with its probes. */
async function missed(job, texts, calls) {
  const bytes = (count) => new Uint8Array(new SharedArrayBuffer(count));
  const sides = job.probed.map(([, count]) => ({ seen: bytes(count), isLoaded: bytes(1) }));
  const asked = [];
  try {
    for (const [at, [text, count]] of job.probed.entries()) {
      if (count) asked.push({ ...sides[at], file: builtAsSecondFile(job, text, texts[at].way) });
    }
  } catch {
    return null;
  }
  const worker = begun(job, { calls, limits: { cpu: job.cpu }, probed: { name: job.probe, sides: asked, seconds: LOOKS } });
  const isOver = await new Promise((done) => {
    for (const event of ["message", "error", "exit"]) worker.on(event, () => done(true));
    setTimeout(done, 1_000 * TIMEOUT, false); // probes without enough time count as unseen
  });
  await worker.terminate();
  if (isOver && asked.some(({ isLoaded }) => !isLoaded[0])) return null;
  return sides.map(({ seen }) => [...seen.keys()].filter((number) => !seen[number]));
}

/** Outcomes in full only if they differ from the first text's, which are then full too. */
function row(each, base, same) {
  const outcomes = {};
  for (const [number, outcome] of Object.entries(each.outcomes)) {
    if (!same.has(number)) continue;
    const alike = each !== base && base.outcomes[number]?.digest === outcome.digest;
    outcomes[number] = alike ? { kind: outcome.kind, digest: outcome.digest } : outcome;
  }
  const effects = each === base ? [] : each.side_effects.filter((what) => !base.side_effects.includes(what));
  return { load: each.load, gave_up: Boolean(each.gaveUp), side_effects: effects.slice(0, 3).join("; "), outcomes, built: each.built.length > SHOWN ? "" : each.built };
}

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
fs.unlinkSync(process.argv[2]);
job.path = path.resolve(job.path);
const report = await compare(job, job.calls.map(([setup, body, names], number) => [number, setup, body, names]));
let data = Buffer.from(JSON.stringify({ ...report, nonce: job.nonce }) + "\n");
while (data.length) data = data.subarray(fs.writeSync(REPORT, data));
process.exit(0);
