"""Builds a file that runs calls on an old and a new text in Node; `python_attachment.py` does so for Python."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from stet_ls.engine.api.evidence import Attachment
from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.judges.attachments import fitting

_HEAD = """\
// {title}
//
// Run this file with Node 18 or newer, in the folder of the code if that imports from it. It runs the code on your
// machine without a sandbox: read it first. For a moment it writes the two texts next to itself.

import fs from "node:fs";
import path from "node:path";
import {{ createRequire }} from "node:module";
import {{ pathToFileURL }} from "node:url";
import {{ inspect }} from "node:util";

// Setup, call, the names whose values count afterwards, and whether its input was called before.
const CALLS = [
{calls}];

const isModule = (text) => /^\\s*(?:import\\b(?!\\s*\\()|export\\b)/m.test(text);
const shown = (value) => inspect(value, {{ depth: 20, sorted: true, maxArrayLength: 1000 }});

async function load(text) {{
  const file = path.resolve(`.stet-${{process.pid}}-${{Math.random().toString(36).slice(2)}}.mjs`);
  if (isModule(text)) {{
    fs.writeFileSync(file, text);
    try {{
      await import(pathToFileURL(file).href);
    }} finally {{
      fs.unlinkSync(file);
    }}
  }} else {{
    const module = {{ exports: {{}} }};
    new Function("require", "module", "exports", text)(createRequire(file), module, module.exports);
  }}
  return globalThis.__stet__;
}}

// Everything that a caller could notice.
async function outcome(space, setup, call, names) {{
  const results = [], printed = [], waiting = [], log = console.log;
  let variables = () => ({{}});
  console.log = (...given) => void printed.push(given.map(shown).join(" "));
  const out = (value) => {{
    if (typeof value?.then === "function") waiting.push(value.then((each) => results.push(shown(each))));
    else results.push(shown(value));
  }};
  try {{
    const body = `with (__space__) {{ ${{setup}}\\n__vars__(() => ({{ ${{names.join(", ")}} }}));\\n${{call}}\\n}}`;
    new Function("__space__", "__out__", "__vars__", body)(space, out, (each) => {{ variables = each; }});
    await Promise.all(waiting);
  }} catch (error) {{
    results.push(`throws ${{error?.name}}: ${{error?.message}}`);
  }} finally {{
    console.log = log;
  }}
  let after = "";
  try {{
    after = shown(variables());
  }} catch {{
    after = "";
  }}
  return {{ results, after, printed }};
}}

async function main() {{
  const [before, after] = [await load(OLD), await load(NEW)];
  let differ = 0;
  for (const [setup, call, names] of CALLS) {{
    const was = await outcome(before, setup, call, names), now = await outcome(after, setup, call, names);
    if (shown(was) === shown(now)) continue;
    differ += 1;
    console.log(`${{setup}}\\n${{call}}`.trim(), "\\nwas:", was, "\\nnow:", now, "\\n");
  }}
  const again = CALLS.filter((call) => call[3]).length, inputs = CALLS.length - again;
  const of = again && inputs ? ` (${{inputs}} inputs, ${{again}} of them called again)` : "";
  console.log(`${{differ}} of ${{CALLS.length}} calls differ${{of}}`);
  process.exitCode = differ ? 1 : 0;
}}

const OLD = {old};

const NEW = {new};

await main();
"""


def comparison(name: str, title: str, texts: tuple[str, str], calls: Sequence[Call]) -> Attachment | None:
    """A file that runs calls on an old and a new text and prints where they differ; its exit status is 1 if any do.

    Holds as many calls as fit into an attachment; None if not even one does because the texts are too long. `texts` end
    with the line that exposes their contents.
    """
    rows = [
        f"  [{json.dumps(call.setup)}, {json.dumps(call.body)}, {json.dumps(call.names)}, {json.dumps(call.again)}],\n"
        for call in calls
    ]
    old, new = map(_literal, texts)
    listed = fitting(rows, title, _HEAD, old, new)
    if listed is None:
        return None
    text = _HEAD.format(title=" ".join(listed.title.split()), calls=listed.rows, old=old, new=new)
    return Attachment.of(f"{name}.mjs", "javascript", text)


def _literal(text: str) -> str:
    """A text as a readable literal."""
    escaped = re.sub(r"[\\`]|\$(?=\{)", r"\\\g<0>", text).replace("\r", "\\r").replace("\0", "\\0")
    return f"String(`\\\n{escaped}`)"
