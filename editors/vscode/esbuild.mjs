// One file for the editor: the language client and our code, without the editor's own API.
import { build } from "esbuild";

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  minify: true,
  format: "cjs",
  platform: "node",
  target: "node20",
  external: ["vscode"],
});
