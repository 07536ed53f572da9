/** The server's questions. VS Code hides their notifications after some seconds, while a job waits for the answer. */
import * as vscode from "vscode";
import type { MessageActionItem, ShowMessageRequestParams } from "vscode-languageclient/node";
import { pause } from "./progress";

/** The types of messages of the protocol (https://microsoft.github.io/language-server-protocol, MessageType). */
const [ERROR, WARNING] = [1, 2];

export class Questions implements vscode.Disposable {
  private readonly open = new Set<symbol>();
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fired when a question begins or ends to wait. */
  readonly onDidChange = this.changed.event;

  /** The number of questions that wait. */
  get waiting(): number {
    return this.open.size;
  }

  dispose(): void {
    this.changed.dispose();
  }

  /** Handles `window/showMessageRequest`: the button that the user presses, null for a dismissed notification. */
  async ask({ type, message, actions }: ShowMessageRequestParams): Promise<MessageActionItem | null> {
    const { showErrorMessage, showInformationMessage, showWarningMessage } = vscode.window;
    const ask = type === ERROR ? showErrorMessage : type === WARNING ? showWarningMessage : showInformationMessage;
    const question = Symbol(message);
    this.open.add(question);
    this.tell();
    try {
      return (await ask<MessageActionItem>(message, ...(actions ?? []))) ?? null;
    } finally {
      this.open.delete(question);
      this.tell();
    }
  }

  /** The server ended: no job waits for the answers. */
  drop(): void {
    this.open.clear();
    this.tell();
  }

  /** Shows the questions, hidden ones too. */
  show(): Thenable<unknown> {
    return vscode.commands.executeCommand("notifications.showList");
  }

  private tell(): void {
    pause(this.open.size > 0 ? "waiting for your answer" : "");
    this.changed.fire();
  }
}
