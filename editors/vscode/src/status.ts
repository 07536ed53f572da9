/** The item in the status bar that always tells how Stet is, and its menu. */
import * as vscode from "vscode";
import type { Jobs } from "./jobs";
import type { Offers } from "./offer";
import { protocol } from "./protocol";
import type { Questions } from "./questions";
import type { Server } from "./server/server";

interface Part {
  readonly state: string;
  readonly detail: string;
  readonly todo: string;
}

interface Health {
  readonly status: string;
  readonly model: string;
  readonly last_fault?: string;
  readonly parts: Readonly<Record<string, Part>>;
}

interface Row extends vscode.QuickPickItem {
  readonly run?: () => unknown;
}

/** The states of a model that can serve. */
const GOOD = ["ready", "asleep"];
/** The states of a model that has not answered in time: what was known before still holds. */
const SLOW = ["unknown", "silent"];
/** The states without a model; in any other, there is one that fails. */
const NONE = ["off", "absent"];
/** Milliseconds after which health is asked again while it is not known yet, and while it is bad. */
const SOON_MS = 3_000;
const LATER_MS = 30_000;

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("stet", vscode.StatusBarAlignment.Right, 100);
  private health: Health | undefined;
  private slow = false;
  private again: NodeJS.Timeout | undefined;
  private readonly parts: vscode.Disposable;

  constructor(
    private readonly server: Server,
    private readonly jobs: Jobs,
    private readonly offers: Offers,
    private readonly questions: Questions,
  ) {
    this.item.name = "Stet";
    this.item.command = "stet.ui.menu";
    this.parts = vscode.Disposable.from(
      this.item,
      server.onDidChange(() => void this.look()),
      jobs.onDidChange((job) => (job === undefined ? void this.look() : this.draw())),
      offers.onDidChange(() => this.draw()),
      questions.onDidChange(() => this.draw()),
      vscode.window.onDidChangeWindowState(({ focused }) => focused && void this.look()),
    );
    this.draw();
    this.item.show();
  }

  dispose(): void {
    clearTimeout(this.again);
    this.parts.dispose();
  }

  /** Asks the server for its health, and shows it. */
  async look(): Promise<Health | undefined> {
    this.draw();
    try {
      const params = { command: "stet.health", arguments: [] };
      const found = (await this.server.running?.sendRequest(protocol().ExecuteCommandRequest.type, params)) as Health | undefined;
      this.slow = found !== undefined && SLOW.includes(found.status);
      this.health = this.slow && this.health !== undefined ? this.health : found;
    } catch {
      this.health = undefined; // the server ended, which its state shows
    }
    this.draw();
    clearTimeout(this.again);
    if (this.slow || (this.health !== undefined && !GOOD.includes(this.health.status))) {
      this.again = setTimeout(() => void this.look(), this.slow ? SOON_MS : LATER_MS);
    }
    return this.health;
  }

  /** Opens the menu. */
  async menu(): Promise<void> {
    const command = (name: string) => () => vscode.commands.executeCommand(`stet.ui.${name}`);
    const asking = new Set(this.offers.waiting.map((offer) => offer.job));
    const busy = [...this.jobs.running.values()].filter((job) => !asking.has(job.id));
    const running: Row[] = busy.map((job) => ({
      label: `$(debug-stop) Cancel ${job.action.title}`,
      description: `${(job.argument.uri ?? "").split("/").at(-1)}, ${Math.round((Date.now() - job.started) / 1000)} s`,
      run: job.cancel,
    }));
    const waiting: Row[] = this.offers.waiting.map((offer) => ({
      label: `$(diff) Show ${offer.title}`,
      description: "waits for your answer",
      run: () => this.offers.show(offer.job),
    }));
    const { last } = this.jobs;
    const asked = this.questions.waiting > 0;
    const rows: Row[] = [
      ...(asked ? [{ label: "$(question) Answer Stet's Question", run: () => this.questions.show() }] : []),
      ...running,
      ...waiting,
      ...(last === undefined ? [] : [{ label: `$(refresh) Run ${last.action.title} Again`, run: command("rerun") }]),
      { label: "$(beaker) Show Evidence", run: command("evidence") },
      { label: "$(server) Choose Model…", description: this.health?.model, run: command("model") },
      { label: "$(history) Memory", run: () => vscode.commands.executeCommand("stet.memory.focus") },
      { label: "$(pulse) Health", run: command("health") },
      { label: "$(output) Show Log", run: command("log") },
      this.server.state === "missing"
        ? { label: "$(cloud-download) Install Server…", run: command("install") }
        : { label: "$(debug-restart) Restart Server", run: command("restart") },
    ];
    const chosen = await vscode.window.showQuickPick(rows, { title: this.item.tooltip as string });
    await chosen?.run?.();
  }

  /** Shows the state of each part as a list. */
  async report(): Promise<void> {
    const health = await this.look();
    if (health === undefined) {
      await this.server.ready();
      return;
    }
    const rows = Object.entries(health.parts).map(([name, part]) => ({
      label: `${part.state === "ok" ? "$(pass)" : part.state === "off" ? "$(circle-slash)" : "$(warning)"} ${name}`,
      description: part.state === "ok" ? "" : part.state,
      detail: [part.detail, part.todo].filter((each) => each !== "").join(" → "),
    }));
    await vscode.window.showQuickPick(rows, { title: "Stet: Health", matchOnDetail: true });
  }

  private draw(): void {
    const [text, tooltip, bad] = this.words();
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.backgroundColor = bad ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  }

  private words(): [text: string, tooltip: string, bad: boolean] {
    switch (this.server.state) {
      case "starting":
        return ["$(loading~spin) Stet", "Stet: the server is starting", false];
      case "missing":
        return ["Stet ✗ not installed", "Stet: the server is not installed", true];
      case "stopped":
        return ["Stet ✗ down", "Stet: the server is not running", true];
    }
    if (this.questions.waiting > 0) {
      return ["$(question) Stet asks", "Stet: a question waits for your answer", true];
    }
    const waiting = this.offers.waiting.length;
    const running = this.jobs.running.size - waiting;
    if (waiting > 0 && running <= 0) {
      const edits = waiting === 1 ? "1 edit" : `${waiting} edits`;
      return [`$(diff) Stet ${edits} to review`, `Stet: ${edits} to review`, false];
    }
    if (running > 0) {
      return [`$(loading~spin) Stet ${running} running`, `Stet: ${running} running`, false];
    }
    if (this.health === undefined || SLOW.includes(this.health.status)) {
      return ["Stet ✓", "Stet: the server is running", false];
    }
    const { status, model, last_fault: fault } = this.health;
    if (GOOD.includes(status)) {
      return [`Stet ✓ ${model}`, `Stet: ${model} is ${status}`, false];
    }
    const what = NONE.includes(status) ? "no model" : "model down";
    return [`Stet ✗ ${what}`, `Stet: ${what}: ${fault ?? status}`, true];
  }
}
