// Two files for the editor, without its own API: ours, read when it activates Stet, and the language client, read after that.
import { build } from "esbuild";

const shared = { bundle: true, minify: true, format: "cjs", platform: "node", target: "node20", outdir: "dist" };

await build({ ...shared, entryPoints: ["src/extension.ts"], external: ["vscode", "./client"] });
await build({ ...shared, entryPoints: ["src/client.ts"], external: ["vscode"] });
