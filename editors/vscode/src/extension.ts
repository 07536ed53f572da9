/** The extension's commands and their parts. What the server can do is left to the server. */
import * as vscode from "vscode";
import type { LanguageClient, LanguageClientOptions, Middleware } from "vscode-languageclient/node";
import { type Action, ACTIONS, actionOf, type JobArgument } from "./actions";
import { instructionFor, newer, older, targetOf } from "./ask";
import { diagnosed } from "./diagnosed";
import { Jobs } from "./jobs";
import { Marks } from "./marks";
import { offerMcp } from "./mcp";
import { Memory } from "./memory";
import { Model, type ModelFailed, type NoModel } from "./model";
import { type Offer, Offers } from "./offer";
import { close, hear } from "./progress";
import { protocol } from "./protocol";
import { Questions } from "./questions";
import { watchRenames } from "./renames";
import { content } from "./reports";
import { Server } from "./server/server";
import { explicit } from "./server/settings";
import { Status } from "./status";
import { PLAN, Tasks } from "./tasks";

/** The documents that the server gets. */
const SCHEMES = ["file", "untitled"];

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Stet", { log: true });
  const [jobs, offers, marks, questions] = [new Jobs(), new Offers(), new Marks(), new Questions()];
  const model = new Model(context, () => own);
  const own: Server = new Server(context, log, () => options(context, own, marks, offers, tasks), () => model.variables(), (client) => {
    client.onRequest("stet/offer", (offer: Offer) => offers.ask(offer));
    client.onRequest(protocol().ShowMessageRequest.type, (params) => questions.ask(params));
    client.onRequest("stet/noModel", (none: NoModel) => {
      const { last } = jobs;
      void model.missing(client, none).then((chosen) => chosen && again(last));
      return null;
    });
    client.onRequest("stet/modelFailed", (failed: ModelFailed) => {
      const { last } = jobs;
      void model.failed(failed).then((wanted) => wanted && again(last));
      return null;
    });
  });
  server = own;
  const [status, memory] = [new Status(own, jobs, offers, questions), new Memory(own)];

  const run = async (action: Action, argument: JobArgument): Promise<void> => {
    const client = await own.ready();
    if (client === undefined) {
      return;
    }
    try {
      await followed(client, action, argument, jobs, offers, marks);
    } catch (error) {
      void vscode.window.showErrorMessage(`Stet: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const again = (asked: { action: Action; argument: JobArgument } | undefined, instruction = ""): void => {
    if (asked !== undefined) {
      void run(asked.action, instruction === "" ? { ...asked.argument } : { ...asked.argument, instruction });
    }
  };
  const tasks = new Tasks(own, jobs, run);
  offers.retry = (job, instruction) => again(jobs.running.get(job), instruction);
  own.lost = () => {
    const job = jobs.takeLost();
    offers.drop();
    questions.drop();
    close();
    return job && { title: job.action.title, again: () => again(job) };
  };

  const send = async (command: string, ...given: object[]): Promise<void> => {
    const client = await own.ready();
    try {
      await client?.sendRequest(protocol().ExecuteCommandRequest.type, { command, arguments: given });
    } catch (error) {
      void vscode.window.showInformationMessage(`Stet: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const commands: Record<string, (...given: never[]) => unknown> = {
    // From the light bulb: it asks only where it would refuse otherwise.
    run: async (action: Action, argument: JobArgument) => {
      const client = await own.ready();
      const target = client && action.asksInMenu === true ? await targetOf(client, argument) : undefined;
      const given = target?.instruction === "" ? await instructionFor(context, action, target, "") : argument.instruction;
      if (target?.instruction !== "" || given !== undefined) {
        await run(action, given ? { ...argument, instruction: given } : argument);
      }
    },
    // The server opens it; the code lens runs the server's own command of that name.
    evidence: () => send("stet.evidence", ...(offers.current === undefined ? [] : [{ job: offers.current.job }])),
    clear: () => send("stet.clear"),
    verify: () => send("stet.verify"),
    restart: () => own.restart(),
    install: () => own.install(),
    rerun: () => again(jobs.last),
    menu: () => status.menu(),
    health: () => status.report(),
    log: () => log.show(),
    model: () => model.choose(),
    older,
    newer,
    apply: () => offers.apply(),
    discard: () => offers.discard(),
    again: () => offers.again(),
    example: () => offers.example(),
    skip: () => offers.skip(),
    // By key: a command of its own, since a button shows the key of its command.
    answer: (name: "apply" | "discard" | "again") => offers[name](),
    offer: () => offers.show(),
    keep: (uri: string, job: string) => {
      marks.keep(uri, job);
      refreshLenses(own.running);
    },
    undo: (uri: string) => marks.undo(uri),
    plan: () => asked(context, own, PLAN, run),
    runPlan: () => tasks.runPlan(),
    tasks: () => tasks.list(),
    "memory.search": () => memory.search(),
    "memory.show": (solution: Parameters<Memory["show"]>[0]) => memory.show(solution),
    "memory.forget": (solution: Parameters<Memory["forget"]>[0]) => memory.forget(solution),
  };
  for (const action of ACTIONS) {
    commands[action.name] = () => asked(context, own, action, run);
  }
  context.subscriptions.push(
    log, own, offers, marks, questions, status, ...offerMcp(own, () => own.variables()),
    ...Object.entries(commands).map(([name, handler]) => vscode.commands.registerCommand(`stet.ui.${name}`, handler)),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("stet") && void own.configure()),
    watchRenames(jobs, again),
    vscode.workspace.onDidGrantWorkspaceTrust(() => own.state === "missing" && void own.start()),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => tellComment(textEditor)),
  );
  // Once the editor has what it waits for: the search for the server reads files.
  setTimeout(() => {
    void tellTrust(context);
    void own.start();
  });
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

/** Asks for the instruction and runs the action on the editor's selection. */
async function asked(
  context: vscode.ExtensionContext,
  own: Server,
  action: Action,
  run: (action: Action, argument: JobArgument) => Promise<void>,
): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    void vscode.window.showWarningMessage("Stet: open a text file first.");
    return;
  }
  if (!SCHEMES.includes(editor.document.uri.scheme)) {
    const { scheme } = editor.document.uri;
    void vscode.window.showWarningMessage(`Stet: “${scheme}:” documents are not files of this machine. Save a copy and open it.`);
    return;
  }
  const client = await own.ready();
  if (client === undefined) {
    return;
  }
  const { document, selection } = editor;
  const convert = client.code2ProtocolConverter;
  const range = convert.asRange(selection);
  const place = { uri: convert.asUri(document.uri), ...(selection.isEmpty ? { position: range.start } : { range }) };
  let instruction: string | undefined = "";
  if (action.prompt !== undefined) {
    const target = await targetOf(client, place);
    instruction = await instructionFor(context, action, target, document.getText(selection));
  }
  if (instruction === undefined) {
    return; // Escape
  }
  const near = vscode.languages.getDiagnostics(document.uri).filter((item) => item.range.intersection(selection) !== undefined);
  const diagnostics = await convert.asDiagnostics(near);
  await run(action, { ...place, ...(instruction === "" ? {} : { instruction }), diagnostics });
}

