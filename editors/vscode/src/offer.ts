/** Shows an edit that the server asks about in VS Code's diff editor; the right side may be changed before it is applied. */
import * as vscode from "vscode";
import { hunks, linesOf } from "./hunks";
import { hide } from "./progress";

const SCHEME = "stet-edit";
/** Milliseconds without a key after which a diff may take the focus: earlier keys were typed for the code. */
const GUARD_MS = 700;
/** Milliseconds after which the diff of an accepted edit closes if the edit has not been applied until then. */
const APPLIED_MS = 1_000;

interface File {
  readonly uri: string;
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

export interface Offer {
  readonly job: string;
  readonly question: string;
  readonly title: string;
  readonly headline: string;
  /** The short form of a headline that tells a failure, else "". */
  readonly failure: string;
  readonly refuted: boolean;
  readonly files: readonly File[];
  readonly counterExample: string | null;
}

interface Reply {
  readonly choice: "Apply" | "Discard";
  readonly texts?: readonly { readonly uri: string; readonly text: string }[];
}

interface Shown {
  readonly offer: Offer;
  readonly title: string;
  /** The texts before and after, and what the latter was when it was opened. */
  readonly rows: readonly { readonly file: File; readonly before: vscode.Uri; readonly after: vscode.Uri }[];
  readonly answer: (reply: Reply) => void;
}

export class Offers implements vscode.Disposable {
  /** Runs a job again with another instruction. */
  retry: (job: string, instruction: string) => void = () => undefined;
  private readonly texts = new Texts();
  private readonly open: Shown[] = [];
  /** Diffs of accepted edits: they close once the edit is applied, which would otherwise wait for their tabs. */
  private readonly accepted: Shown[] = [];
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fired when an edit begins or ends to wait. */
  readonly onDidChange = this.changed.event;
  private lastKey = 0;
  private serial = 0;
  private readonly line = vscode.window.createTextEditorDecorationType({ isWholeLine: true });
  private readonly parts: vscode.Disposable[];

  constructor() {
    this.parts = [
      this.line,
      this.changed,
      vscode.workspace.registerFileSystemProvider(SCHEME, this.texts, { isCaseSensitive: true }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme !== SCHEME) {
          this.lastKey = Date.now();
        } else if (document.isDirty) {
          void document.save();
        }
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.open.forEach((shown) => this.tell(shown))),
      vscode.window.onDidChangeActiveTextEditor(() => this.buttons()),
      vscode.window.tabGroups.onDidChangeTabs(({ opened, changed, closed }) => {
        [...opened, ...changed].forEach((tab) => this.keepOpen(tab));
        closed.forEach((tab) => this.closed(tab));
      }),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.parts).dispose();
  }

  /** The edits that wait for an answer. */
  get waiting(): readonly Offer[] {
    return this.open.map((shown) => shown.offer);
  }

  /** The edit whose diff has the focus, else the last one that waits. */
  get current(): Offer | undefined {
    return this.find()?.offer;
  }

  /** Handles `stet/offer`: the user's choice, with the texts if they changed the right side. */
  async ask(offer: Offer): Promise<Reply> {
    this.drop(offer.job);
    this.landed();
    await this.idle();
    // The path stands above the diff: it tells the verdict.
    const folder = offer.headline.replaceAll("/", "∕") || offer.title;
    const rows = offer.files.map((file) => {
      const path = `/${folder}/${file.name}`;
      const serial = this.serial++;
      return { file, before: this.texts.put(path, `before-${serial}`, file.before), after: this.texts.put(path, `after-${serial}`, file.after) };
    });
    const title = `Stet: ${offer.title}`;
    const reply = new Promise<Reply>((resolve) => {
      const shown: Shown = { offer, title, rows, answer: (given) => (resolve(given), this.remove(shown, given.choice)) };
      this.open.push(shown);
      this.context();
    });
    hide(offer.job);
    await this.show(offer.job);
    return reply;
  }

