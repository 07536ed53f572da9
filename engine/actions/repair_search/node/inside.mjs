// Finds the candidates of a function with which every check passes. Runs in the sandbox, and needs only Node 18.
//
// Reads one job (JSON, the path is its argument, see `javascript_search.py`) and writes one report to the descriptor
// BOX_REPORT_FD. Workers, which do not know the nonce, load the module and its tests once and try many candidates: in
// threads (`worker.mjs`), or within the project's test runner (`jest_host.cjs`, `vitest_host.mjs`). A worker that does
// not end a candidate in time is terminated, and another one goes on after it.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { codeOf, likelyPairs, pairs } from "./candidates.mjs";
import { hosted, prepared } from "./files.mjs";
import { Slot, now, runners, threads } from "./slots.mjs";

const REPORT = Number(process.env.BOX_REPORT_FD);
const FOLDER = path.dirname(fileURLToPath(import.meta.url));
const LEAST = 0.1, MOST = 0.5, WALL = 4, GRACE = 0.2, RUNNER_WALL = 5, LOAD = 8.0, RUNNER_LOAD = 20.0, CONFIRMED = 16, AT_ONCE = 100, RUNNER_AT_ONCE = 20;
const BARE = { n: null };

/** What starts a slot's workers. */
function opener(job) {
  if (job.runner) return runners(job.runner.argv, FOLDER, hosted(job, FOLDER));
  return threads({ files: prepared(job, FOLDER), examples: job.examples, wanted: job.wanted });
}

/** Runs the checks without a candidate in two workers, in one of them twice; what they showed, or a problem. */
async function observed(job, slots) {
  const how = { order: null, failing: 0, allowed: MOST, wall: job.runner ? RUNNER_WALL : WALL * MOST + GRACE };
  const list = async (slot, several) => {
    const results = [];
    const part = await slot.run(several, how, (each) => results.push(each));
    return { ...part, results };
  };
  const runs = await Promise.all([list(slots[0], [BARE, BARE]), list(slots[1], [BARE])]);
  for (const { results, refused, problem } of runs) {
    if (refused) return { problem: refused };
    if (!results.length && problem !== "late") return { problem: "the checks could not be loaded" };
  }
  const [once, again] = runs.map(({ results }) => (results[0]?.marks ?? []).map((mark) => mark === true));
  if (once.some((mark, at) => mark !== again[at])) return { problem: "the failure varies from run to run" };
  const [first, second] = runs[0].results, names = slots[0].names ?? slots[1].names ?? [];
  return {
    once, names, ran: first?.ran ?? [], snapshots: first?.snapshots ?? [],
    unsteady: new Set(second ? [...once.keys()].filter((at) => once[at] !== (second.marks[at] === true)) : []),
    hasLate: !first || first.marks.includes(null), ranEarly: slots[0].ranEarly,
    seconds: runs.flatMap(({ results }) => results).reduce((most, each) => Math.max(most, each.seconds), 0),
  };
}

/**
 * The checks in the order in which candidates meet them, those that fail first, and how many these are. A test of a
 * runner that passes there, but not here, or not twice, is left to the judges.
 */
function ordered(job, { once, names, unsteady }) {
  // A check that did not end has no mark, nor have those after it.
  const count = Math.max(once.length, names.length, job.examples.length);
  const isLeft = (at) => job.runner && job.passing.includes(names[at]) && (once[at] !== true || unsteady.has(at));
  const numbers = [...Array(count).keys()].filter((at) => !isLeft(at));
  const failing = numbers.filter((at) => once[at] !== true);
  return { order: [...failing, ...numbers.filter((at) => once[at] === true)], failing: failing.length };
}

/** Why checks that run again and again show nothing; "" if they do. */
function unusable(job, seen, { order, failing }) {
  const { unsteady, snapshots, ran, hasLate, ranEarly } = seen;
  if (!failing) return "the failure does not occur again";
  if (ranEarly && !hasLate && !order.slice(0, failing).some((at) => ran[at]?.length)) {
    return "the failing tests run the code before they begin";
  }
  if (order.slice(0, failing).some((at) => snapshots[at])) return "a failing test compares a snapshot";
  return job.runner && order.some((at) => unsteady.has(at)) ? "the tests keep state between runs" : "";
}

