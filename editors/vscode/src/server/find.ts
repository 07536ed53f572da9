/** Finds the server's program: the setting, the active Python, what installed the extension, PATH, a login shell's PATH, the extension's own copy. */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import * as vscode from "vscode";

export interface Found {
  /** What starts the server. */
  readonly command: readonly string[];
  /** The PATH to start it with, if it is not the editor's. */
  readonly path?: string;
  /** Its own words for its version: "stet 0.1.0"; unset if the user named the command, which is not run twice. */
  readonly version?: string;
}

const PROGRAM = process.platform === "win32" ? "stet.exe" : "stet";
const PROBE_MS = 15_000;
const SHELL_MS = 5_000;
/** Marks the line that we asked for: a login shell may print anything else. */
const MARK = "STET_PATH=";

/** The folder of the server that the extension installs. */
export function ownFolder(context: vscode.ExtensionContext): string {
  return join(context.globalStorageUri.fsPath, "server");
}

/** The program in a virtual environment. */
export function programIn(environment: string): string {
  return join(environment, process.platform === "win32" ? "Scripts" : "bin", PROGRAM);
}

/** The first server that answers; undefined if there is none. */
export async function find(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Promise<Found | undefined> {
  const set = vscode.workspace.getConfiguration("stet").get<string[]>("server.command") ?? [];
  if (set.length > 0) {
    return { command: set };
  }
  const beside = await besidePython();
  return (
    (await tried(beside, log)) ??
    (await tried(await installer(context), log)) ??
    (await onPath(process.env["PATH"] ?? "", log)) ??
    (await onPath(await loginPath(), log, true)) ??
    (await tried(programIn(ownFolder(context)), log))
  );
}

async function onPath(path: string, log: vscode.LogOutputChannel, foreign = false): Promise<Found | undefined> {
  for (const folder of new Set(path.split(delimiter).filter((each) => each !== ""))) {
    const found = await tried(join(folder, PROGRAM), log);
    if (found !== undefined) {
      return foreign ? { ...found, path } : found;
    }
  }
  return undefined;
}

/** The program, or a command that starts it, if it exists and says that it is Stet. */
async function tried(named: string | readonly string[] | undefined, log: vscode.LogOutputChannel): Promise<Found | undefined> {
  const [program, ...args] = typeof named === "string" ? [named, "--stdio"] : (named ?? []);
  if (program === undefined || !(await executable(program))) {
    return undefined;
  }
  const said = await output(program, args.map((word) => (word === "--stdio" ? "--version" : word)), PROBE_MS);
  const version = /^stet \d\S*$/m.exec(said)?.[0];
  log.info(`${program}: ${version ?? "not Stet"}`);
  return version === undefined ? undefined : { command: [program, ...args], version };
}

/** The program next to the interpreter of Microsoft's Python extension. A project chooses it, so only with trust. */
async function besidePython(): Promise<string | undefined> {
  const python = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (python === undefined || !vscode.workspace.isTrusted) {
    return undefined;
  }
  const api = await python.activate();
  const interpreter = api.environments?.getActiveEnvironmentPath()?.path;
  return interpreter === undefined || interpreter === "" ? undefined : join(dirname(interpreter), PROGRAM);
}

/** The server that installed this extension: `stet editor vscode --install` leaves its command in the package. */
async function installer(context: vscode.ExtensionContext): Promise<readonly string[] | undefined> {
  const file = context.asAbsolutePath(join("dist", "installed.json"));
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as { readonly command: readonly string[] }).command;
}

interface PythonApi {
  readonly environments?: { getActiveEnvironmentPath(): { readonly path: string } | undefined };
}

/** The PATH of a login shell: an editor that a desktop started has not read the user's profile. */
async function loginPath(): Promise<string> {
  const shell = process.env["SHELL"];
  if (process.platform === "win32" || shell === undefined) {
    return "";
  }
  const said = await output(shell, ["-ilc", `printf '\\n%s%s\\n' ${MARK} "$PATH"`], SHELL_MS);
  return said.split("\n").find((line) => line.startsWith(MARK))?.slice(MARK.length) ?? "";
}

async function executable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(() => true, () => false);
}

/** What a program prints, "" if it fails. */
export function output(program: string, args: readonly string[], timeout: number): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout, killSignal: "SIGKILL" }, (error, stdout) => resolve(error === null ? stdout : ""));
  });
}
