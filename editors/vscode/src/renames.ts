/** Offers a job again whose file was renamed: for the server that is another document, so it ends the job. */
import * as vscode from "vscode";
import type { Job, Jobs } from "./jobs";

/** Watches renames of files and folders. The old document is closed before VS Code reports the rename as done. */
export function watchRenames(jobs: Jobs, again: (asked: Job) => void): vscode.Disposable {
  const running = new Map<string, readonly Job[]>();
  return vscode.Disposable.from(
    vscode.workspace.onWillRenameFiles(({ files }) => {
      for (const { oldUri } of files) {
        running.set(oldUri.toString(), [...jobs.running.values()].filter((job) => moved(job, oldUri, oldUri) !== undefined));
      }
    }),
    vscode.workspace.onDidRenameFiles(({ files }) => {
      for (const { oldUri, newUri } of files) {
        const stopped = running.get(oldUri.toString()) ?? [];
        running.delete(oldUri.toString());
        stopped.forEach((job) => void offer(job, moved(job, oldUri, newUri)!, again));
      }
    }),
  );
}

/** Where the file of a job is after a rename of it or of its folder; undefined if the rename is about another file. */
function moved(job: Job, from: vscode.Uri, to: vscode.Uri): vscode.Uri | undefined {
  const file = vscode.Uri.parse(job.argument.uri ?? "");
  if (file.scheme !== from.scheme || file.authority !== from.authority) {
    return undefined;
  }
  const inside = file.path === from.path || file.path.startsWith(`${from.path}/`);
  return inside ? to.with({ path: to.path + file.path.slice(from.path.length) }) : undefined;
}

async function offer(job: Job, uri: vscode.Uri, again: (asked: Job) => void): Promise<void> {
  const name = vscode.workspace.asRelativePath(uri);
  const button = `Run ${job.action.title} Again`;
  const text = `Stet: ${job.action.title} was stopped: its file is ${name} now. No text was changed.`;
  if ((await vscode.window.showWarningMessage(text, button)) !== undefined) {
    again({ ...job, argument: { ...job.argument, uri: uri.toString() } });
  }
}
