/** The jobs of this window: started, followed to their end, cancelled, run again. */
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { type Action, commandOf, type JobArgument } from "./actions";
import { hide, show } from "./progress";
import { protocol } from "./protocol";

interface Result {
  readonly status: "done" | "refused" | "failed" | "cancelled" | "running";
  readonly headline: string;
  /** A file that the job made, to be saved. */
  readonly opens?: string;
}

export interface Job {
  readonly id: string;
  readonly action: Action;
  readonly argument: JobArgument;
  readonly started: number;
  readonly cancel: () => void;
}

export class Jobs {
  readonly running = new Map<string, Job>();
  /** The last job that was asked for. */
  last: { readonly action: Action; readonly argument: JobArgument } | undefined;
  private interrupted: Job | undefined;
  /** What the status bar says of the last job. */
  private told: vscode.Disposable | undefined;
  private readonly changed = new vscode.EventEmitter<Job | undefined>();
  /** Fired with a job that started, and with undefined when one ended. */
  readonly onDidChange = this.changed.event;

  /** The last job that the end of the server interrupted, once: its connection may close before its process ends. */
  takeLost(): Job | undefined {
    const lost = [...this.running.values()].at(-1) ?? this.interrupted;
    this.interrupted = undefined;
    return lost;
  }

  /** Starts a job and waits for it; cancelling the notification stops it. The server reports refusals and failures. */
  async follow(client: LanguageClient, action: Action, argument: JobArgument): Promise<void> {
    this.last = { action, argument };
    this.told?.dispose();
    const send = (command: string, params: object): Promise<unknown> =>
      client.sendRequest(protocol().ExecuteCommandRequest.type, { command, arguments: [params] });
    const options = { location: vscode.ProgressLocation.Notification, title: `Stet: ${action.title}`, cancellable: true };
    let ended: Promise<void> | undefined;
    await vscode.window.withProgress(options, async (note, token) => {
      const { job: id } = (await send(...commandOf(action, argument))) as { job: string };
      const cancel = (): void => void send("stet.cancel", { job: id }).catch(() => undefined);
      token.onCancellationRequested(cancel);
      const job: Job = { id, action, argument, started: Date.now(), cancel };
      this.add(job);
      const shown = show(id, note);
      ended = this.end(client, job, send("stet.result", { job: id, wait: true }) as Promise<Result>);
      await shown;
    });
    await ended;
  }

  private async end(client: LanguageClient, job: Job, end: Promise<Result>): Promise<void> {
    try {
      const result = await end;
      if (result.status === "done") {
        this.told = vscode.window.setStatusBarMessage(`$(check) ${result.headline}`, 10_000);
      }
      if (result.opens !== undefined) {
        const options = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: false };
        await vscode.window.showTextDocument(vscode.Uri.file(result.opens), options);
      }
    } catch (error) {
      // The end of the server is reported once for all jobs.
      if (client.isRunning() && (error as { code?: number }).code !== protocol().ErrorCodes.PendingResponseRejected) {
        throw error;
      }
      this.interrupted = job;
    } finally {
      hide(job.id);
      this.running.delete(job.id);
      this.changed.fire(undefined);
    }
  }

  private add(job: Job): void {
    this.running.set(job.id, job);
    this.changed.fire(job);
  }
}
