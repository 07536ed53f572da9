"""The form of imports in JavaScript and TypeScript."""

from __future__ import annotations

import re

from stet_ls.engine.reply.languages.import_form import Import, ImportForm, whole

_SCRIPT = re.compile(
    r"^import\s+(?P<type>type\s+)?(?:(?P<default>[\w$]+)\s*,?\s*)?(?:\{(?P<names>[^{}]*)\}\s*|\*\s*as\s+(?P<all>[\w$]+)\s*)?"
    r"from\s*(?P<module>['\"][^'\"]*['\"])\s*(?P<end>;?)$"
)
_REQUIRE = re.compile(r"^(?:const|let|var)\s+(?P<name>[\w$]+)\s*=\s*require\b")


def _read(statement: str) -> list[Import]:
    match = _SCRIPT.match(statement.strip())
    if match is None:
        required = _REQUIRE.match(statement.strip())
        return whole(statement, required["name"] if required else "")
    module, end, kind = match["module"], match["end"], match["type"] or ""
    head = f"import {kind}"
    group = f"{head}@ from {module}{end}"
    path = module.strip("'\"")
    found = []
    if name := match["default"]:
        text = f"{head}{name} from {module}{end}"
        found.append(Import((path, "default", name), name, text, text))
    if name := match["all"]:
        text = f"{head}* as {name} from {module}{end}"
        found.append(Import((path, "*", name), name, text, text))
    for part in (match["names"] or "").split(","):
        if words := part.split():
            name = " ".join(words)
            found.append(Import((path, "named", name), words[-1], group, group.replace("@", f"{{ {name} }}"), name))
    return found or whole(statement)


def _write(imports: list[Import]) -> str:
    if not imports[0].name:
        return imports[0].text
    return imports[0].group.replace("@", f"{{ {', '.join(one.name for one in imports)} }}")


IMPORTS = ImportForm(_read, _write)
