/** The languages whose errors this VS Code reports without Stet, so that no error is underlined twice. */
import * as vscode from "vscode";

/** Extensions that report syntax errors, VS Code's own first, with their languages. */
const REPORTERS: Readonly<Record<string, readonly string[]>> = {
  "vscode.typescript-language-features": ["javascript", "javascriptreact", "typescript", "typescriptreact"],
  "vscode.json-language-features": ["json", "jsonc"],
  "vscode.css-language-features": ["css", "scss", "less"],
  "ms-python.vscode-pylance": ["python"],
  "ms-pyright.pyright": ["python"],
  "charliermarsh.ruff": ["python"],
  "golang.go": ["go"],
  "rust-lang.rust-analyzer": ["rust"],
  "redhat.java": ["java"],
  "ms-vscode.cpptools": ["c", "cpp"],
  "llvm-vs-code-extensions.vscode-clangd": ["c", "cpp"],
  "ms-dotnettools.csharp": ["csharp"],
  "redhat.vscode-yaml": ["yaml"],
  "tamasfe.even-better-toml": ["toml"],
  "shopify.ruby-lsp": ["ruby"],
  "bmewburn.vscode-intelephense-client": ["php"],
};

/** The languages of all enabled extensions in the table. The server detects others by the errors that they report. */
export function diagnosed(): string[] {
  const present = Object.entries(REPORTERS).filter(([id]) => vscode.extensions.getExtension(id) !== undefined);
  return [...new Set(present.flatMap(([, languages]) => languages))];
}
