/**
 * The user's settings for all folders, as environment variables of the server.
 *
 * Only the user may set some keys, and settings that the server pulls from the editor later may come from the opened
 * folder. `userVariables` in package.json is made from the server's settings; a test compares them.
 */
import * as vscode from "vscode";

export type Variables = Record<string, string>;

/** The variables for the current values of the user's settings, without a folder's. */
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
