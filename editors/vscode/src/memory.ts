/** The memory as a tree: search, show, forget. */
import * as vscode from "vscode";
import { protocol } from "./protocol";
import type { Server } from "./server/server";

interface Solution {
  readonly id: string;
  readonly instruction: string;
  readonly code: string;
  readonly language: string;
  readonly outcome?: string;
}

const MOST = 50;

export class Memory implements vscode.TreeDataProvider<Solution> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private query = "";
  private readonly view = vscode.window.createTreeView("stet.memory", { treeDataProvider: this });

  constructor(private readonly server: Server) {
    this.view.message = "Search to list remembered solutions.";
  }

  getTreeItem(solution: Solution): vscode.TreeItem {
    const item = new vscode.TreeItem(solution.instruction || solution.code.split("\n")[0] || solution.id);
    item.id = solution.id;
    item.description = [solution.language, solution.outcome].filter((each) => each).join(" · ");
    item.tooltip = new vscode.MarkdownString().appendCodeblock(solution.code, solution.language);
    item.contextValue = "solution";
    item.iconPath = new vscode.ThemeIcon("lightbulb");
    item.command = { command: "stet.ui.memory.show", title: "Show", arguments: [solution] };
    return item;
  }

  async getChildren(parent?: Solution): Promise<Solution[]> {
    const client = this.server.running;
    if (parent !== undefined || this.query === "" || client === undefined) {
      return [];
    }
    const params = { command: "stet.memory.search", arguments: [{ query: this.query, limit: MOST }] };
    const found = (await client.sendRequest(protocol().ExecuteCommandRequest.type, params)) as {
      solutions: Solution[];
      available: boolean;
    };
    const none = found.available ? `Nothing remembered fits “${this.query}”.` : "The memory is off or cannot be read.";
    this.view.message = found.solutions.length > 0 ? undefined : none;
    return found.solutions;
  }

  async search(): Promise<void> {
    const prompt = "Words, or code that a solution is like";
    const query = await vscode.window.showInputBox({ title: "Stet: Search Memory", prompt, value: this.query });
    if (query !== undefined) {
      this.query = query.trim();
      this.view.description = this.query;
      this.changed.fire();
      await vscode.commands.executeCommand("stet.memory.focus");
    }
  }

  async show(solution: Solution): Promise<void> {
    const { code: content, language } = solution;
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language }), { preview: true });
  }

  async forget(solution: Solution): Promise<void> {
    const text = `Forget “${solution.instruction}”? It is removed from the memory and cannot be restored.`;
    const choice = await vscode.window.showWarningMessage(text, { modal: true }, "Forget");
    if (choice !== undefined) {
      const params = { command: "stet.memory.forget", arguments: [{ id: solution.id }] };
      await this.server.running?.sendRequest(protocol().ExecuteCommandRequest.type, params);
      this.changed.fire();
    }
  }
}
