// Where candidates are tried: each slot has a worker, a thread or a process, that lives until it does not end one.

import { spawn } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { StringDecoder } from "node:string_decoder";
import { Worker } from "node:worker_threads";

const WATCH_MS = 10, POLL_MS = 5, MEMORY_MB = 256;

export const now = () => performance.now() / 1000;

/** Tries lists of candidates. `open` starts a worker, which has `load` seconds until it is ready. */
export class Slot {
  constructor(open, load) {
    [this.open, this.load] = [open, load];
    [this.line, this.heard, this.isLoaded, this.names, this.ranEarly] = [null, null, false, null, false];
  }

  /**
   * Tries a list of candidates, each at most for `wall` seconds, and passes each result on. `done` is how many ended; `problem` is why the rest did not:
   * "late", "unfinished" at the time `until`, "died", or a sentence of the worker (`refused`).
   */
  run(list, how, note, until = Infinity) {
    return new Promise((resolve) => {
      let done = 0, since = now();
      const end = async (problem, refused = "") => {
        if (this.heard !== heard) return;
        this.heard = null;
        clearInterval(watch);
        if (problem) await this.close();
        resolve({ done, problem, refused });
      };
      const heard = (message) => {
        since = now();
        if (message.loaded) {
          [this.isLoaded, this.names, this.ranEarly] = [true, message.names, message.ranEarly];
          this.line.send({ list, ...how });
        } else if ("problem" in message) end(message.problem);
        else if ("refused" in message) end("refused", message.refused);
        else {
          done += 1;
          note(message);
          if (done === list.length) end("");
        }
      };
      const watch = setInterval(() => {
        if (now() - since > (this.isLoaded ? how.wall : this.load)) end("late");
        else if (now() > until) end("unfinished");
      }, WATCH_MS);
      this.heard = heard;
      if (this.isLoaded) this.line.send({ list, ...how });
      else this.start();
    });
  }

  start() {
    const line = this.open((message) => {
      if (this.line !== line) return;
      if (this.heard) this.heard(message);
      else if ("problem" in message) this.close(); // it died after its list
    });
    this.line = line;
  }

  /** Ends the worker; the next list gets a new one. */
  async close() {
    const { line } = this;
    [this.line, this.isLoaded] = [null, false];
    await line?.end();
  }
}

/** Starts threads. */
export const threads = (workerData) => (heard) => {
  const worker = new Worker(new URL("worker.mjs", import.meta.url), {
    workerData, stdout: true, stderr: true, env: {}, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, stackSizeMb: 1 },
  });
  worker.on("message", heard);
  for (const event of ["error", "exit"]) worker.on(event, () => heard({ problem: "died" }));
  return { send: (message) => worker.postMessage(message), end: () => worker.terminate() };
};

/** A message; what the project's code writes in its place is none. */
function parsed(line) {
  try {
    return Object(JSON.parse(line));
  } catch {
    return { problem: "died" };
  }
}

/** Starts a test runner, whose test file loads a host. What is sent lies in numbered files in `folder`. */
export const runners = (argv, folder, asked) => (heard) => {
  const place = path.join(folder, `line-${crypto.randomBytes(6).toString("hex")}`);
  const { BOX_REPORT_FD, ...env } = process.env;
  const file = fs.openSync(`${place}.out`, "w+");
  const child = spawn(process.execPath, argv, {
    detached: true, stdio: "ignore", env: { ...env, STET_LINE: place, STET_ASKED: asked },
  });
  const chunk = Buffer.alloc(1 << 16), decoder = new StringDecoder();
  let sent = 0, rest = "";
  const read = () => {
    for (let size; (size = fs.readSync(file, chunk, 0, chunk.length, null)); ) rest += decoder.write(chunk.subarray(0, size));
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const each of lines) heard(parsed(each));
  };
  const poll = setInterval(read, POLL_MS);
  const ended = new Promise((resolve) => { child.on("exit", resolve).on("error", resolve); });
  ended.then(() => heard({ problem: "died" }));
  return {
    send(message) {
      fs.writeFileSync(`${place}.new`, JSON.stringify(message));
      fs.renameSync(`${place}.new`, `${place}.${sent}`);
      sent += 1;
    },
    async end() {
      clearInterval(poll);
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // it has ended
      }
      await ended;
      fs.closeSync(file);
    },
  };
};
