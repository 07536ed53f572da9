"""Code that swallows every error: it hides bugs instead of fixing them.

except Exception:                              } catch {
    return None                                  return null;
                                               }
with contextlib.suppress(Exception): ...       load().catch(() => null)

A handler that raises, uses the error or logs hides nothing, nor does a handler for specific errors.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from stet_ls.validators.ast_text import try_parse, unparse
from stet_ls.validators.parsing.grammars import NoGrammarError
from stet_ls.validators.parsing.parse import DeadlineError, parse
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source

if TYPE_CHECKING:
    import tree_sitter

_BROAD = ("Exception", "BaseException")
_LOGS = re.compile(
    r"exception|error|log|critical|warn(?:ing)?|fatal|(?:print|format)_exc|exc_info|capture_?exception|reject",
    re.IGNORECASE,
)
"""Calls that report an error, by the last part of their name."""
_NAMES = frozenset({"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"})


def in_python(source: Source, language: str) -> tuple[str, ...]:
    """The places of a Python text that hide errors of every kind, each as it is written."""
    return _in_python(source.text)


def in_script(source: Source, language: str) -> tuple[str, ...]:
    """The places of a JavaScript or TypeScript text that hide errors of every kind; () if it cannot be parsed."""
    if "catch" not in source.text:
        return ()
    try:
        return tuple(_in_script(parse(source, language)))
    except (NoGrammarError, DeadlineError):
        return ()


@lru_cache(maxsize=8)
def _in_python(text: str) -> tuple[str, ...]:
    return tuple(_hiding(text))


def _hiding(text: str) -> Iterator[str]:
    if "except" not in text and "suppress" not in text:
        return
    tree = try_parse(text)
    if tree is None:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and _is_quiet(node):
            yield f"except {unparse(node.type)}"[:60] if node.type else "except:"
        elif isinstance(node, ast.Call) and _last(node.func) == "suppress" and any(map(_is_broad, node.args)):
            yield unparse(node)[:60]


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(map(_is_broad, caught.elts))
    return caught is None or _last(caught) in _BROAD


def _is_quiet(handler: ast.ExceptHandler) -> bool:
    """Whether it neither raises nor uses the error nor calls something that reports it."""
    inner = [node for statement in handler.body for node in ast.walk(statement)]
    return not any(
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Name) and node.id == handler.name)
        or (isinstance(node, ast.Call) and _LOGS.fullmatch(_last(node.func)))
        for node in inner
    )


def _last(node: ast.expr) -> str:
    """The last part of a dotted name, "" for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _in_script(parsed: Parsed) -> Iterator[str]:
    for node in _below(parsed.root):
        if node.type == "catch_clause" and _ignores(parsed, node, "parameter"):
            yield "catch"
        elif (handler := _handler(parsed, node)) and _ignores(parsed, handler, "parameters", "parameter"):
            yield ".catch"


def _handler(parsed: Parsed, call: tree_sitter.Node) -> tree_sitter.Node | None:
    """The function passed to a promise's `catch`; None if this is not such a call."""
    given = call.child_by_field_name("arguments") if call.type == "call_expression" else None
    if given is None or _called(parsed, call) != "catch":
        return None
    first = next(iter(given.named_children), None)
    return first if first is not None and first.type in ("arrow_function", "function_expression") else None


def _ignores(parsed: Parsed, handler: tree_sitter.Node, *fields: str) -> bool:
    """Whether its body neither throws nor uses its argument nor calls something that reports it."""
    body = handler.child_by_field_name("body")
    if body is None:
        return False
    given = [node for field in fields if (node := handler.child_by_field_name(field)) is not None]
    names = {parsed.text(node) for each in given for node in _below(each) if node.type in _NAMES}
    return not any(
        node.type == "throw_statement"
        or (node.type in _NAMES and parsed.text(node) in names)
        or (node.type == "call_expression" and _LOGS.fullmatch(_called(parsed, node)))
        for node in _below(body)
    )


def _called(parsed: Parsed, call: tree_sitter.Node) -> str:
    """The last part of the called name, "" if it has none."""
    function = call.child_by_field_name("function")
    named = function and (function.child_by_field_name("property") or function)
    return parsed.text(named) if named is not None and "identifier" in named.type else ""


def _below(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The node and all of its descendants, in the text's order."""
    pending = [node]
    while pending:
        yield (each := pending.pop())
        pending += reversed(each.children)
