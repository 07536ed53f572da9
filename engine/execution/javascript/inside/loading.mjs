// Makes a text the module that it would be in its project: unchanged, or built.

import { spawnSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const BANNER = "import { createRequire as stetRequire } from 'node:module'; const require = stetRequire(import.meta.url);";
const EMPTY = [".css", ".scss", ".less", ".svg", ".png", ".jpg"].map((each) => `--loader:${each}=empty`);

export const WAYS = {
  node: { fits: (job) => !job.builds, file: (job) => job.path },
  bundle: { fits: (job) => job.esbuild, file: bundled },
  typescript: { fits: (job) => job.typescript, file: transpiled },
  strip: { fits: (job) => job.typescript, file: stripped },
  blanks: { fits: (job) => job.typescript, file: blanked },
};

const made = new Map();

/** The file of a job's text, built in one of these ways. Throws if that is impossible. */
export function built(job, text, way) {
  const known = made.get(way + text);
  if (known) return known;
  fs.mkdirSync(path.dirname(job.path), { recursive: true });
  fs.writeFileSync(job.path, text);
  const file = WAYS[way].file(job);
  if (file !== job.path) made.set(way + text, file);
  return file;
}

/** A second file for a text, in addition to the first. */
export function builtAsSecondFile(job, text, way) {
  if (way !== "node") return built(job, text, way);
  return fresh(job, text, path.extname(job.path));
}

function fresh(job, text, ending = ".mjs") {
  const file = path.join(path.dirname(job.path), `.stet-${crypto.randomBytes(6).toString("hex")}${ending}`);
  if (text !== undefined) fs.writeFileSync(file, text);
  return file;
}

function bundled(job) {
  const out = fresh(job);
  const made = spawnSync(
    job.esbuild,
    [job.path, "--bundle", "--format=esm", "--platform=node", "--packages=external", `--outfile=${out}`,
     "--log-level=error", `--banner:js=${BANNER}`, ...EMPTY],
    { encoding: "utf8", env: { PATH: process.env.PATH } },
  );
  if (made.status !== 0) throw new Error(`esbuild: ${(made.stderr || String(made.error)).trim().split("\n")[0]}`);
  return out;
}

/** Nothing here can load a text: that shows nothing about it. */
export class NoBuilder extends Error {}

function required(job, name) {
  try {
    return createRequire(job.path)(name);
  } catch {
    throw new NoBuilder("its types cannot be stripped: neither esbuild nor typescript is in the project");
  }
}

function transpiled(job) {
  const typescript = required(job, "typescript");
  const options = { target: "ES2022", module: "ESNext", jsx: typescript.JsxEmit?.ReactJSX };
  return fresh(job, typescript.transpileModule(fs.readFileSync(job.path, "utf8"), { compilerOptions: options }).outputText);
}

function stripped(job) {
  const { stripTypeScriptTypes } = createRequire(job.path)("node:module");
  if (!stripTypeScriptTypes) throw new Error("this Node takes no types out of a text");
  return fresh(job, stripTypeScriptTypes(fs.readFileSync(job.path, "utf8"), { mode: "transform" }));
}

/** What `strip_types.py` made of the text, for a project without any builder. */
function blanked(job) {
  const untyped = job.untyped[fs.readFileSync(job.path, "utf8")];
  if (untyped === undefined) throw new Error("its types cannot be left out");
  return fresh(job, untyped);
}
