/** Marks in the code: the target while its job runs, and the lines that an edit changed until they are saved. */
import * as vscode from "vscode";

interface Applied {
  readonly uri: string;
  readonly before: string;
  readonly after: string;
}

export class Marks implements vscode.Disposable {
  private readonly target = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.inactiveSelectionBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.rangeHighlightForeground"),
  });
  private readonly changed = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("diffEditor.insertedLineBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.modifiedForeground"),
  });
  private readonly targets = new Map<string, { readonly uri: string; readonly range: vscode.Range }>();
  /** By document: the lines that edits changed. */
  private readonly lines = new Map<string, vscode.Range[]>();
  private readonly kept = new Set<string>();
  private last: Applied | undefined;
  private readonly parts: vscode.Disposable;

  constructor() {
    this.parts = vscode.Disposable.from(
      this.target,
      this.changed,
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
      vscode.workspace.onDidSaveTextDocument((document) => this.forget(document.uri.toString())),
      vscode.workspace.onDidCloseTextDocument((document) => this.forget(document.uri.toString())),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        const uri = document.uri.toString();
        if (this.last?.uri === uri && document.getText() === this.last.before) {
          this.forget(uri); // undone
        }
      }),
    );
  }

  dispose(): void {
    this.parts.dispose();
  }

  /** Marks the lines that a job works on. */
  begin(job: string, uri: string, first: number, last: number): void {
    const key = vscode.Uri.parse(uri).toString();
    this.targets.set(job, { uri: key, range: new vscode.Range(first, 0, last, 0) });
    this.draw();
  }

  /** The job has ended. */
  end(job: string): void {
    if (this.targets.delete(job)) {
      this.draw();
    }
  }

  /** The texts of documents before an edit, to be compared once it is applied. */
  before(uris: readonly string[]): () => void {
    const open = uris.flatMap((uri) => {
      const document = documentOf(uri);
      return document === undefined ? [] : [{ document, text: document.getText() }];
    });
    return () => open.forEach(({ document, text }) => this.landed(document, text));
  }

  /** The user keeps the edit of a job: its marks and its lens go. */
  keep(uri: string, job: string): void {
    this.kept.add(job);
    this.forget(vscode.Uri.parse(uri).toString());
  }

  isKept(job: string): boolean {
    return this.kept.has(job);
  }

  /** Removes the marks of a document. */
  forget(uri: string): void {
    if (this.lines.delete(uri)) {
      this.draw();
    }
  }

  /** Takes the last edit of a document back. */
  async undo(uri: string): Promise<void> {
    const last = this.last;
    const document = documentOf(uri);
    if (document === undefined || last?.uri !== document.uri.toString() || document.getText() !== last.after) {
      void vscode.window.showInformationMessage("Stet: the text has changed since; use the editor's undo.");
      return;
    }
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand("undo");
  }

  private landed(document: vscode.TextDocument, before: string): void {
    const after = document.getText();
    const [old, now] = [before.split("\n"), after.split("\n")];
    let head = 0;
    while (head < Math.min(old.length, now.length) && old[head] === now[head]) {
      head++;
    }
    let tail = 0;
    while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) {
      tail++;
    }
    if (before === after) {
      return;
    }
    const uri = document.uri.toString();
    const last = Math.max(head, now.length - tail - 1);
    this.last = { uri, before, after };
    this.lines.set(uri, [...(this.lines.get(uri) ?? []), new vscode.Range(head, 0, last, 0)]);
    this.draw();
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const uri = editor.document.uri.toString();
      const targets = [...this.targets.values()].filter((each) => each.uri === uri).map((each) => each.range);
      editor.setDecorations(this.target, targets);
      editor.setDecorations(this.changed, this.lines.get(uri) ?? []);
    }
  }
}

function documentOf(uri: string): vscode.TextDocument | undefined {
  const wanted = vscode.Uri.parse(uri).toString();
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted);
}
