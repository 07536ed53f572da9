/** Asks for an instruction: an input box that names the target, is filled with what stands there, and knows the past. */
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { Action, JobArgument } from "./actions";
import { protocol } from "./protocol";

const KEPT = 20;

/** What the server says that an action would work on; lines from 0. */
export interface Target {
  readonly unit: string | null;
  readonly first: number | null;
  readonly last: number | null;
  readonly instruction: string;
}

/** The box that is open, for the keys of the history. */
let open: { readonly older: () => void; readonly newer: () => void } | undefined;

export const older = (): void => open?.older();
export const newer = (): void => open?.newer();

/** What the action would work on; undefined if the server cannot tell. */
export async function targetOf(client: LanguageClient, argument: JobArgument): Promise<Target | undefined> {
  const { uri, range, position } = argument;
  try {
    const params = { command: "stet.target", arguments: [{ uri, range, position }] };
    return (await client.sendRequest(protocol().ExecuteCommandRequest.type, params)) as Target;
  } catch {
    return undefined; // an older server, or a document that it does not have
  }
}

/** The instruction; undefined after Escape. */
export async function instructionFor(
  context: vscode.ExtensionContext,
  action: Action,
  target: Target | undefined,
  selected: string,
): Promise<string | undefined> {
  const key = `history.${action.name}`;
  const past = context.globalState.get<string[]>(key, []);
  const given = await ask(`Stet: ${action.title}${named(target)}`, action, target?.instruction || commentIn(selected), past);
  if (given) {
    await context.globalState.update(key, [given, ...past.filter((each) => each !== given)].slice(0, KEPT));
  }
  return given;
}

/** " — `shipping`, lines 23–43" */
export function named(target: Target | undefined): string {
  if (target === undefined || target.first === null || target.last === null) {
    return "";
  }
  const [first, last] = [target.first + 1, target.last + 1];
  const lines = first === last ? `line ${first}` : `lines ${first}–${last}`;
  return ` — ${target.unit === null ? "" : `\`${target.unit}\`, `}${lines}`;
}

function ask(title: string, action: Action, value: string, past: readonly string[]): Promise<string | undefined> {
  const box = vscode.window.createInputBox();
  const prompt = past.length === 0 ? action.prompt : `${action.prompt} ↑ earlier instructions.`;
  Object.assign(box, { title, value, placeholder: past[0] === undefined ? "" : `such as: ${past[0]}`, prompt });
  let at = -1;
  const move = (by: number): void => {
    at = Math.min(Math.max(at + by, -1), past.length - 1);
    box.value = at === -1 ? value : (past[at] ?? value);
  };
  open = { older: () => move(1), newer: () => move(-1) };
  void vscode.commands.executeCommand("setContext", "stet.asking", true);
  return new Promise((resolve) => {
    box.onDidAccept(() => {
      if (action.needs === true && box.value.trim() === "") {
        box.validationMessage = "An instruction is needed.";
        return;
      }
      resolve(box.value.trim());
      box.hide();
    });
    box.onDidChangeValue(() => (box.validationMessage = undefined));
    box.onDidHide(() => {
      open = undefined;
      void vscode.commands.executeCommand("setContext", "stet.asking", false);
      box.dispose();
      resolve(undefined);
    });
    box.show();
  });
}

/** The words of a selection that is nothing but a comment. */
function commentIn(selected: string): string {
  const lines = selected.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const words = lines.map((line) => /^(?:#|\/\/|--|;|%|\*|\/\*+)\s?(.*?)(?:\*\/)?$/.exec(line)?.[1]);
  return words.every((each) => each !== undefined) ? words.join(" ").trim() : "";
}
