/** Installs the server into an environment of the extension's own: with uv, with Python's venv and pip, or with pipx. */
import { spawn } from "node:child_process";
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import * as vscode from "vscode";
import { output, ownFolder, programIn } from "./find";

const PROBE_MS = 10_000;

interface Step {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Installs the server, with progress that can be cancelled. True if it is there afterwards; reports why not. */
export async function install(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Promise<boolean> {
  const source = await chooseSource();
  if (source === undefined) {
    return false;
  }
  const folder = ownFolder(context);
  const steps = await stepsFor(folder, await requirement(source));
  if (steps === undefined) {
    void vscode.window.showErrorMessage(
      "Stet: install uv, pipx, or Python 3.11 or later with venv, then run “Stet: Install Server”.",
    );
    return false;
  }
  const options = { location: vscode.ProgressLocation.Notification, title: "Stet: Install Server", cancellable: true };
  const problem = await vscode.window.withProgress(options, async (note, token) => {
    await rm(folder, { recursive: true, force: true });
    await mkdir(dirname(folder), { recursive: true });
    for (const step of steps) {
      const failed = await run(step, log, note, token);
      if (failed !== undefined) {
        await rm(folder, { recursive: true, force: true });
        return token.isCancellationRequested ? "" : failed;
      }
    }
    return undefined;
  });
  if (problem) {
    const choice = await vscode.window.showErrorMessage(`Stet: server not installed: ${problem}`, "Show Log");
    if (choice !== undefined) {
      log.show();
    }
  }
  return problem === undefined;
}

/** The setting, else the wheel or the clone that the user picks. */
async function chooseSource(): Promise<string | undefined> {
  const set = vscode.workspace.getConfiguration("stet").inspect<string>("server.package")?.globalValue ?? "";
  if (set !== "") {
    return set;
  }
  const picked = await vscode.window.showOpenDialog({
    title: "Stet: the wheel, or the folder of a clone, to install the server from",
    openLabel: "Install",
    canSelectFiles: true,
    canSelectFolders: true,
    filters: { Wheel: ["whl"] },
  });
  return picked?.[0]?.fsPath;
}

/** A file or folder with all extras; any other requirement as it stands. */
async function requirement(source: string): Promise<string> {
  const local = await stat(source).then(() => true, () => false);
  return local ? `stet-ls[full] @ ${pathToFileURL(source).href}` : source;
}

/** The commands that install a requirement with the first tool that is here. */
async function stepsFor(folder: string, wanted: string): Promise<readonly Step[] | undefined> {
  const python = await usablePython();
  if (await answers("uv")) {
    const version = python === undefined ? ["--python", ">=3.11"] : ["--python", python];
    const target = join(dirname(programIn(folder)), process.platform === "win32" ? "python.exe" : "python");
    return [
      { argv: ["uv", "venv", "--quiet", ...version, folder] },
      { argv: ["uv", "pip", "install", "--no-progress", "--python", target, wanted] },
    ];
  }
  if (python !== undefined && (await output(python, ["-c", "import ensurepip, venv; print('yes')"], PROBE_MS)) !== "") {
    const pip = join(dirname(programIn(folder)), "pip");
    return [{ argv: [python, "-m", "venv", folder] }, { argv: [pip, "install", "--progress-bar=off", wanted] }];
  }
  if (await answers("pipx")) {
    const env = { PIPX_HOME: join(folder, "pipx"), PIPX_BIN_DIR: dirname(programIn(folder)) };
    return [{ argv: ["pipx", "install", wanted], env }];
  }
  return undefined;
}

async function answers(tool: string): Promise<boolean> {
  return (await output(tool, ["--version"], PROBE_MS)) !== "";
}

async function usablePython(): Promise<string | undefined> {
  // The file itself, not a link to it or an environment of it: the sandbox shows only the folders of an installation.
  const real = "os.path.realpath(getattr(sys, '_base_executable', '') or sys.executable)";
  const check = `import os, sys; print(${real} if sys.version_info >= (3, 11) else '')`;
  for (const name of ["python3", "python"]) {
    const found = (await output(name, ["-c", check], PROBE_MS)).trim();
    if (found !== "") {
      return found;
    }
  }
  return undefined;
}

/** Runs a step; what went wrong, undefined if nothing. Its last line is the progress. */
function run(
  step: Step,
  log: vscode.LogOutputChannel,
  note: vscode.Progress<{ message?: string }>,
  token: vscode.CancellationToken,
): Promise<string | undefined> {
  const [program, ...args] = step.argv as [string, ...string[]];
  log.info(`running ${step.argv.join(" ")}`);
  return new Promise((resolve) => {
    let last = "";
    const child = spawn(program, args, { env: { ...process.env, ...step.env }, stdio: ["ignore", "pipe", "pipe"] });
    const stop = token.onCancellationRequested(() => child.kill());
    const hear = (data: Buffer): void => {
      const lines = data.toString().split(/[\r\n]+/).map((line) => line.trim()).filter((line) => line !== "");
      lines.forEach((line) => log.info(line));
      last = lines.at(-1) ?? last;
      note.report({ message: last.slice(0, 80) });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code) => {
      stop.dispose();
      resolve(code === 0 && !token.isCancellationRequested ? undefined : last || `${program} ended with ${code}`);
    });
  });
}
