// A worker in the sandbox: loads one text and runs calls in it, in the environment that `determinism.mjs` pins.
//
// `encode.mjs` writes the outcome of a call as text.

import crypto from "node:crypto";
import { pathToFileURL } from "node:url";
import vm from "node:vm";
import { parentPort, workerData } from "node:worker_threads";

import { Encoder, doubles } from "./encode.mjs";
import { changes, note } from "./intrinsics.mjs";
import { install, restart, sideEffect, state } from "./determinism.mjs";
import { probes } from "./probes.mjs";
import { shared as sharing } from "./aliasing.mjs";

const { job, file, calls, limits, shared, probed, growing } = workerData;
Encoder.hidden = job.hidden;
const SHOWN = 600, TIMERS = 1_000, IDLE_MS = 120, SOME_LATE = 4, MOST_LATE = 60, RECORDED = 100, LONGEST = 0.4, SLOW = 0.02;
const real = { setImmediate, now: performance.now.bind(performance), used: process.cpuUsage, hash: crypto.createHash };
const post = parentPort.postMessage.bind(parentPort);
const listed = Object.keys;
const UNREADABLE = "it comes to something that throws when it is looked at";
const PAGE = /^(?:document|window|localStorage|sessionStorage|navigator|location|HTMLElement|XMLHttpRequest|alert) is not/;

// Runs the calls one after the other.

const turn = () => new Promise((done) => real.setImmediate(done));

/** Runs pending work: promises first, then the timers in order. False if it never ends. */
async function settled(isDone) {
  let idle = real.now();
  for (let ran = 0; ran < TIMERS; ) {
    await turn();
    if (isDone() && !state.timers.length) return true;
    const next = state.timers.reduce((first, each) => (!first || each.at < first.at ? each : first), null);
    if (next) {
      if (isDone() && next.every) return true; // an interval that is never stopped
      state.timers = state.timers.filter((each) => each !== next);
      state.clock = Math.max(state.clock, next.at);
      if (next.every) state.timers.push({ ...next, at: state.clock + next.every });
      next.work();
      ran += 1;
      idle = real.now();
    } else if (real.now() - idle > IDLE_MS) return isDone();
  }
  return isDone();
}

const isThenable = (value) => value !== null && typeof value === "object" && typeof value.then === "function";
const digest = (text) => real.hash("sha256").update(text).digest("hex").slice(0, 16);
const bounded = (text) => (text.length <= SHOWN ? text : `${text.slice(0, SHOWN - 40)}... (${text.length} in all, ${digest(text)})`);
const withoutValues = (text) => text.replace(/"[^"]*"|'[^']*'|`[^`]*`|-?\d[\d.,]*/g, "_");

const guarded = new vm.Script("globalThis.__stet__()");
const timeLimit = { seconds: limits.cpu, late: 0 };

/** After one late call more are likely: each is then interrupted here, which costs less than another worker. */
function within(work) {
  if (!limits.guards) return work();
  globalThis.__stet__ = work;
  return guarded.runInThisContext({ timeout: Math.ceil(1_000 * timeLimit.seconds) });
}

