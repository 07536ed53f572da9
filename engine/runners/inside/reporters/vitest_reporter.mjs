// Reports Vitest's results line by line, from the process that coordinates those of the tests.
import { unlinkSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";

const token = "STET_TOKEN";
const side = Number(process.env.BOX_SIDE_FD);
delete process.env.BOX_SIDE_FD;
unlinkSync(fileURLToPath(import.meta.url));

const say = (event, fields) => {
  let rest = Buffer.from(`${token} ${JSON.stringify({ event, ...fields })}\n`);
  while (rest.length) rest = rest.subarray(writeSync(side, rest));
};
const plain = (text) => String(text ?? "").replace(/\u001b\[[0-9;]*m/g, "");
const inside = (path) => (path.startsWith(`${process.cwd()}/`) ? path.slice(process.cwd().length + 1) : path);

function failure(error) {
  const frames = [...(error?.stacks ?? error?.parsedStack ?? [])];
  const fault = {
    type: error?.name ?? "Error",
    message: plain(error?.message).slice(0, 3000),
    frames: frames.map(({ file, line, method }) => ({ path: file, line, function: method ?? "" })).reverse(),
  };
  if (error?.actual !== undefined && error?.expected !== undefined) {
    const [left, right] = [error.actual, error.expected].map((each) => plain(each).slice(0, 500));
    fault.comparison = { operator: error.operator ?? "==", left, right };
  }
  return fault;
}

function each(task, names) {
  const id = [...names, task.name].join("::"), result = task.result ?? {};
  if (task.tasks) return task.tasks.forEach((inner) => each(inner, [...names, task.name]));
  const outcome = { pass: "passed", fail: "failed" }[result.state] ?? "skipped";
  say("start", { id });
  if (outcome === "failed") say("raised", { id, phase: "call", failure: failure(result.errors?.[0]) });
  say("phase", { id, phase: "call", outcome });
  say("end", { id, seconds: (result.duration ?? 0) / 1000 });
}

function finished(files, errors) {
  for (const file of files) {
    const path = inside(file.filepath);
    if (file.result?.errors?.length) say("uncollected", { path, failure: failure(file.result.errors[0]) });
    for (const task of file.tasks) each(task, [path]);
  }
  for (const error of errors) say("broken", { failure: failure(error) });
  say("done", { exit: 0 });
}

export default class {
  // Name of the hook in Vitest 3 and later; earlier versions use `onFinished`.
  onTestRunEnd(modules, errors) {
    finished(modules.map((each) => each.task), errors);
    this.over = true;
  }

  onFinished(files = [], errors = []) {
    if (!this.over) finished(files, errors);
  }
}
