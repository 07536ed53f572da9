// Makes runs in a worker repeatable: randomness, clock, timers, output. Access to the outside of the process (files,
// processes, network) is stopped during a call.

import childProcess from "node:child_process";
import crypto from "node:crypto";
import dgram from "node:dgram";
import dns from "node:dns";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import Module, { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import os from "node:os";
import readline from "node:readline";
import tls from "node:tls";
import { format } from "node:util";
import workers from "node:worker_threads";

const PRINTED = 20_000;
const START = 1_700_000_000_000;

export const state = { inside: false, reached: "", clock: START, seed: 0, printed: "", timers: [], ids: 0, loading: 0, sideEffects: {} };

/** Resets the state to that before the first call. */
export function restart() {
  Object.assign(state, { reached: "", clock: START, seed: 1, printed: "", timers: [] });
}

/** Pins everything; `reads` says whether files may be read. */
export function install(reads) {
  pinClock();
  pinTimers();
  pinChance();
  pinOutput();
  pinWorld(reads);
  shut();
}

/** Hides the connection to the main program from the code under test. */
function shut() {
  for (const name of ["parentPort", "workerData"]) pin(workers, name, null);
  syncBuiltinESMExports();
}

/** Notes what a text does while it is loaded, or after a call, which no call would show. */
export function sideEffect(what) {
  state.sideEffects[what] = true;
}

function reach(what) {
  if (!state.inside && !what.startsWith("it reads")) sideEffect(what);
  if (!state.inside || state.loading) return;
  state.reached ||= what;
  throw new Error(what);
}

function random() {
  state.seed = (state.seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state.seed ^ (state.seed >>> 15), 1 | state.seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}

function filled(view) {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Math.floor(random() * 256);
  return view;
}

function uuid() {
  const hex = Buffer.from(filled(new Uint8Array(16))).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

const pin = (owner, name, value) => Object.defineProperty(owner, name, { value, configurable: true, writable: true });

function pinClock() {
  const moment = () => state.clock;
  const Real = Date;
  globalThis.Date = new Proxy(Real, {
    construct: (kind, given, target) => Reflect.construct(kind, given.length ? given : [moment()], target),
    apply: () => new Real(moment()).toString(),
    get: (kind, name, self) => (name === "now" ? moment : Reflect.get(kind, name, self)),
  });
  Real.prototype.constructor = globalThis.Date;
  const since = () => state.clock - START + 1_000;
  pin(performance, "now", since);
  process.hrtime = () => [Math.floor(since() / 1_000), (since() % 1_000) * 1e6];
  process.hrtime.bigint = () => BigInt(Math.round(since() * 1e6));
  process.uptime = () => since() / 1_000;
}

function pinTimers() {
  const later = (repeats) => (work, wait = 0, ...given) => {
    const id = (state.ids += 1), every = Math.max(1, Number(wait) || 1);
    state.timers.push({ id, at: state.clock + every, work: () => work(...given), every: repeats ? every : 0 });
    return Object.assign(Object(id), { ref() { return this; }, unref() { return this; }, hasRef: () => true, [Symbol.toPrimitive]: () => id });
  };
  const drop = (id) => { state.timers = state.timers.filter((each) => each.id !== Number(id)); };
  globalThis.setTimeout = later(false);
  globalThis.setInterval = later(true);
  globalThis.setImmediate = (work, ...given) => globalThis.setTimeout(work, 0, ...given);
  globalThis.clearTimeout = globalThis.clearInterval = globalThis.clearImmediate = drop;
  const wait = (ms, value) => new Promise((done) => globalThis.setTimeout(() => done(value), ms));
  const promised = process.getBuiltinModule?.("node:timers/promises") ?? Module.createRequire(import.meta.url)("node:timers/promises");
  Object.assign(promised, { setTimeout: wait, setImmediate: (value) => wait(0, value) });
  const timers = Module.createRequire(import.meta.url)("node:timers");
  for (const name of ["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"]) {
    timers[name] = globalThis[name];
  }
}

function pinChance() {
  Math.random = random;
  const drawn = {
    randomUUID: uuid,
    randomBytes: (size, done) => {
      const bytes = Buffer.from(filled(new Uint8Array(size)));
      return done ? done(null, bytes) : bytes;
    },
    randomInt: (low, high) => (high === undefined ? Math.floor(random() * low) : low + Math.floor(random() * (high - low))),
    randomFillSync: filled,
  };
  for (const [name, value] of Object.entries(drawn)) pin(crypto, name, value);
  pin(crypto.webcrypto, "randomUUID", uuid);
  pin(crypto.webcrypto, "getRandomValues", filled);
}

function pinOutput() {
  const write = (text) => {
    state.printed = (state.printed + text).slice(0, PRINTED);
    return true;
  };
  const line = (...given) => void write(`${format(...given)}\n`);
  const quiet = () => undefined;
  for (const name of Object.keys(console)) if (typeof console[name] === "function") console[name] = quiet;
  for (const name of ["log", "info", "debug", "warn", "error", "trace", "group"]) console[name] = line;
  console.dir = (value) => line(value);
  console.table = (value) => line(value);
  console.assert = (holds, ...given) => (holds ? undefined : line("Assertion failed", ...given));
  process.stdout.write = process.stderr.write = (text) => write(String(text));
  Error.stackTraceLimit = 0; // line numbers are not behavior
}

function blocked(owner, names, what) {
  for (const name of names) {
    const own = owner[name];
    if (typeof own !== "function") continue;
    const stopped = function (...given) {
      reach(typeof what === "function" ? what(name, given) : what);
      return new.target ? Reflect.construct(own, given, new.target === stopped ? own : new.target) : own.apply(this, given);
    };
    stopped.prototype = own.prototype;
    pin(owner, name, stopped);
  }
}

const READS = /^(?:read|access|stat|lstat|exists|opendir|realpath|createRead|open$|openSync$)/;

/** Why a call of `fs` is refused; reading is allowed if the workspace is available. */
function onDisk(name, given, reads) {
  const writes = !READS.test(name) || (/^open/.test(name) && /[wa+]/.test(String(given[1] ?? "r")));
  return writes ? "it writes files" : reads ? "" : "it reads files";
}

function pinWorld(reads) {
  const only = (owner) => Object.keys(owner).filter((name) => /^[a-z]/.test(name) && !/^(?:close|fsync|fstat|constants|promises)/.test(name));
  const onDiskOnly = (owner) => {
    for (const name of only(owner)) {
      const own = owner[name];
      if (typeof own !== "function") continue;
      owner[name] = Object.assign(function (...given) {
        const what = onDisk(name, given, reads);
        if (what) reach(what);
        return own.apply(this, given);
      }, own);
    }
  };
  onDiskOnly(fs);
  onDiskOnly(fs.promises);
  blocked(childProcess, only(childProcess), "it starts processes");
  blocked(workers, ["Worker"], "it starts threads");
  for (const [owner, names] of [
    [net, ["connect", "createConnection", "createServer"]], [tls, ["connect", "createServer"]], [dgram, ["createSocket"]],
    [http, ["request", "get", "createServer"]], [https, ["request", "get", "createServer"]], [dns, only(dns)],
    [dns.promises, only(dns.promises)], [net.Socket.prototype, ["connect"]], [net.Server.prototype, ["listen"]],
    [globalThis, ["fetch", "WebSocket", "EventSource"]],
  ]) blocked(owner, names, "it talks to the network");
  blocked(readline, ["createInterface"], "it asks at the terminal");
  blocked(process, ["kill", "abort", "chdir", "dlopen"], "it acts on processes");
  blocked(os, ["networkInterfaces", "userInfo", "hostname"], "it asks about this machine");
  process.exit = process.reallyExit = (code) => { throw Object.assign(new Error(String(code ?? 0)), { name: "process.exit" }); };
  const load = Module._load;
  Module._load = function (...given) {
    state.loading += 1;
    try {
      return load.apply(this, given);
    } finally {
      state.loading -= 1;
    }
  };
  syncBuiltinESMExports();
}
