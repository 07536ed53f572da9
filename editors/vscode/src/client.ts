/** The language client, a file of its own in the extension: read when it is first used. */
export * from "vscode-languageclient/node";
