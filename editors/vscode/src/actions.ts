/** The actions: the input that each needs, and how a job is followed to its end. */
import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient } from "vscode-languageclient/node";
import { show } from "./progress";

export interface Action {
  readonly name: string;
  readonly title: string;
  /** The prompt of the input box; without it the action starts at once. */
  readonly prompt?: string;
}

export const ACTIONS: readonly Action[] = [
  { name: "generate", title: "Generate", prompt: "What shall be written? (empty: the comment or docstring at the cursor)" },
  { name: "debug", title: "Fix", prompt: "What is wrong? (empty: the diagnostics at the cursor)" },
  { name: "refactor", title: "Refactor", prompt: "How? (empty: clearer, same behaviour)" },
  { name: "optimize", title: "Optimize", prompt: "For what? (empty: speed)" },
  { name: "test", title: "Write Tests" },
  { name: "explain", title: "Explain" },
  { name: "analyze", title: "Analyze" },
  { name: "task", title: "Do a Task", prompt: "What shall be done?" },
];

interface Result {
  readonly status: "done" | "refused" | "failed" | "cancelled" | "running";
  readonly message: string;
}

/** The action behind a command of the server (`stet.refactor`). */
export function actionOf(command: string): Action | undefined {
  return ACTIONS.find((action) => command === `stet.${action.name}`);
}

/** Asks for the instruction and runs the action on the editor's selection. */
export async function ask(client: LanguageClient, action: Action, editor: vscode.TextEditor): Promise<void> {
  const { document, selection } = editor;
  const instruction =
    action.prompt === undefined ? "" : await vscode.window.showInputBox({ title: `Stet: ${action.title}`, prompt: action.prompt });
  if (instruction === undefined) {
    return; // Escape
  }
  const convert = client.code2ProtocolConverter;
  const range = convert.asRange(selection);
  const diagnostics = vscode.languages.getDiagnostics(document.uri).filter((item) => item.range.intersection(selection) !== undefined);
  await follow(client, action, {
    uri: convert.asUri(document.uri),
    ...(selection.isEmpty ? { position: range.start } : { range }),
    ...(instruction === "" ? {} : { instruction }),
    ...(action.name === "debug" ? { diagnostics: await convert.asDiagnostics(diagnostics) } : {}),
  });
}

/** Starts a job and waits for it; cancelling the notification stops it. The server reports refusals and failures. */
export async function follow(client: LanguageClient, action: Action, argument: object): Promise<void> {
  const send = (command: string, params: object): Promise<unknown> =>
    client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [params] });
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Stet: ${action.title}`, cancellable: true },
    async (note, token) => {
      const { job } = (await send(`stet.${action.name}`, argument)) as { job: string };
      token.onCancellationRequested(() => void send("stet.cancel", { job }));
      const shown = show(job, note);
      let result: Result;
      try {
        result = (await send("stet.result", { job, wait: true })) as Result;
      } finally {
        shown.done();
      }
      if (result.status === "done") {
        vscode.window.setStatusBarMessage(`$(check) ${result.message}`, 10_000);
      }
    },
  );
}
