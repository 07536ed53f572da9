/** Starts the Stet server and gives its commands an input box and a progress that can be cancelled. No logic beyond that. */
import * as vscode from "vscode";
import { ExecuteCommandRequest, LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

interface Action {
  readonly name: string;
  readonly title: string;
  /** What the input box asks; without it the action starts at once. */
  readonly prompt?: string;
}

const ACTIONS: readonly Action[] = [
  { name: "generate", title: "Generate", prompt: "What shall be written? (empty: the comment or docstring at the cursor)" },
  { name: "debug", title: "Fix", prompt: "What is wrong? (empty: the diagnostics at the cursor)" },
  { name: "refactor", title: "Refactor", prompt: "How? (empty: clearer, same behaviour)" },
  { name: "optimize", title: "Optimize", prompt: "For what? (empty: speed)" },
  { name: "test", title: "Write tests" },
  { name: "explain", title: "Explain" },
  { name: "analyze", title: "Analyze" },
];

interface Result {
  readonly status: "done" | "refused" | "failed" | "cancelled" | "running";
  readonly message: string;
}

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("Stet", { log: true });
  const status = vscode.languages.createLanguageStatusItem("stet", [{ scheme: "file" }, { scheme: "untitled" }]);
  status.name = "Stet";
  status.text = "Stet";
  context.subscriptions.push(output, status);
  for (const action of ACTIONS) {
    context.subscriptions.push(vscode.commands.registerTextEditorCommand(`stet.ui.${action.name}`, (editor) => run(action, editor)));
  }
  context.subscriptions.push(
    vscode.commands.registerCommand("stet.ui.restart", async () => {
      await client?.stop();
      await start(output, status);
    }),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("stet.server.command")) {
        await vscode.commands.executeCommand("stet.ui.restart");
      }
    }),
  );
  await start(output, status);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function start(output: vscode.LogOutputChannel, status: vscode.LanguageStatusItem): Promise<void> {
  const [command, ...args] = vscode.workspace.getConfiguration("stet").get<string[]>("server.command") ?? [];
  if (command === undefined) {
    status.severity = vscode.LanguageStatusSeverity.Error;
    status.detail = "the setting stet.server.command is empty";
    return;
  }
  const server: ServerOptions = { command, args };
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
    outputChannel: output,
    // The client registers every command of the server under its own name; our commands have other names.
    synchronize: { configurationSection: "stet" },
    initializationOptions: { plugin: { name: "vscode", reports: false } },
  };
  client = new LanguageClient("stet", "Stet", server, options);
  status.busy = true;
  try {
    await client.start();
    const version = client.initializeResult?.serverInfo?.version;
    status.detail = `server ${version ?? "of unknown version"}`;
    status.severity = vscode.LanguageStatusSeverity.Information;
  } catch (error) {
    status.detail = "the server did not start";
    status.severity = vscode.LanguageStatusSeverity.Error;
    const choice = await vscode.window.showErrorMessage(
      `Stet: "${command}" did not start (${String(error)}). Install it with: pip install 'stet-ls[local]'`,
      "Open Settings",
    );
    if (choice !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "stet.server.command");
    }
  } finally {
    status.busy = false;
  }
}

/** Asks for the instruction, starts the job and waits for its end; cancelling the progress stops the job. */
async function run(action: Action, editor: vscode.TextEditor): Promise<void> {
  const active = client;
  if (active === undefined || !active.isRunning()) {
    void vscode.window.showWarningMessage("Stet: the server is not running (command “Stet: Restart Server”).");
    return;
  }
  let instruction: string | undefined;
  if (action.prompt !== undefined) {
    instruction = await vscode.window.showInputBox({ title: `Stet: ${action.title}`, prompt: action.prompt });
    if (instruction === undefined) {
      return; // Escape
    }
  }
  const { document, selection } = editor;
  const range = active.code2ProtocolConverter.asRange(selection);
  const diagnostics = vscode.languages.getDiagnostics(document.uri).filter((item) => item.range.intersection(selection) !== undefined);
  const argument = {
    uri: active.code2ProtocolConverter.asUri(document.uri),
    ...(selection.isEmpty ? { position: range.start } : { range }),
    ...(instruction ? { instruction } : {}),
    ...(action.name === "debug" ? { diagnostics: await active.code2ProtocolConverter.asDiagnostics(diagnostics) } : {}),
  };
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Stet: ${action.title}`, cancellable: true },
    async (_progress, token) => {
      const { job } = (await send(active, `stet.${action.name}`, argument)) as { job: string };
      token.onCancellationRequested(() => void send(active, "stet.cancel", { job }));
      const result = (await send(active, "stet.result", { job, wait: true })) as Result;
      if (result.status === "done") {
        vscode.window.setStatusBarMessage(`$(check) ${result.message}`, 10_000);
      }
    },
  );
}

function send(active: LanguageClient, command: string, argument: object): Promise<unknown> {
  return active.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument] });
}