/** Follows a job, with its target marked. */
async function followed(
  client: LanguageClient,
  action: Action,
  argument: JobArgument,
  jobs: Jobs,
  offers: Offers,
  marks: Marks,
): Promise<void> {
  const target = targetOf(client, argument);
  let id: string | undefined;
  const started = jobs.onDidChange(async (job) => {
    if (job?.argument !== argument) {
      return;
    }
    id = job.id;
    const lines = await target;
    if (lines?.first != null && lines.last !== null && argument.uri !== undefined && jobs.running.has(job.id)) {
      marks.begin(job.id, argument.uri, lines.first, lines.last);
    }
  });
  try {
    await jobs.follow(client, action, argument);
  } finally {
    started.dispose();
    if (id !== undefined) {
      marks.end(id);
      offers.drop(id);
    }
  }
}

function options(context: vscode.ExtensionContext, own: Server, marks: Marks, offers: Offers, tasks: Tasks): LanguageClientOptions {
  const plugin = { name: "vscode", reports: false, offers: true, diffs: true, models: true, buttons: true, diagnoses: diagnosed() };
  return {
    documentSelector: SCHEMES.map((scheme) => ({ scheme })),
    initializationOptions: { plugin },
    middleware: middleware(context, own, marks, offers, tasks),
  };
}

