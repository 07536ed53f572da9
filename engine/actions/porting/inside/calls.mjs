// Calls the functions of a module on inputs that its tests show, and on variants of them; reports what each returned.
// argv: the file with {modules, calls: [[function, arguments as source text]], typed: {function: [kind]}, most}.

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const report = Number(process.env.BOX_REPORT_FD);
delete process.env.BOX_REPORT_FD;
const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const SAMPLES = {
  number: [0, 1, -1, 2, 7, 10, 100, 0.5, 2.25],
  integer: [0, 1, -1, 2, 7, 10, 100],
  string: ["", "a", "Ab c", "hello world", "2024-01-31", "x,y", "é"],
  boolean: [true, false],
};

async function load() {
  let problem;
  for (const name of job.modules) {
    try {
      return await import(pathToFileURL(path.resolve(name)));
    } catch (error) {
      problem ??= error;
    }
  }
  throw problem;
}

function functionsOf(module) {
  const found = {};
  const both = { ...(typeof module.default === "object" ? module.default : {}), ...module };
  if (typeof module.default === "function" && module.default.name) both[module.default.name] = module.default;
  for (const [name, value] of Object.entries(both)) {
    if (typeof value === "function" && name !== "default" && name !== "module.exports") found[name] = value;
  }
  return found;
}

const isClass = (value) => /^class\b/.test(Function.prototype.toString.call(value));

// An object of `{…}`, also one of another context, which has a prototype of its own.
function isPlain(value) {
  const prototype = typeof value === "object" ? Object.getPrototypeOf(value) : value;
  return prototype === null || (typeof value === "object" && Object.getPrototypeOf(prototype) === null);
}

// A value as JSON keeps it; undefined for what it does not, such as NaN, a function, or a text that a coercion left.
function plain(value) {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value === "string") return /undefined|NaN|\[object |Infinity/.test(value) ? undefined : value;
  if (typeof value === "boolean") return value;
  if (Array.isArray(value)) {
    const items = Array.from(value, (item) => (item === undefined ? undefined : plain(item)));
    return items.includes(undefined) ? undefined : items;
  }
  if (value instanceof Set) return plain([...value]);
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (isPlain(value)) {
    const entries = Object.entries(value).map(([key, item]) => [key, plain(item)]);
    return entries.some(([, item]) => item === undefined) ? undefined : Object.fromEntries(entries);
  }
  return undefined;
}

const copy = (value) => JSON.parse(JSON.stringify(value));

// Values of the same kind, so that no call is one that the function is not meant for.
function variants(value) {
  if (typeof value === "number") {
    const whole = [0, 1, value + 1, value - 1, value * 2, value * 10];
    return Number.isInteger(value) ? whole : [...whole, value / 2, Math.trunc(value)];
  }
  if (typeof value === "string") return ["", value + value, value.toUpperCase(), value.slice(1), ` ${value} `];
  if (typeof value === "boolean") return [!value];
  if (Array.isArray(value)) {
    const inner = value.flatMap((item, at) => variants(item).slice(0, 4).map((other) => value.with(at, other)));
    return [[], [...value].reverse(), [...value, ...value], value.slice(0, 1), ...inner];
  }
  if (value && typeof value === "object") {
    return Object.entries(value).flatMap(([key, item]) =>
      variants(item).slice(0, 5).map((other) => ({ ...value, [key]: other })));
  }
  return [];
}

function product(lists) {
  return lists.reduce((rows, list) => rows.flatMap((row) => list.map((item) => [...row, item])), [[]]);
}

function inputs(name) {
  const shown = [];
  for (const [, source] of job.calls.filter(([called]) => called === name)) {
    try {
      const values = plain(vm.runInNewContext(`[${source}]`, {}, { timeout: 200 }));
      if (values) shown.push(copy(values));
    } catch {
      // Names of the test that called it: such a call says nothing here.
    }
  }
  const kinds = job.typed[name];
  const typed = kinds && kinds.every((kind) => SAMPLES[kind]) ? product(kinds.map((kind) => SAMPLES[kind])) : [];
  const more = shown.flatMap((values) =>
    values.flatMap((value, at) => variants(value).map((other) => values.with(at, other))));
  const known = new Map();
  for (const values of [...shown, ...more, ...typed]) known.set(JSON.stringify(values), values);
  return [...known.values()].slice(0, job.most);
}

async function outcome(called, values) {
  let result;
  try {
    result = await called(...copy(values));
  } catch (error) {
    return { error: String(error?.name ?? "Error") };
  }
  const value = plain(result);
  return value === undefined ? null : { value };
}

const functions = functionsOf(await load());
const found = { functions: [], skipped: [], calls: [] };
for (const [name, called] of Object.entries(functions)) {
  if (isClass(called)) {
    found.skipped.push(name);
    continue;
  }
  found.functions.push(name);
  for (const values of inputs(name)) {
    const [first, again] = [await outcome(called, values), await outcome(called, values)];
    if (first && JSON.stringify(first) === JSON.stringify(again)) found.calls.push({ name, values, ...first });
  }
}
fs.writeSync(report, JSON.stringify(found));
process.exit(0);
