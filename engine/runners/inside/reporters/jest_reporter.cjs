// Reports Jest's results line by line, from the process that coordinates those of the tests.
const { unlinkSync, writeSync } = require("node:fs");

const token = "STET_TOKEN";
const side = Number(process.env.BOX_SIDE_FD);
delete process.env.BOX_SIDE_FD;
unlinkSync(__filename);

const say = (event, fields) => {
  let rest = Buffer.from(`${token} ${JSON.stringify({ event, ...fields })}\n`);
  while (rest.length) rest = rest.subarray(writeSync(side, rest));
};
const plain = (text) => String(text ?? "").replace(/\u001b\[[0-9;]*m/g, "");

function failure(text) {
  const said = plain(text), type = /^(\w*(?:Error|Exception))(?::|$)/m.exec(said)?.[1] ?? "Error";
  const frames = [...said.matchAll(/^\s+at (?:(.*?) \()?(\/?[^\n:()]+):(\d+):\d+\)?$/gm)];
  const fault = {
    type,
    message: said.split(/\n\s+at /)[0].replace(`${type}: `, "").slice(0, 3000),
    frames: frames.map(([, name, path, line]) => ({ path, line: Number(line), function: name ?? "" })).reverse(),
  };
  const [, left] = /Received:\s*(.*)/.exec(said) ?? [], [, right] = /Expected:\s*(.*)/.exec(said) ?? [];
  if (left && right) fault.comparison = { operator: /\.(to\w+)\(/.exec(said)?.[1] ?? "==", left, right };
  return fault;
}

module.exports = class {
  onTestResult({ path }, { testResults, testExecError, failureMessage }) {
    if (testExecError || (!testResults.length && failureMessage)) {
      say("uncollected", { path, failure: failure(testExecError?.stack ?? testExecError?.message ?? failureMessage) });
    }
    const file = path.startsWith(`${process.cwd()}/`) ? path.slice(process.cwd().length + 1) : path;
    for (const { ancestorTitles, title, status, failureMessages, duration } of testResults) {
      const id = [file, ...ancestorTitles, title].join("::");
      say("start", { id });
      if (status === "failed") say("raised", { id, phase: "call", failure: failure(failureMessages[0]) });
      say("phase", { id, phase: "call", outcome: status === "passed" || status === "failed" ? status : "skipped" });
      say("end", { id, seconds: (duration ?? 0) / 1000 });
    }
  }

  onRunComplete() {
    say("done", { exit: 0 });
  }
};