  /** Opens the diff of a job, or of the last one that waits. */
  async show(job?: string): Promise<void> {
    const shown = this.find(job);
    if (shown === undefined) {
      return;
    }
    const [first, ...more] = shown.rows;
    if (first !== undefined && more.length === 0) {
      const options: vscode.TextDocumentShowOptions = { preview: false, viewColumn: vscode.ViewColumn.One };
      await vscode.commands.executeCommand("vscode.diff", first.before, first.after, heading(shown), options);
    } else {
      const list = shown.rows.map((row) => [row.after, row.before, row.after]);
      await vscode.commands.executeCommand("vscode.changes", heading(shown), list);
    }
    this.tell(shown);
  }

  apply(): void {
    const shown = this.find();
    if (shown === undefined) {
      return;
    }
    const kept = shown.rows.map(({ file, after }) => ({ file, text: this.texts.text(after) }));
    const changed = kept.some(({ file, text }) => text !== file.after);
    const texts = kept.map(({ file, text }) => ({ uri: file.uri, text }));
    shown.answer(changed ? { choice: "Apply", texts } : { choice: "Apply" });
  }

  discard(): void {
    this.find()?.answer({ choice: "Discard" });
  }

  async again(): Promise<void> {
    const shown = this.find();
    const prompt = "What should be different? (empty: the same again)";
    const instruction = shown && (await vscode.window.showInputBox({ title: `Try again: ${shown.offer.title}`, prompt }));
    if (shown !== undefined && instruction !== undefined) {
      this.retry(shown.offer.job, instruction);
      shown.answer({ choice: "Discard" });
    }
  }

  /** Opens the counter-example next to the diff. */
  async example(): Promise<void> {
    const found = this.current?.counterExample;
    if (found) {
      const options = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      await vscode.window.showTextDocument(vscode.Uri.parse(found), options);
    }
  }

  /** Takes back the change at the cursor of the right side. */
  async skip(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const uri = editor?.document.uri.toString();
    const row = this.open.flatMap((shown) => shown.rows).find((each) => each.after.toString() === uri);
    if (editor === undefined || row === undefined) {
      return;
    }
    const [before, now] = [linesOf(row.file.before), linesOf(editor.document.getText())];
    const line = editor.selection.active.line;
    const hunk = hunks(before, now).find((each) => each.from <= line && line <= Math.max(each.to - 1, each.from));
    if (hunk !== undefined) {
      const range = new vscode.Range(hunk.from, 0, hunk.to, 0);
      await editor.edit((edit) => edit.replace(range, before.slice(hunk.oldFrom, hunk.oldTo).join("")));
    }
  }

  /** Closes the diff of a job that has ended, or of all. */
  drop(job?: string): void {
    for (const shown of this.open.filter((each) => job === undefined || each.offer.job === job)) {
      shown.answer({ choice: "Discard" });
    }
  }

  private find(job?: string): Shown | undefined {
    const active = vscode.window.activeTextEditor?.document.uri;
    const here = this.open.find((each) => each.rows.some((row) => row.after.toString() === active?.toString()));
    return job === undefined ? (here ?? this.open.at(-1)) : this.open.find((each) => each.offer.job === job);
  }

  /** An edit was applied: the diffs of accepted ones close. */
  landed(): void {
    this.accepted.splice(0).forEach((shown) => void this.close(shown));
  }

  private remove(shown: Shown, choice: Reply["choice"]): void {
    const at = this.open.indexOf(shown);
    if (at < 0) {
      return;
    }
    this.open.splice(at, 1);
    this.accepted.push(shown);
    if (choice === "Apply") {
      setTimeout(() => this.landed(), APPLIED_MS);
    } else {
      this.landed();
    }
    setTimeout(() => this.context()); // after the answer is on its way
  }

  private async close(shown: Shown): Promise<void> {
    const own = new Set(shown.rows.map((row) => row.after.toString()));
    const changed = vscode.workspace.textDocuments.filter((each) => own.has(each.uri.toString()) && each.isDirty);
    await Promise.all(changed.map((each) => each.save())); // else VS Code asks
    await vscode.window.tabGroups.close(tabs().filter((tab) => belongs(tab, shown)), true);
    shown.rows.forEach((row) => this.texts.drop(row.before, row.after));
  }

