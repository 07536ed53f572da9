/** The server's process: found or installed, started, started again when it ends by itself. */
import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";
import type { LanguageClient, LanguageClientOptions } from "vscode-languageclient/node";
import { environment } from "../environment";
import { protocol } from "../protocol";
import { find, type Found } from "./find";
import { install } from "./install";

export type State = "starting" | "running" | "missing" | "stopped";

/** Milliseconds within which a second end is not answered by another start: the server would end again. */
const AGAIN_MS = 60_000;

const INSTALL = "Install";
const CHOOSE = "Choose…";
const NOT_NOW = "Not now";
const LOG = "Show Log";
const RESTART = "Restart Server";

/** A language client that writes its errors to the log only: `Server` reports what matters, once. */
function quietClient(start: () => Promise<ChildProcess>, options: LanguageClientOptions): LanguageClient {
  const client = new (protocol().LanguageClient)("stet", "Stet", start, options);
  const error = client.error.bind(client);
  client.error = (message, data) => error(message, data, false);
  return client;
}

export class Server implements vscode.Disposable {
  state: State = "starting";
  /** What starts the server that was found; empty before. */
  command: readonly string[] = [];
  /** The job that the end of the server interrupted, as words and a way to run it again. */
  lost: () => { readonly title: string; readonly again: () => void } | undefined = () => undefined;
  private client: LanguageClient | undefined;
  private starting: Promise<LanguageClient | undefined> | undefined;
  private child: ChildProcess | undefined;
  /** How the last process ended: the last line that it wrote, and its status. */
  private failure = "";
  private endedAt = -AGAIN_MS;
  /** Whether the start that is under way is not wanted any more. */
  private givenUp = false;
  /** What the server was started with, to see whether changed settings matter; unset before the first start. */
  private startedWith: Promise<string> | undefined;
  private readonly warned = new Set<string>();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly log: vscode.LogOutputChannel,
    private readonly options: () => LanguageClientOptions,
    /** Further variables; null removes one that the editor has. */
    private readonly extra: () => Promise<Record<string, string | null>>,
    private readonly connected: (client: LanguageClient) => void,
  ) {}

  /** The running client; undefined if there is none. */
  get running(): LanguageClient | undefined {
    return this.state === "running" ? this.client : undefined;
  }

  /** The client, once it runs. Asks about a server that is not there; undefined if the user wants none now. */
  async ready(): Promise<LanguageClient | undefined> {
    if (this.starting !== undefined) {
      await this.starting;
    }
    if (this.running !== undefined) {
      return this.running;
    }
    return this.state === "missing" ? this.offerInstall() : this.start();
  }

  /** Starts the server, unless it is starting. */
  start(): Promise<LanguageClient | undefined> {
    this.starting ??= this.launch().finally(() => (this.starting = undefined));
    return this.starting;
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.child = undefined; // its end is wanted
    try {
      await client?.stop();
    } catch (error) {
      this.log.info(`the server did not stop by itself: ${String(error)}`);
    }
    this.become("stopped");
  }

  async restart(): Promise<LanguageClient | undefined> {
    if (this.starting !== undefined) {
      this.givenUp = true;
      this.child?.kill(); // it may never answer
      await this.starting;
      this.givenUp = false;
    }
    await this.stop();
    return this.start();
  }

  /** Starts the server again if what it was started with has changed. */
  async configure(): Promise<void> {
    if (this.startedWith !== undefined && (await this.fingerprint()) !== (await this.startedWith)) {
      await this.restart();
    }
  }

  dispose(): void {
    this.changed.dispose();
  }

  /** Installs the server into the extension's own environment and starts it. */
  async install(): Promise<LanguageClient | undefined> {
    return (await install(this.context, this.log)) ? this.restart() : undefined;
  }

  private async launch(): Promise<LanguageClient | undefined> {
    this.become("starting");
    this.failure = "";
    this.startedWith = this.fingerprint();
    await this.startedWith;
    const found = await find(this.context, this.log);
    if (found === undefined) {
      this.become("missing");
      // Not awaited: a command that comes meanwhile asks again, and the editor shows one message instead of two.
      void this.offerInstall();
      return undefined;
    }
    this.command = found.command;
    const started = await this.variables();
    const { CloseAction, ErrorAction } = protocol();
    const client = quietClient(() => this.spawn(found, started), {
      ...this.options(),
      outputChannel: this.log,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
    });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.client = undefined;
      this.become("stopped");
      if (this.givenUp) {
        return undefined;
      }
      const reason = this.failure || (error instanceof Error ? error.message : String(error));
      void this.offer(`Stet: “${found.command.join(" ")}” did not start: ${reason}`, [INSTALL, CHOOSE, LOG]);
      return undefined;
    }
    this.connected(client);
    this.become("running");
    this.compareVersions(client);
    return client;
  }

  /** The variables of the server: the user's settings and their choice of a model. */
  async variables(): Promise<Record<string, string | null>> {
    return { ...environment(this.context), ...(await this.extra()) };
  }

  private async spawn(found: Found, started: Record<string, string | null>): Promise<ChildProcess> {
    const [command, ...args] = found.command as [string, ...string[]];
    const path = found.path === undefined ? {} : { PATH: found.path };
    const env = Object.entries({ ...process.env, ...path, ...started }).filter(([, value]) => value !== null);
    const child = spawn(command, args, { env: Object.fromEntries(env) as NodeJS.ProcessEnv, stdio: "pipe" });
    await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    this.child = child;
    let last = "";
    child.stderr.on("data", (data: Buffer) => (last = data.toString().trim().split("\n").at(-1) ?? last));
    child.once("exit", (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      this.failure = last === "" ? how : `${last} (${how})`;
      this.ended(child, how);
    });
    return child;
  }

  /** Starts again a server that ended by itself, once a minute at most, and offers the interrupted job. */
  private ended(child: ChildProcess, how: string): void {
    if (child !== this.child || this.state !== "running") {
      return;
    }
    this.child = undefined;
    this.log.error(`the server (process ${child.pid}) ended: ${how}`);
    const lost = this.lost();
    this.client = undefined;
    this.become("stopped");
    const text = `Stet: the server ended (${how}); no text was changed.`;
    if (Date.now() - this.endedAt < AGAIN_MS) {
      void this.offer(text, [RESTART, LOG]);
      return;
    }
    this.endedAt = Date.now();
    void this.start();
    const again = lost === undefined ? [] : [`Run ${lost.title} Again`];
    void vscode.window.showWarningMessage(`${text} It was started again.`, ...again, LOG).then((choice) => {
      if (choice === LOG) {
        this.log.show();
      } else if (choice !== undefined) {
        lost?.again();
      }
    });
  }

  private offerInstall(): Promise<LanguageClient | undefined> {
    return this.offer("Stet: the server is not installed.", [INSTALL, CHOOSE, NOT_NOW]);
  }

  private async offer(message: string, choices: string[]): Promise<LanguageClient | undefined> {
    const choice = await vscode.window.showWarningMessage(message, ...choices);
    switch (choice) {
      case INSTALL:
        return this.install();
      case CHOOSE:
        return this.choose();
      case RESTART:
        return this.restart();
      case LOG:
        this.log.show();
    }
    return undefined;
  }

  /** Lets the user pick the program, and keeps that in their settings. */
  private async choose(): Promise<LanguageClient | undefined> {
    const picked = await vscode.window.showOpenDialog({ title: "Stet: the program `stet`", openLabel: "Use" });
    if (picked?.[0] === undefined) {
      return undefined;
    }
    const target = vscode.ConfigurationTarget.Global;
    await vscode.workspace.getConfiguration("stet").update("server.command", [picked[0].fsPath, "--stdio"], target);
    await this.starting; // the changed setting may have started it
    return this.running ?? this.restart();
  }

  /** Warns of a server whose first two numbers differ from the extension's: before 1.0 those change the commands. */
  private compareVersions(client: LanguageClient): void {
    const own = (this.context.extension.packageJSON as { version: string }).version;
    const theirs = client.initializeResult?.serverInfo?.version ?? "unknown";
    const series = (version: string): string => version.split(".").slice(0, 2).join(".");
    if (series(own) !== series(theirs) && !this.warned.has(theirs)) {
      this.warned.add(theirs);
      const text = `Stet: the server has version ${theirs}, this extension ${own}. Some commands may fail until both match.`;
      void this.offer(text, [INSTALL, CHOOSE, NOT_NOW]);
    }
  }

  private async fingerprint(): Promise<string> {
    const command = vscode.workspace.getConfiguration("stet").get("server.command");
    return JSON.stringify([command, environment(this.context), await this.extra()]);
  }

  private become(state: State): void {
    this.state = state;
    this.changed.fire();
  }
}
