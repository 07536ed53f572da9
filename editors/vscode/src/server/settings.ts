/** The settings that the server pulls: only what someone set, since a default would override the user's own file. */
import * as vscode from "vscode";

/** The settings of the section that someone set, as nested objects. */
export function explicit(context: vscode.ExtensionContext, scope: vscode.Uri | undefined): object {
  const { contributes } = context.extension.packageJSON as { contributes: { configuration: { properties: object } } };
  const configuration = vscode.workspace.getConfiguration(undefined, scope);
  const root: Record<string, unknown> = {};
  for (const key of Object.keys(contributes.configuration.properties)) {
    const found = configuration.inspect(key);
    const value: unknown = found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
    if (value !== undefined && value !== null && !key.startsWith("stet.server.")) {
      put(root, key.split(".").slice(1), value);
    }
  }
  return root;
}

function put(root: Record<string, unknown>, path: string[], value: unknown): void {
  const [name, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) {
    root[name] = value;
  } else {
    put((root[name] ??= {}) as Record<string, unknown>, rest, value);
  }
}
