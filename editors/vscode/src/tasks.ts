/** Tasks: a plan as a document to edit and run, and the earlier tasks. */
import * as vscode from "vscode";
import { type Action, type JobArgument, TASK } from "./actions";
import type { Jobs } from "./jobs";
import { protocol } from "./protocol";
import { beside } from "./reports";
import type { Server } from "./server/server";

/** Its report is the plan of a task. */
export const PLAN: Action = { name: "plan", title: "Plan a Task", prompt: "What should be done?", needs: true };

/** Continues an earlier task, by its id. */
const RESUME: Action = { name: "tasks.resume", title: "Resume a Task" };

interface Row {
  readonly id: string;
  readonly state: string;
  readonly instruction: string;
  readonly unfinished: readonly number[];
}

type Verb = "Show" | "Resume" | "Export";

export class Tasks {
  /** The documents of the plans that are edited, with those that they were made for. */
  private readonly plans = new Map<string, string>();

  constructor(
    private readonly server: Server,
    private readonly jobs: Jobs,
    private readonly run: (action: Action, argument: JobArgument) => Promise<void>,
  ) {}

  /** Opens a report of the server: a plan to be edited, any other as a preview. */
  async open(uri: vscode.Uri): Promise<void> {
    const content = (await vscode.workspace.openTextDocument(uri)).getText();
    const target = this.jobs.last?.argument.uri;
    if (target === undefined || !content.startsWith("# Plan: ")) {
      return beside(uri);
    }
    const plan = await vscode.workspace.openTextDocument({ language: "markdown", content });
    this.plans.set(plan.uri.toString(), target);
    await vscode.commands.executeCommand("setContext", "stet.plans", [...this.plans.keys()]);
    await vscode.window.showTextDocument(plan, { viewColumn: vscode.ViewColumn.Beside, preview: false });
  }

  /** Does the plan in the active editor as it is now. */
  async runPlan(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    const uri = document && this.plans.get(document.uri.toString());
    if (uri === undefined) {
      void vscode.window.showWarningMessage("Stet: open a plan first, with “Stet: Plan a Task…”.");
      return;
    }
    await this.run(TASK, { uri, plan: document?.getText() });
  }

  /** Lists the earlier tasks, to show, resume or export one. */
  async list(): Promise<void> {
    const found = (await this.send("stet.tasks.list")) as { tasks: Row[] } | undefined;
    const items = (found?.tasks ?? []).map((row) => ({ label: row.instruction || row.id, description: `${row.state} · ${row.id}`, row }));
    const row = (await vscode.window.showQuickPick(items, { title: "Stet: Tasks", placeHolder: items.length > 0 ? "" : "No tasks yet" }))?.row;
    if (row === undefined) {
      return;
    }
    const verbs: Verb[] = ["Show", ...(row.unfinished.length > 0 && row.state !== "running" ? ["Resume" as const] : []), "Export"];
    const verb = await vscode.window.showQuickPick(verbs, { title: `Stet: ${row.instruction}` });
    if (verb === "Resume") {
      await this.run(RESUME, { id: row.id });
    } else if (verb !== undefined) {
      const { markdown, ...record } = (await this.send("stet.tasks.show", { id: row.id })) as { markdown: string };
      const [language, content] = verb === "Show" ? ["markdown", markdown] : ["json", JSON.stringify(record, null, 2)];
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language, content }));
    }
  }

  private async send(command: string, ...given: object[]): Promise<unknown> {
    return (await this.server.ready())?.sendRequest(protocol().ExecuteCommandRequest.type, { command, arguments: given });
  }
}
