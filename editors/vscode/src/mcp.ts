/** Offers the server's MCP tools to the agents of VS Code, where it has that interface (1.101 and later). */
import * as vscode from "vscode";
import type { Server } from "./server/server";

/** The part of VS Code's interface for MCP servers that is used here; the types of the oldest supported one lack it. */
interface Definition {
  env: Record<string, string | number | null>;
}
interface Host {
  readonly lm?: { registerMcpServerDefinitionProvider?: (id: string, provider: object) => vscode.Disposable };
  readonly McpStdioServerDefinition?: new (label: string, command: string, args: string[]) => Definition;
}

/** Registers the server that was found as `stet mcp`; nothing if VS Code has no such interface. */
export function offerMcp(server: Server, variables: () => Promise<Record<string, string | null>>): vscode.Disposable[] {
  const { lm, McpStdioServerDefinition: Stdio } = vscode as unknown as Host;
  if (lm?.registerMcpServerDefinitionProvider === undefined || Stdio === undefined) {
    return [];
  }
  const changed = new vscode.EventEmitter<void>();
  const provider = {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: (): Definition[] => {
      const [command, ...args] = mcpCommand(server.command);
      return command === undefined ? [] : [new Stdio("Stet", command, args)];
    },
    // VS Code keeps what is provided on disk; a key is added to what it starts only.
    resolveMcpServerDefinition: async (definition: Definition): Promise<Definition> => {
      definition.env = await variables();
      return definition;
    },
  };
  try {
    return [changed, server.onDidChange(() => changed.fire()), lm.registerMcpServerDefinitionProvider("stet", provider)];
  } catch {
    return []; // 1.100 has the function, but not for extensions of everybody
  }
}

/** The command that starts the language server, for the MCP server instead. */
export function mcpCommand(command: readonly string[]): string[] {
  const end = command.findIndex((word) => word === "--stdio" || word === "serve");
  const program = end < 0 ? command : command.slice(0, end);
  return program.length === 0 ? [] : [...program, "mcp"];
}
