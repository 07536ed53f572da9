/** The progress of running jobs in their own notifications; other work of the server gets one that can be cancelled. */
import * as vscode from "vscode";
import type {
  LanguageClient,
  ProgressToken,
  WorkDoneProgressBegin,
  WorkDoneProgressEnd,
  WorkDoneProgressReport,
} from "vscode-languageclient/node";
import { protocol } from "./protocol";

type Note = vscode.Progress<{ message?: string; increment?: number }>;
type Report = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

const JOB = /^stet\/[^/]+$/;

/** By the token of a job's progress: the last message and the notification that shows it. Either may come first. */
const said = new Map<ProgressToken, string>();
const notes = new Map<ProgressToken, Note>();
const ends = new Map<ProgressToken, () => void>();
/** What jobs do instead while a question waits for the user. */
let paused = "";

/** Handles a progress report of the server. */
export function hear(client: LanguageClient | undefined, token: ProgressToken, value: Report): void {
  if (value.kind === "begin" && !JOB.test(String(token))) {
    open(client, token, value);
  }
  if (value.kind === "end") {
    said.delete(token);
    ends.get(token)?.();
  } else if (value.message !== undefined) {
    said.set(token, value.message);
    tell(token);
  }
}

/** Shows the progress of a job in a notification. Resolves when `hide` or `close` is called. */
export async function show(job: string, note: Note): Promise<void> {
  const token = `stet/${job}`;
  const closed = until(token, note);
  tell(token);
  await closed;
}

/** Closes the notification of a job that has ended, or that shows its edit. */
export function hide(job: string): void {
  ends.get(`stet/${job}`)?.();
}

/** Ends all notifications: their server is gone. */
export function close(): void {
  ends.forEach((end) => end());
}

/** Shows a text in the notifications of all jobs instead of their progress; "" shows that again. */
export function pause(text: string): void {
  paused = text;
  [...notes.keys()].filter((token) => JOB.test(String(token))).forEach(tell);
}

function tell(token: ProgressToken): void {
  notes.get(token)?.report({ message: (JOB.test(String(token)) && paused) || said.get(token) });
}

function open(client: LanguageClient | undefined, token: ProgressToken, begin: WorkDoneProgressBegin): void {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: begin.title,
    cancellable: begin.cancellable === true,
  };
  void vscode.window.withProgress(options, (note, cancelled) => {
    cancelled.onCancellationRequested(() => void client?.sendNotification(protocol().WorkDoneProgressCancelNotification.type, { token }));
    return until(token, note);
  });
}

function until(token: ProgressToken, note: Note): Promise<void> {
  notes.set(token, note);
  return new Promise<void>((resolve) => {
    ends.set(token, () => {
      ends.delete(token);
      notes.delete(token);
      resolve();
    });
  });
}
