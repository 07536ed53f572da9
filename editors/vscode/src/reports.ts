/** The server's reports: Markdown that VS Code renders, with links to files that its preview would not follow. */
import * as vscode from "vscode";

/** Paths that a report links. The preview follows no `file:` link, so they are read as documents of the report's scheme. */
const linked = new Set<string>();

/** A heading with a table alone: the measures of analyze, which are folded. */
const TABLE = /^## (.+)\n\n((?:\|.*\n)+)/gm;

type Text = vscode.ProviderResult<string>;

/** The text of a report, or of a file that one links. */
export async function content(uri: vscode.Uri, next: () => Text): Promise<string | null | undefined> {
  if (linked.has(uri.path)) {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.file(uri.path)));
  }
  const found = await next();
  const text = uri.path.startsWith("/analyze-") ? found?.replace(TABLE, "<details><summary>$1</summary>\n\n$2\n</details>\n") : found;
  return text?.replace(/\]\((file:[^)\s]+)\)/g, (_, link: string) => {
    const file = vscode.Uri.parse(link);
    linked.add(file.path);
    return `](${file.with({ scheme: uri.scheme }).toString()})`;
  });
}

/** Opens a report next to the code; the focus stays in the code. */
export async function beside(uri: vscode.Uri): Promise<void> {
  const options = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true };
  await vscode.commands.executeCommand("vscode.openWith", uri, "vscode.markdown.preview.editor", options);
}