/** The edits of statements that a failing check executes; all, where that is not known. */
function executed(job, { ran, hasLate }, { order, failing }) {
  const known = new Set(order.slice(0, failing).flatMap((at) => ran[at] ?? []));
  const isAny = hasLate || !known.size;
  return [...job.edits.keys()].filter((n) => isAny || job.edits[n].statement === null || known.has(job.edits[n].statement));
}

/** Tries candidates in all slots, and keeps those with which all checks pass, and those that helped. */
class Pool {
  constructor(job, slots, how, { unsteady }) {
    [this.job, this.slots, this.how, this.keepsState] = [job, slots, how, !job.runner && unsteady.size > 0];
    this.plain = Buffer.from(job.plain);
    this.until = now() + job.seconds;
    [this.good, this.better, this.tried] = [[], new Map(), 0];
  }

  get isOver() {
    return now() > this.until || this.good.length >= this.job.most;
  }

  note({ n, marks }) {
    this.tried += 1;
    const passed = marks.slice(0, this.how.failing).filter(Boolean).length;
    if (marks.length === this.how.order.length && marks.every(Boolean)) this.good.push(n);
    else if (passed) this.better.set(n[0], passed);
  }

  entry(n) {
    return { n, ...codeOf(this.job, this.plain, n) };
  }

  async run(candidates) {
    const left = candidates[Symbol.iterator](), again = [];
    const size = this.keepsState ? 1 : this.job.runner ? RUNNER_AT_ONCE : AT_ONCE;
    const work = async (slot) => {
      while (!this.isOver) {
        const part = again.splice(0, size);
        for (let next; part.length < size && !(next = left.next()).done; ) part.push(next.value);
        if (!part.length) return;
        if (this.keepsState) await slot.close();
        const list = part.map((n) => this.entry(n));
        const { done, problem } = await slot.run(list, this.how, (each) => this.note(each), this.until);
        if (problem === "unfinished") return;
        if (problem) this.note({ n: part[done], marks: [] });
        again.push(...part.slice(problem ? done + 1 : done));
      }
    };
    await Promise.all(this.slots.map(work));
  }

  /** Those of the good that pass in new workers too, where no other candidate left anything. */
  async confirmed(open, load) {
    const found = [], list = this.good.sort((a, b) => a[0] - b[0] || (a[1] ?? 0) - (b[1] ?? 0)).slice(0, CONFIRMED);
    const isGood = ({ n, marks }) => marks.length === this.how.order.length && marks.every(Boolean) && found.push(n);
    const parts = this.job.runner ? [list].filter((each) => each.length) : list.map((n) => [n]);
    await Promise.all(this.slots.map((slot) => slot.close()));
    for (const part of parts) {
      const slot = new Slot(open, load);
      await slot.run(part.map((n) => this.entry(n)), { ...this.how, allowed: MOST, wall: this.how.wall + WALL * MOST }, isGood);
      await slot.close();
    }
    return found;
  }
}

/** Tries single edits, then two at once, until some are good or the time is over. */
async function searched(job, slots, open, load) {
  const seen = await observed(job, slots);
  if (seen.problem) return seen;
  const allowed = Math.min(MOST, Math.max(LEAST, 10 * seen.seconds));
  const how = { ...ordered(job, seen), allowed, wall: WALL * allowed + GRACE + 2 * seen.seconds };
  const problem = unusable(job, seen, how);
  if (problem) return { problem };
  const pool = new Pool(job, slots, how, seen), wanted = executed(job, seen, how);
  await pool.run(wanted.map((n) => [n]));
  if (!pool.good.length) await pool.run(pairs(job.edits, wanted, pool.better));
  if (!pool.good.length) await pool.run(likelyPairs(job.edits, wanted));
  const { tried } = pool;
  return { good: await pool.confirmed(open, load), tried, checks: how.order.length };
}

async function search(job) {
  const open = opener(job), load = job.runner ? RUNNER_LOAD : LOAD;
  const slots = Array.from({ length: Math.max(2, job.slots) }, () => new Slot(open, load));
  try {
    return await searched(job, slots, open, load);
  } finally {
    await Promise.all(slots.map((slot) => slot.close()));
  }
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