/** Kind, results, error, arguments afterwards, output, aliases; a digest of all but the messages. */
async function outcome(space, call, names) {
  restart();
  const encoder = new Encoder(), results = [], returned = [], waiting = [];
  let variables = () => ({}), kind = "ok", error = "", message = "", one = "";
  const quietly = (work) => {
    const inside = state.inside;
    state.inside = false;
    try {
      return work();
    } finally {
      state.inside = inside;
    }
  };
  const textOf = (value) => quietly(() => encoder.text(value));
  const out = (value) => {
    const at = results.push("") - 1;
    if (!isThenable(value)) {
      results[at] = textOf(value);
      returned.push(value);
    } else {
      waiting.push(at);
      const over = (said) => {
        results[at] = said;
        waiting.splice(waiting.indexOf(at), 1);
      };
      value.then(
        (settledValue) => {
          returned.push(settledValue);
          over(`resolves ${textOf(settledValue)}`);
        },
        (reason) => {
          over(`rejects ${failure(reason, encoder).error}`);
          raise(reason);
        },
      );
    }
  };
  let above = [];
  const raise = (reason) => {
    const found = failure(reason, encoder);
    kind = found.kind;
    error = found.error;
    message = found.message;
    above = found.bases ?? [];
    if (found.said) results.push(found.said);
  };
  const counter = { calls: 0 };
  const double = (own, isMethod) => recorded(own, (given) => given.map(textOf).join(", "), counter, isMethod);
  state.inside = true;
  try {
    within(() => call(space, out, (names) => { variables = names; }, double));
    if (waiting.length || state.timers.length) {
      const isOver = await settled(() => !waiting.length);
      if (!isOver && kind === "ok") kind = "late";
    }
  } catch (reason) {
    if (reason?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") kind = "late";
    else raise(reason);
  }
  state.inside = false;
  let after = "", values = {};
  try {
    values = variables();
  } catch {
    // If an argument could not be created, its error is reported.
  }
  try {
    values = { ...values, ...Object.fromEntries(job.globals.filter((name) => name in space).map((name) => [name, space[name]])) };
    after = Object.entries(values).map(([name, value]) => `${name} = ${textOf(value)}`).join("; ");
    if (!encoder.cut) one = sharing(values, returned);
  } catch (error) {
    encoder.giveUp(error); // an incomplete text would hide differences
  }
  if (state.reached) [kind, message] = ["reached", state.reached];
  else if (encoder.cut && (kind === "ok" || kind === "raised")) [kind, message] = ["limit", encoder.throws ? UNREADABLE : ""];
  const whole = [kind, error, results.join("\0"), after, state.printed, one].join("\0");
  return {
    kind, error, message, digest: digest(whole), opaque: encoder.opaque, partial: encoder.partial,
    bases: above, results: results.map(bounded), variables: bounded(after), printed: bounded(state.printed), shared: bounded(one),
  };
}

/** The thrown value. Errors are identified by name and code; an `Error` by its message too, if its text is promised. */
function failure(reason, encoder) {
  if (!(reason instanceof Error)) return { kind: "raised", error: "(no Error)", message: bounded(encoder.text(reason)), said: encoder.text(reason) };
  const name = String(reason.name === "Error" ? reason.constructor?.name || "Error" : reason.name), message = String(reason.message).slice(0, 200);
  if (name === "ReferenceError" && PAGE.test(message)) return { kind: "reached", error: name, message: "it needs a browser's page" };
  if (name === "RangeError" && /call stack|Invalid (?:array|string) length|heap/.test(message)) return { kind: "limit", error: name, message };
  const own = name === "Error" && job.says ? `says ${withoutValues(message).toLowerCase().trim()}` : "";
  const code = typeof reason.code === "string" ? ` ${reason.code}` : "";
  return { kind: "raised", error: name + code, message, said: own, bases: bases(reason) };
}

/** The names of the classes above that of an error. */
function bases(error) {
  const names = [];
  let above = Object.getPrototypeOf(Object.getPrototypeOf(error) ?? {});
  for (; above && above !== Object.prototype && names.length < 9; above = Object.getPrototypeOf(above)) names.push(String(above.constructor?.name));
  return names;
}

const isValid = (each) => each.kind === "ok" || (each.kind === "raised" && !["TypeError", "ReferenceError"].includes(each.error));

/** The callables of a text. Throws what the text throws. */
async function loaded(from) {
  await import(pathToFileURL(from).href);
  const space = globalThis.__stet__ ?? {};
  delete globalThis.__stet__;
  const target = job.target.split(".")[0];
  if (target && !(target in space)) throw new ReferenceError(`there is no \`${target}\` in it`);
  return space;
}

/**
 * A function of an input, with the calls that it gets: what callers see of it. Calls of an object's method count always,
 * with all arguments and in the order of all methods. In asynchronous code the result is a promise.
 */
function recorded(own, textOf, space, isMethod) {
  const calls = [], isLate = job.records === "async", most = isMethod ? Infinity : isLate ? 1 : own.length;
  const note = (what) => {
    if (calls.length < RECORDED) calls.push(isMethod ? `${(space.calls += 1)}: ${what}` : what);
  };
  let begun = 0;
  const twin = function (...given) {
    const at = (begun += 1);
    if (job.records || isMethod) note(`(${textOf(given.slice(0, most))})`);
    const value = own.apply(this, given);
    if (!isLate) return value;
    return Promise.resolve(value).then((result) => {
      note(`end of ${at}`);
      return result;
    });
  };
  doubles.set(twin, calls);
  return Object.defineProperties(twin, { name: { value: "" }, length: { value: own.length } });
}

const DRAWN = /^const (\w+) = (\((?:async )?(?:\w+|\([\w, .]*\)) => .*\))$/gm;

/** Where a method begins that was made for an input: one that fails, or gives an object of a certain form. */
const METHOD = /: (?=\((?:async )?(?:\((?:first, )?\.\.\.given\) => \{|\(\) => \())/g;

/** A text in which the methods that were made for an input are recorded. */
function withRecordedMethods(text) {
  let done = "", from = 0;
  for (const found of text.matchAll(METHOD)) {
    const at = found.index + found[0].length, end = closing(text, at);
    if (found.index < from || end < 0) continue;
    done += `${text.slice(from, at)}__double__(${text.slice(at, end)}, true)`;
    from = end;
  }
  return done + text.slice(from);
}

/** The place behind the bracket that closes the one at a place; brackets in texts do not count. */
function closing(text, at) {
  let depth = 0;
  for (const part of text.slice(at).matchAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[()]/g)) {
    depth += { "(": 1, ")": -1 }[part[0]] ?? 0;
    if (depth === 0) return at + part.index + part[0].length;
  }
  return -1;
}

/** A call as a function; undefined if it is not valid JavaScript. */
function made([, setup, body, names]) {
  setup = setup.replace(DRAWN, "const $1 = __double__($2)");
  setup = withRecordedMethods(setup);
  for (const text of job.methods) setup = setup.replaceAll(`: (${text})`, `: __double__((${text}), true)`);
  try {
    return new Function("__space__", "__out__", "__vars__", "__double__", `with (__space__) { ${setup}\n__vars__(() => ({ ${names.join(", ")} }));\n${body}\n}`);
  } catch {
    return undefined;
  }
}

async function main() {
  let space;
  try {
    space = await loaded(file);
  } catch (error) {
    // The code chooses that name, and the reader knows the harness' own reasons by their words.
    const name = /^[\w$]+$/.test(error?.name) ? error.name : "Error";
    return post({ load: `${name}: ${String(error?.message ?? error).slice(0, 300)}` });
  }
  if (state.printed) sideEffect(`it prints ${JSON.stringify(bounded(state.printed))}`);
  post({ load: "" });
  let valid = 0;
  for (const [at, each] of calls.entries()) {
    const call = made(each), [number, , , names] = each;
    if (!call) continue;
    shared[0] = at + 1;
    shared[1] += 1;
    const came = await outcome(space, call, names);
    post({ end: number, outcome: came });
    valid += isValid(came);
    if (came.kind === "late" && (timeLimit.late += 1) === SOME_LATE) timeLimit.seconds /= 3;
    if (valid >= limits.wanted || timeLimit.late >= MOST_LATE) break;
  }
  shared[0] = 0;
}

/** Makes calls in each text with probes until all were reached, or for a while. Outcomes are ignored. */
async function look({ name, sides, seconds }) {
  for (const { file: from, seen, isLoaded } of sides) {
    globalThis[name] = probes(seen);
    const space = await loaded(from);
    isLoaded[0] = 1;
    const end = cpu() + seconds;
    for (const each of calls) {
      if (cpu() > end || !seen.includes(0)) break;
      const call = made(each);
      if (call) await outcome(space, call, each[3]);
    }
  }
}

/** The seconds of each enlarged call with fewer and with more items; with more only if fewer were quick. */
async function grow({ file: from, spent }) {
  const space = await loaded(from);
  for (const [at, [, body, ...setups]] of calls.entries()) {
    for (const [size, setup] of setups.entries()) {
      const times = [0, 1].map(() => timed(space, made([0, setup, body, []])));
      spent[2 * at + size] = Math.min(...times);
      if (!(spent[2 * at + size] > 0 && spent[2 * at + size] < SLOW)) break;
    }
  }
}

/** The processor's seconds for a call's body, which other processes do not lengthen; 0 if it fails, LONGEST if it takes as long. */
function timed(space, call) {
  if (!call) return 0;
  let start = 0, end = 0;
  restart();
  globalThis.__stet__ = () => {
    call(space, (value) => typeof value?.next === "function" && [...value], () => { start = cpu(); }, (own) => own);
    end = cpu();
  };
  try {
    guarded.runInThisContext({ timeout: 1_000 * LONGEST });
  } catch (reason) {
    return reason?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? LONGEST : 0;
  }
  return Math.max(end - start, 1e-6);
}

const cpu = () => {
  const { user, system } = real.used();
  return (user + system) / 1e6;
};

install(job.reads);
note();
process.on("unhandledRejection", () => undefined);
await (probed ? look(probed) : growing ? grow(growing) : main());
changes(sideEffect);
post({ over: listed(state.sideEffects) });
