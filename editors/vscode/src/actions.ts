/** The actions in the order of their use, with the question that each asks. */

export interface Action {
  readonly name: string;
  readonly title: string;
  /** The prompt of the input box; without it the action starts at once. */
  readonly prompt?: string;
  /** Whether it cannot go without an instruction. */
  readonly needs?: boolean;
  /** Whether the light bulb asks, too, if no `stet:` comment says what is wanted. */
  readonly asksInMenu?: boolean;
  /** Whether it is started by its name, as the actions of users, packages and projects are. */
  readonly custom?: boolean;
}

export const TASK: Action = { name: "task", title: "Do a Task", prompt: "What should be done?", needs: true, asksInMenu: true };

export const ACTIONS: readonly Action[] = [
  { name: "debug", title: "Fix", prompt: "What is wrong? (empty: the diagnostics at the cursor)" },
  { name: "refactor", title: "Refactor", prompt: "How? (empty: clearer, same behavior)" },
  { name: "test", title: "Write Tests" },
  { name: "explain", title: "Explain" },
  { name: "generate", title: "Generate", prompt: "What should be written? (empty: the comment or docstring at the cursor)", asksInMenu: true },
  { name: "document", title: "Document", custom: true },
  { name: "optimize", title: "Optimize", prompt: "For what? (empty: speed)" },
  { name: "analyze", title: "Analyze" },
  TASK,
];

/** The argument of the server's commands that start a job. */
export interface JobArgument {
  readonly uri?: string;
  readonly action?: string;
  readonly instruction?: string;
  readonly [field: string]: unknown;
}

/** The action behind a command of the server (`stet.refactor`, or `stet.custom` with a name). */
export function actionOf(command: string, argument: JobArgument | undefined): Action | undefined {
  const name = command === "stet.custom" ? argument?.action : command.replace(/^stet\./, "");
  const known = ACTIONS.find((action) => action.name === name);
  return known ?? (command === "stet.custom" && name !== undefined ? { name, title: name, custom: true } : undefined);
}

/** The server's command for an action. */
export function commandOf(action: Action, argument: JobArgument): [command: string, argument: JobArgument] {
  return action.custom ? ["stet.custom", { ...argument, action: action.name }] : [`stet.${action.name}`, argument];
}
