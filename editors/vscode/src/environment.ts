/**
 * What the user set for all folders, as variables of the server.
 *
 * The server takes some keys from its user alone, and what it asks the editor for later may have been read from the
 * opened folder. `userVariables` in package.json is made from the server's settings; a test compares them.
 */
import * as vscode from "vscode";

export type Variables = Record<string, string>;

/** The variables for the values that the user's settings hold now; a folder's are left out. */
export function environment(context: vscode.ExtensionContext): Variables {
  const names = (context.extension.packageJSON as { userVariables: Variables }).userVariables;
  const configuration = vscode.workspace.getConfiguration();
  const found: Variables = {};
  for (const [key, variable] of Object.entries(names)) {
    const value: unknown = configuration.inspect(key)?.globalValue;
    if (value !== undefined && value !== null) {
      found[variable] = Array.isArray(value) ? value.join(",") : String(value);
    }
  }
  return found;
}
