/** Chooses the model: a server on this machine, an endpoint with its key, or an embedded model that is downloaded. */
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { protocol } from "./protocol";
import type { Server } from "./server/server";

interface Models {
  readonly servers: readonly { readonly name: string; readonly url: string; readonly model: string }[];
  readonly embedded: readonly {
    readonly name: string;
    readonly model: string;
    /** Its size, its memory and its speed. */
    readonly needs: string;
    readonly installed: boolean;
  }[];
}

/** A job ended for lack of a model; `name` is the embedded one that would serve. */
export interface NoModel {
  readonly job: string;
  readonly name: string;
  readonly megabytes: number;
  readonly needs: string;
}

/** The model of a job could not be asked. */
export interface ModelFailed {
  readonly job: string;
  readonly message: string;
}

/** What the user chose; without a `url` the embedded model of that name. The key is in the secret storage. */
interface Choice {
  readonly url?: string;
  readonly model: string;
}

interface Row extends vscode.QuickPickItem {
  readonly run?: () => Promise<boolean>;
}

const CHOICE = "model";
const KEY = "stet.api_key";

export class Model {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly server: () => Server,
  ) {}

  /** The variables that tell the server of the choice; none without one. */
  async variables(): Promise<Record<string, string | null>> {
    const choice = this.context.globalState.get<Choice>(CHOICE);
    if (choice === undefined) {
      return {};
    }
    if (choice.url === undefined) {
      return { STET_BASE_URL: null, STET_MODEL: null, STET_MODEL_EMBEDDED: choice.model, STET_MODEL_DISCOVER: "false" };
    }
    const key = await this.context.secrets.get(KEY);
    return { STET_BASE_URL: choice.url, STET_MODEL: choice.model, STET_API_KEY: key ?? null };
  }

  /** Handles `stet/noModel`: true once there is a model. */
  async missing(client: LanguageClient, none: NoModel): Promise<boolean> {
    const [get, choose] = [`Download ${none.megabytes} MB`, "Choose Model…"];
    const text = `Stet: no model is configured, and no model server runs on this machine. The embedded model takes ${none.needs}.`;
    switch (await vscode.window.showErrorMessage(text, get, choose)) {
      case get:
        return download(client, none.name);
      case choose:
        return this.choose();
    }
    return false;
  }

  /** Handles `stet/modelFailed`: true if the job is to run again. */
  async failed({ message }: ModelFailed): Promise<boolean> {
    const [again, choose] = ["Run Again", "Choose Model…"];
    const chosen = await vscode.window.showErrorMessage(message, again, choose);
    return chosen === again || (chosen === choose && (await this.choose()));
  }

  /** Asks, and starts the server again with the choice. False if nothing was chosen. */
  async choose(): Promise<boolean> {
    const client = await this.server().ready();
    if (client === undefined) {
      return false;
    }
    const params = { command: "stet.models", arguments: [] };
    const { servers, embedded } = (await client.sendRequest(protocol().ExecuteCommandRequest.type, params)) as Models;
    const rows: Row[] = [
      ...servers.map(({ name, url, model }) => ({
        label: `$(server) ${model}`,
        description: `${name} on this machine`,
        run: () => this.keep({ url, model }, ""),
      })),
      ...embedded.map(({ name, model, needs, installed }) => ({
        label: `$(chip) ${model}`,
        detail: installed ? "embedded, downloaded" : `embedded, a download: ${needs}`,
        run: async () => (installed || (await download(client, name))) && this.keep({ model: name }, ""),
      })),
      { label: "$(globe) Another endpoint…", description: "OpenAI-compatible, with a key", run: () => this.endpoint() },
      { label: "$(settings) As config.toml says", description: "forget the choice", run: () => this.keep(undefined, "") },
    ];
    const chosen = await vscode.window.showQuickPick(rows, { title: "Stet: Choose Model", matchOnDescription: true, matchOnDetail: true });
    return (await chosen?.run?.()) === true && (await this.server().restart()) !== undefined;
  }

  private async endpoint(): Promise<boolean> {
    const title = "Stet: Endpoint";
    const url = await vscode.window.showInputBox({
      title,
      prompt: "Address with the version path, such as https://api.example.com/v1",
      value: this.context.globalState.get<Choice>(CHOICE)?.url ?? "",
      validateInput: (text) => (/^https?:\/\/\S+$/.test(text.trim()) ? undefined : "An address starts with https:// or http://."),
    });
    const model = url && (await vscode.window.showInputBox({ title, prompt: "Name of the model" }));
    const prompt = "Key; kept in the system's secret storage, never in settings (empty: none)";
    const key = model && (await vscode.window.showInputBox({ title, prompt, password: true }));
    return url && model && key !== undefined ? this.keep({ url: url.trim(), model: model.trim() }, key) : false;
  }

  private async keep(choice: Choice | undefined, key: string): Promise<boolean> {
    await this.context.globalState.update(CHOICE, choice);
    await (key === "" ? this.context.secrets.delete(KEY) : this.context.secrets.store(KEY, key));
    return true;
  }
}

async function download(client: LanguageClient, name: string): Promise<boolean> {
  const params = { command: "stet.download", arguments: [{ name }] };
  const { installed } = (await client.sendRequest(protocol().ExecuteCommandRequest.type, params)) as { installed: boolean };
  return installed;
}