  /** A list of diffs opens as a preview, which the next file would replace: that would discard the edit. */
  private keepOpen(tab: vscode.Tab): void {
    if (tab.isPreview && tab.isActive && this.open.some((shown) => belongs(tab, shown))) {
      void vscode.commands.executeCommand("workbench.action.keepEditor");
    }
  }

  private closed(tab: vscode.Tab): void {
    this.open.filter((shown) => belongs(tab, shown)).forEach((shown) => shown.answer({ choice: "Discard" }));
  }

  private context(): void {
    this.changed.fire();
    void vscode.commands.executeCommand("setContext", "stet.offered", this.open.length > 0);
    this.buttons();
  }

  /** Only an edit with a counter-example has the button for it; any other shows its evidence there. */
  private buttons(): void {
    void vscode.commands.executeCommand("setContext", "stet.example", Boolean(this.current?.counterExample));
  }

  /** Marks the first change of a wrong edit. The whole verdict is in the path above, unless the user hides that. */
  private tell(shown: Shown): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const row = shown.rows.find((each) => each.after.toString() === editor.document.uri.toString());
      if (row !== undefined) {
        const { headline, failure, refuted } = shown.offer;
        const told = shown.rows.length > 1 || vscode.workspace.getConfiguration("breadcrumbs").get<boolean>("enabled", true);
        const text = !told ? headline : failure && `✗ ${failure}`;
        const line = firstChange(row.file.before, row.file.after);
        const color = new vscode.ThemeColor(refuted ? "editorError.foreground" : "editorCodeLens.foreground");
        const after = { contentText: `   ${text}`, color, fontStyle: "italic" };
        const range = editor.document.lineAt(Math.min(line, editor.document.lineCount - 1)).range;
        editor.setDecorations(this.line, [{ range, hoverMessage: headline, renderOptions: { after } }]);
      }
    }
  }

  private async idle(): Promise<void> {
    for (let rest; (rest = this.lastKey + GUARD_MS - Date.now()) > 0; ) {
      await new Promise((resolve) => setTimeout(resolve, rest));
    }
  }
}

/** "Stet: Refactor sign ✗": the tab has no room for more. */
function heading(shown: Shown): string {
  return `${shown.title} ${shown.offer.headline.slice(0, 1)}`.trimEnd();
}

function tabs(): vscode.Tab[] {
  return vscode.window.tabGroups.all.flatMap((group) => group.tabs);
}

function belongs(tab: vscode.Tab, shown: Shown): boolean {
  if (tab.input instanceof vscode.TabInputTextDiff) {
    const uri = tab.input.modified.toString();
    return shown.rows.some((row) => row.after.toString() === uri);
  }
  return shown.rows.length > 1 && tab.label.startsWith(shown.title);
}

function firstChange(before: string, after: string): number {
  return hunks(linesOf(before), linesOf(after))[0]?.from ?? 0;
}

/** Texts in memory, as files: VS Code lets the user change only what it can save. */
class Texts implements vscode.FileSystemProvider {
  private readonly contents = new Map<string, Uint8Array>(); // by query: what stands in a path may occur twice
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;

  put(path: string, query: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path, query });
    this.contents.set(uri.query, new TextEncoder().encode(text));
    return uri;
  }

  text(uri: vscode.Uri): string {
    const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    return open?.getText() ?? new TextDecoder().decode(this.contents.get(uri.query));
  }

  drop(...uris: vscode.Uri[]): void {
    uris.forEach((uri) => this.contents.delete(uri.query));
  }

  readFile(uri: vscode.Uri): Uint8Array {
    const found = this.contents.get(uri.query);
    if (found === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return found;
  }

  writeFile(uri: vscode.Uri, content: Uint8Array): void {
    this.contents.set(uri.query, content);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const permissions = uri.query.startsWith("before") ? vscode.FilePermission.Readonly : undefined;
    return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: this.readFile(uri).length, permissions };
  }

  watch = (): vscode.Disposable => new vscode.Disposable(() => undefined);
  readDirectory = (): [string, vscode.FileType][] => [];
  createDirectory = (): void => undefined;
  delete = (): void => undefined;
  rename = (): void => undefined;
}
