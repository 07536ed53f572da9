/** The progress of running jobs, shown in notifications. */
import type * as vscode from "vscode";
import type { ProgressToken, WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport } from "vscode-languageclient/node";

type Note = vscode.Progress<{ message?: string }>;

/** By the token of a job's progress: the last message and the notification that shows it. Either may come first. */
const said = new Map<ProgressToken, string>();
const notes = new Map<ProgressToken, Note>();

/** Handles a progress report of the server. */
export function hear(token: ProgressToken, value: WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd): void {
  if (value.kind === "end") {
    said.delete(token);
  } else if (value.message !== undefined) {
    said.set(token, value.message);
    notes.get(token)?.report({ message: value.message });
  }
}

/** Shows the progress of a job in a notification, until `done` is called. */
export function show(job: string, note: Note): { done: () => void } {
  const token = `stet/${job}`;
  notes.set(token, note);
  note.report({ message: said.get(token) });
  return { done: () => void notes.delete(token) };
}
