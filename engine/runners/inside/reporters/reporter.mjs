// Reports the results of Node's test runner line by line. It runs in the parent of the test files: their output or end
// cannot withdraw anything. A file that calls process.exit did not finish; `returned.mjs` reports the files that did.
import { createHash } from "node:crypto";
import { readFileSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const token = "STET_TOKEN";
const marker = "STET_MARKER";
const sources = Object.fromEntries(Object.entries(STET_SOURCES).map(([path, test]) => [resolve(path), test]));
const side = Number(process.env.BOX_SIDE_FD);
delete process.env.BOX_SIDE_FD;
unlinkSync(fileURLToPath(import.meta.url));

const say = (event, fields) => {
  let rest = Buffer.from(`${token} ${JSON.stringify({ event, ...fields })}\n`);
  while (rest.length) rest = rest.subarray(writeSync(side, rest));
};
const source = (file) => sources[file] ?? file;
const stacks = { "test:dequeue": new Map(), "test:start": new Map() };
const printed = new Map();
const seen = new Set();

function identify(type, { file, nesting, name }) {
  const stack = stacks[type].get(file) ?? [];
  stacks[type].set(file, stack);
  stack.length = nesting;
  stack.push(name);
  return [source(file), ...stack].join("::");
}

function shown(value) {
  if (value instanceof Error) return String(value);
  try {
    return typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  } catch {
    return String(value);
  }
}

function failure(error) {
  const cause = error?.cause ?? error;
  if (!(cause instanceof Error)) return { type: typeof cause, message: shown(cause) };
  const fault = { type: cause.name ?? "Error", message: cause.message, module: "" };
  fault.mro = cause.constructor?.name === fault.type ? ["Error"] : [cause.constructor?.name ?? "Error"];
  fault.frames = [...String(cause.stack).matchAll(/^\s+at (?:(.*?) \()?(?:file:\/\/)?(\/[^\n:)]+|node:[^\n:)]+):(\d+):\d+\)?$/gm)]
    .map(([, name, path, line]) => ({ path, line: Number(line), function: name ?? "" }))
    .reverse();
  if (cause.code === "ERR_ASSERTION" && cause.operator && cause.operator !== "fail") {
    const [left, right] = [cause.actual, cause.expected];
    fault.comparison = {
      operator: cause.operator,
      left: shown(left).slice(0, 500),
      right: shown(right).slice(0, 500),
    };
  }
  return fault;
}

// A file's own event comes last, or alone if the file holds no test.
function file({ file: path, details }) {
  let returned = false;
  try {
    const left = readFileSync(join(tmpdir(), `.stet-${createHash("sha256").update(path).digest("hex")}`), "utf8");
    returned = left.startsWith(marker);
    if (returned && left !== marker) say("reached", { what: left.slice(marker.length) });
  } catch {}
  const id = source(path);
  if (details.error && details.error.failureType !== "subtestsFailed") {
    const text = printed.get(id) ?? "";
    say("uncollected", { path: id, failure: { type: "", message: text.slice(-3000) } });
  } else if (!returned) {
    say("start", { id });
  } else if (!seen.has(id)) {
    say("start", { id });
    say("phase", { id, phase: "call", outcome: "passed" });
    say("end", { id, seconds: details.duration_ms / 1000 });
  }
}

const isFile = ({ nesting, name, file: path }) => nesting === 0 && (name === path || path?.endsWith(`/${name}`));

export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type === "test:stderr" || type === "test:stdout") {
      printed.set(source(data.file), ((printed.get(source(data.file)) ?? "") + data.message).slice(-20000));
    } else if (type === "test:complete" && isFile(data)) {
      file(data);
    } else if (type === "test:dequeue" && !isFile(data)) {
      seen.add(source(data.file));
      say("start", { id: identify(type, data) });
    } else if (type === "test:start" && !isFile(data)) {
      seen.add(source(data.file));
      identify(type, data);
    } else if ((type === "test:pass" || type === "test:fail") && !isFile(data)) {
      ended(type, data);
    } else if (type === "test:coverage") {
      covered(data.summary);
    }
  }
  say("done", { exit: 0 });
  yield "";
}

function ended(type, data) {
  const stack = (stacks["test:start"].get(data.file) ?? []).slice(0, data.nesting);
  const id = [source(data.file), ...stack, data.name].join("::");
  if (data.details.type === "suite") return say("forget", { id });
  const soft = data.skip !== undefined || data.todo !== undefined;
  const failed = type === "test:fail";
  say("start", { id });
  if (failed && !soft) say("raised", { id, phase: "call", failure: failure(data.details.error) });
  const outcome = soft ? "skipped" : failed ? "failed" : "passed";
  const reason = typeof data.skip === "string" ? data.skip : data.todo ? "todo" : "";
  say("phase", { id, phase: "call", outcome, reason, stdout: (printed.get(source(data.file)) ?? "").slice(-2000) });
  say("end", { id, seconds: data.details.duration_ms / 1000 });
}

function covered(summary) {
  const [lines, missing, taken, untaken] = [{}, {}, {}, {}];
  for (const { path, lines: counted, branches = [] } of summary.files) {
    if (!Array.isArray(counted)) return say("coverage", { why_not: "this Node counts no lines" });
    const name = relative(process.cwd(), path);
    lines[name] = counted.filter(({ count }) => count > 0).map(({ line }) => line);
    missing[name] = counted.filter(({ count }) => count === 0).map(({ line }) => line);
    taken[name] = branches.filter(({ count }) => count > 0).map(({ line }) => [line, 0]);
    untaken[name] = branches.filter(({ count }) => count === 0).map(({ line }) => [line, 0]);
  }
  say("coverage", { lines, missing, taken, untaken });
}
