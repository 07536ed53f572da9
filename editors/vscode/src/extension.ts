/** Starts the Stet server and adds an input box and cancellable progress to its commands. No logic beyond that. */
import * as vscode from "vscode";
import { ExecuteCommandRequest, LanguageClient, type LanguageClientOptions, type Middleware } from "vscode-languageclient/node";
import { ACTIONS, actionOf, ask, follow } from "./actions";
import { diagnosed } from "./diagnosed";
import { environment, type Variables } from "./environment";
import { hear } from "./progress";

const INSTALL = "pip install '.[full]' in a clone of Stet";

let client: LanguageClient | undefined;
/** The variables that the server was started with. */
let started: Variables = {};

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("Stet", { log: true });
  const status = vscode.languages.createLanguageStatusItem("stet", [{ scheme: "file" }, { scheme: "untitled" }]);
  status.name = "Stet";
  status.text = "Stet";
  context.subscriptions.push(output, status);
  // The client registers the commands of the server under their own names (stet.refactor); ours are stet.ui.*.
  for (const action of ACTIONS) {
    const run = async () => {
      const editor = vscode.window.activeTextEditor;
      if (client?.isRunning() !== true) {
        void vscode.window.showWarningMessage("Stet: the server is not running (command “Stet: Restart Server”).");
      } else if (editor === undefined) {
        void vscode.window.showWarningMessage("Stet: open a text file first.");
      } else {
        await ask(client, action, editor);
      }
    };
    context.subscriptions.push(vscode.commands.registerCommand(`stet.ui.${action.name}`, run));
  }
  context.subscriptions.push(
    // The server opens it; the code lens runs the server's own command of that name.
    vscode.commands.registerCommand("stet.ui.evidence", async () => {
      try {
        await client?.sendRequest(ExecuteCommandRequest.type, { command: "stet.evidence", arguments: [] });
      } catch (error) {
        void vscode.window.showInformationMessage(`Stet: ${error instanceof Error ? error.message : String(error)}`);
      }
    }),
    vscode.commands.registerCommand("stet.ui.clear", async () => {
      await client?.sendRequest(ExecuteCommandRequest.type, { command: "stet.clear", arguments: [] });
    }),
    vscode.commands.registerCommand("stet.ui.restart", async () => {
      await deactivate();
      await start(context, output, status);
    }),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      const told = JSON.stringify(environment(context)) !== JSON.stringify(started);
      if (told || change.affectsConfiguration("stet.server.command")) {
        await vscode.commands.executeCommand("stet.ui.restart");
      }
    }),
  );
  await start(context, output, status);
}

export async function deactivate(): Promise<void> {
  if (client?.isRunning() === true) {
    await client.stop();
  }
  client = undefined;
}

async function start(
  context: vscode.ExtensionContext,
  output: vscode.LogOutputChannel,
  status: vscode.LanguageStatusItem,
): Promise<void> {
  const [command, ...args] = vscode.workspace.getConfiguration("stet").get<string[]>("server.command") ?? [];
  if (command === undefined) {
    status.severity = vscode.LanguageStatusSeverity.Error;
    status.detail = "the setting stet.server.command is empty";
    return;
  }
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
    outputChannel: output,
    initializationOptions: { plugin: { name: "vscode", reports: false, buttons: true, diagnoses: diagnosed() } },
    middleware,
  };
  started = environment(context);
  client = new LanguageClient("stet", "Stet", { command, args, options: { env: { ...process.env, ...started } } }, options);
  status.busy = true;
  try {
    await client.start();
    status.detail = `server ${client.initializeResult?.serverInfo?.version ?? "of unknown version"}`;
    status.severity = vscode.LanguageStatusSeverity.Information;
  } catch (error) {
    status.detail = "the server did not start";
    status.severity = vscode.LanguageStatusSeverity.Error;
    void offerSettings(`Stet: "${command}" did not start (${String(error)}). Install it with: ${INSTALL}`);
  } finally {
    status.busy = false;
  }
}

async function offerSettings(message: string): Promise<void> {
  const choice = await vscode.window.showErrorMessage(message, "Open Settings");
  if (choice !== undefined) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "stet.server.command");
  }
}

const middleware: Middleware = {
  handleWorkDoneProgress: (token, params, next) => {
    hear(token, params);
    next(token, params);
  },
  // An action from the light bulb can be cancelled like one from the palette.
  executeCommand: async (command, args, next) => {
    const action = actionOf(command);
    return action !== undefined && client !== undefined ? follow(client, action, args[0] ?? {}) : next(command, args);
  },
  window: {
    // Reports are Markdown: they are shown as a preview, next to their code.
    showDocument: async (params, token, next) => {
      const uri = vscode.Uri.parse(params.uri);
      if (uri.scheme !== "stet") {
        return next(params, token);
      }
      await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
      return { success: true };
    },
  },
};