function middleware(context: vscode.ExtensionContext, own: Server, marks: Marks, offers: Offers, tasks: Tasks): Middleware {
  return {
    handleWorkDoneProgress: (token, params) => hear(own.running, token, params),
    // An action from the light bulb can be cancelled like one from the palette.
    executeCommand: async (command, args, next) => {
      const action = actionOf(command, args[0] as JobArgument | undefined);
      const isJob = action !== undefined && (command === "stet.custom" || ACTIONS.includes(action));
      return isJob ? vscode.commands.executeCommand("stet.ui.run", action, args[0] ?? {}) : next(command, args);
    },
    // Keep and Undo are next to each lens of an edit; what verify found has neither.
    provideCodeLenses: async (document, token, next) => {
      const uri = document.uri.toString();
      const more = (lens: vscode.CodeLens, job: string): vscode.CodeLens[] => [
        new vscode.CodeLens(lens.range, { title: "Keep", command: "stet.ui.keep", arguments: [uri, job] }),
        new vscode.CodeLens(lens.range, { title: "Undo", command: "stet.ui.undo", arguments: [uri] }),
      ];
      return ((await next(document, token)) ?? []).flatMap((lens) => {
        const { job } = (lens.command?.arguments?.[0] ?? {}) as { job?: string };
        const ofEdit = (lens as { data?: unknown }).data === "edit";
        return job === undefined || !ofEdit ? [lens] : marks.isKept(job) ? [] : [...more(lens, job), lens];
      });
    },
    provideTextDocumentContent: (uri, token, next) => content(uri, () => next(uri, token)),
    workspace: {
      configuration: (params) => params.items.map((item) => {
        const scope = item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri);
        return item.section === "stet" ? explicit(context, scope) : null;
      }),
      handleApplyEdit: async (params, next) => {
        const changes = params.edit.documentChanges ?? [];
        const landed = marks.before(changes.flatMap((change) => ("textDocument" in change ? [change.textDocument.uri] : [])));
        const result = await next(params, new vscode.CancellationTokenSource().token);
        landed();
        offers.landed();
        return result;
      },
    },
    window: {
      // Reports are Markdown: they are shown as a preview, next to their code; plans are there to be edited.
      showDocument: async (params, token, next) => {
        const uri = vscode.Uri.parse(params.uri);
        if (uri.scheme !== "stet") {
          return next(params, token);
        }
        await tasks.open(uri);
        return { success: true };
      },
    },
  };
}

/** Asks for the lenses again: one was answered. */
function refreshLenses(client: LanguageClient | undefined): void {
  const feature = client?.getFeature(protocol().CodeLensRequest.method);
  for (const { document } of vscode.window.visibleTextEditors) {
    feature?.getProvider(document)?.onDidChangeCodeLensEmitter.fire();
  }
}

/** Whether a `stet:` comment stands at the cursor: then the menu offers Generate first. */
function tellComment(editor: vscode.TextEditor): void {
  const { document, selection } = editor;
  const from = Math.max(selection.start.line - 1, 0);
  const lines = document.getText(new vscode.Range(from, 0, selection.end.line + 1, 0));
  void vscode.commands.executeCommand("setContext", "stet.commented", /\bstet:\s*\S/.test(lines));
}

/** Says once for each folder what works without trust. With its button, VS Code shows the whole sentence. */
async function tellTrust(context: vscode.ExtensionContext): Promise<void> {
  if (vscode.workspace.isTrusted || vscode.workspace.workspaceFolders === undefined || context.workspaceState.get<boolean>("trust.told", false)) {
    return;
  }
  void context.workspaceState.update("trust.told", true);
  const text = "Stet: in a folder that you do not trust, all actions work, with your own settings only; the folder's settings and its Python are ignored.";
  if ((await vscode.window.showInformationMessage(text, "Manage Trust")) !== undefined) {
    await vscode.commands.executeCommand("workbench.trust.manage");
  }
}
