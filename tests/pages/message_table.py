"""Every message that a user can see, read from the string literals of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stet_ls.validators.ast_text import parse_module

PACKAGES: Final = ("server", "engine", "validators")

NOT_FOR_PEOPLE: Final = {
    "server/cli/demo/sample/": "the demo's sample project",
    "engine/prompt/": "prompts for the model",
    "engine/model_probe/tasks.py": "prompts for the model",
    "engine/actions/computing/conversation.py": "prompts for the model",
    "engine/actions/computing/language_table.py": "prompts for the model",
    "engine/actions/generate_test_fix/languages/": "prompts for the model",
    "engine/actions/porting/conversation.py": "prompts for the model",
    "engine/actions/porting/language_table.py": "prompts for the model",
    "engine/inline_completion.py": "prompts for the model",
    "engine/job/example_calls.py": "prompts for the model",
    "engine/execution/python/inputs/": "generated code",
    "engine/execution/javascript/inputs/": "generated code",
    "engine/sandbox/inside/attack.py": "the sandbox's own test",
    "engine/sandbox/isolation_probe.py": "programs for the sandbox's own test",
    "engine/workspace/index_store.py": "SQL",
    "engine/reply/languages/": "generated code",
    "engine/privacy/secrets/": "patterns of secrets",
    "engine/judges/danger/risk_tables.py": "patterns of risky calls",
    "validators/language_table/rows.py": "names of languages, and node kinds of grammars",
    "validators/language_table/packed.py": "file names",
    "validators/structure/heuristic_units.py": "keywords",
    "validators/syntax/builtin_checks.py": "keywords",
}
"""Paths whose literals users never see, each with their kind."""

_PROMPTS: Final = frozenset({"instruction", "constraints", "purpose", "system", "rules", "question"})
_KINDS: Final = {
    "print_error": "error", "print_warning": "warning", "print_once": "error", "add_argument": "help",
    "add_parser": "help", "Option": "help", "CommandRow": "help", "Field": "setting", "setting": "setting",
    "debug": "log", "info": "log", "warning": "log", "error": "log", "exception": "log",
}  # fmt: skip
_REGEX: Final = re.compile(r"\(\?[:P!=<i]|\\[bwsdSAZ.(\[]|\[\^|\)\?|^\^|\$$|\|\w+\|")
_CODE: Final = re.compile(
    r"\n[ \t]+\w|\w\(\)|;\n|^(?:import|from|def|class|try|with|const|if|for) .*[:;({]|==| = |\{\{|=>|%\("
)
_PROSE: Final = re.compile(r"(?:^|[\s(`'\"])[A-Za-z][a-z']+,? (?:[a-z'-]+|`|\{)")


@dataclass(frozen=True)
class Message:
    """One message and its location in the code."""

    path: str
    """The file, relative to the project."""
    line: int
    """From 1."""
    kind: str
    """How it is shown: error, warning, help, setting, log or text."""
    text: str
    """With placeholders as `{name}`."""
    name: str = ""
    """The variable or the function whose value it is, "" for others: what other messages call its placeholder."""


def messages(root: Path) -> Iterator[Message]:
    """All messages of the three packages below `root`, file by file, in the order of their lines."""
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            if not path.startswith(tuple(NOT_FOR_PEOPLE)):
                yield from messages_in(path, file.read_text("utf-8"))


def messages_in(path: str, source: str) -> list[Message]:
    """The messages of one file."""
    found = _Literals(path)
    found.visit(parse_module(source))
    return sorted(found.messages, key=lambda each: each.line)


class _Literals(ast.NodeVisitor):
    """Collects literals that read like prose. Docstrings, asserts, patterns and prompts do not count."""

    def __init__(self, path: str) -> None:
        self.messages: list[Message] = []
        self._path = path
        self._kind = "text"
        self._name = ""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._as(node.name, node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._as(node.name, node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._as(_name(node.targets[0]) if len(node.targets) == 1 else "", node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._as("", node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Asserts are for developers."""

    def visit_Raise(self, node: ast.Raise) -> None:
        self._within("error", node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg in _PROMPTS:
            return
        self._within("help" if node.arg == "help" else self._kind, node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        owner = getattr(node.func.value, "id", "") if isinstance(node.func, ast.Attribute) else ""
        if owner == "re" or name in ("Prompt", "TaskSpec", "_kinds"):  # the last: node kinds of grammars
            return
        kind = _KINDS.get(name, self._kind)
        before, self._name = self._name, ""
        self._within(kind if kind != "log" or "log" in owner else self._kind, node)
        self._name = before

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._take(node.value, node.lineno)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._take(_text(node.values), node.lineno)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def _as(self, name: str, node: ast.AST) -> None:
        before, self._name = self._name, name.strip("_").lower()
        self.generic_visit(node)
        self._name = before

    def _within(self, kind: str, node: ast.AST) -> None:
        before, self._kind = self._kind, kind
        self.generic_visit(node)
        self._kind = before

    def _take(self, text: str, line: int) -> None:
        if _PROSE.search(text) and not _REGEX.search(text) and not _CODE.search(text):
            self.messages.append(Message(self._path, line, self._kind, text.strip(), self._name))


def _text(parts: list[ast.expr]) -> str:
    """A text with placeholders. The second of two different expressions of one name is `{name_2}`."""
    seen: dict[str, list[str]] = {}

    def number(part: ast.expr) -> str:
        text = _part(part)
        if not isinstance(part, ast.FormattedValue) or not text.startswith("{"):
            return text
        name, _, rest = text[1:].partition("}")
        same = seen.setdefault(name, [])
        if (expression := ast.dump(part.value)) not in same:
            same.append(expression)
        at = same.index(expression)
        return f"{{{name}_{at + 1}}}{rest}" if at else text

    return "".join(map(number, parts))


def _part(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.FormattedValue(value=ast.IfExp(body=ast.Constant(), orelse=ast.Constant(value=str(plural)))):
            return plural
        case ast.FormattedValue(
            value=ast.Call(func=ast.Name(id="plural"), args=[number, ast.Constant(value=str(noun))])
        ):
            return f"{{{_name(number)}}} {noun}s"
        case ast.FormattedValue(value=ast.Call(func=ast.Name(id="verb"), args=[ast.Constant(value=str(stem)), _])):
            return stem
    return f"{{{_name(node)}}}"


def _name(node: ast.AST) -> str:
    """The name of a placeholder: the first name that is neither a method nor a function."""
    match node:
        case ast.FormattedValue(value=value) | ast.Starred(value=value) | ast.Subscript(value=value):
            return _name(value)
        case ast.IfExp(body=body, orelse=orelse):
            return _name(orelse if isinstance(body, ast.Constant) else body)
        case ast.Call(func=ast.Attribute(value=ast.Constant()), args=[first, *_]) | ast.Call(args=[first, *_]):
            return _name(first)
        case ast.Call(func=ast.Attribute(value=value)) if not isinstance(value, ast.Constant):
            return _name(value)
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Call(func=ast.Name(id=name)):
            return name.strip("_").lower()
        case ast.BinOp(left=left, right=right):
            return _name(right if isinstance(left, ast.Constant) else left)
    return next((found for child in ast.iter_child_nodes(node) if (found := _name(child)) != "value"), "value")
