// The files of a run: the module with its switches, and tests as workers load them.

import { spawnSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const IS_MODULE = /^\s*(?:import\b(?!\s*\()|export\b)/m;
const HOSTS = {
  vitest: (place) =>
    `;import * as __stet_vitest__ from "vitest"; import { host as __stet_host__ } from ${place("vitest_host.mjs")};` +
    ` await __stet_host__(__stet_vitest__, () => import("vitest/suite"));`,
  jest: (place, text) => (IS_MODULE.test(text) ? `;import ${place("jest_host.cjs")};` : `;require(${place("jest_host.cjs")});`),
};

function placed(job) {
  const target = path.resolve(job.path);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, job.text);
  return target;
}

/** The files that threads load: test files whose `node:test` is ours, or the module itself. */
export function prepared(job, folder) {
  const target = placed(job);
  if (!job.tests.length) return [job.typescript && job.esbuild ? bundled(job, target) : target];
  return job.tests.map((test) => {
    const file = path.resolve(test), built = job.typescript ? bundled(job, file) : siblingPath(file, path.extname(file));
    const text = fs.readFileSync(job.typescript ? built : file, "utf8");
    const shim = path.join(folder, "node_test.cjs");
    const address = /\.c?js$/.test(built) ? shim : pathToFileURL(shim).href;
    fs.writeFileSync(built, text.replace(/(["'])node:test\1/g, JSON.stringify(address)));
    return built;
  });
}

/** The file that says what is asked of the tests of a runner; its test file gets a last line that loads our host. */
export function hosted(job, folder) {
  placed(job);
  const file = path.resolve(job.runner.file), text = fs.readFileSync(file, "utf8");
  const place = (name) => {
    const to = path.relative(path.dirname(file), path.join(folder, name));
    return JSON.stringify(to.startsWith("../") ? to : `./${to}`);
  };
  // Types are not what is tested; a block of comments at the top may configure Jest, and has to stay there.
  const head = /\.[cm]?tsx?$/.test(file) && !/^\s*\/\*/.test(text) ? "// @ts-nocheck\n" : "";
  fs.writeFileSync(file, `${head}${text}\n${HOSTS[job.runner.name](place, text)}\n`);
  const asked = path.join(folder, "asked.json");
  fs.writeFileSync(asked, JSON.stringify({ wanted: [...job.failing, ...job.passing], examples: job.examples }));
  return asked;
}

const siblingPath = (file, ending) => path.join(path.dirname(file), `.stet-${crypto.randomBytes(6).toString("hex")}${ending}`);

function bundled(job, file) {
  const out = siblingPath(file, ".mjs");
  const made = spawnSync(job.esbuild, [file, "--bundle", "--format=esm", "--platform=node", "--packages=external",
    `--outfile=${out}`, "--log-level=error"], { encoding: "utf8", env: { PATH: process.env.PATH } });
  if (made.status !== 0) throw new Error("the code could not be built");
  return out;
}
