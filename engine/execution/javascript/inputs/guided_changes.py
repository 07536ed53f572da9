"""Changes JavaScript calls to reach what the first inputs left unexecuted; see `inputs/coverage_guided.py`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.coverage_guided import LiteralValues, with_text
from stet_ls.engine.execution.inputs.mutations import text_of
from stet_ls.engine.execution.javascript.inputs.values.conversion import NotAValueError, source, value_of
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import part_of
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import text_of as text_of_node
from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import tree_of

if TYPE_CHECKING:
    import tree_sitter


ASKS_KINDS = re.compile(r"\b(?:typeof|instanceof|isArray|null|undefined|is(?:NaN|Integer|Finite))\b|\?[.?]")
"""Code that distinguishes kinds. Other code turns a wrong kind into nonsense, and any change shows."""


def changed_call(
    call: Call, values: LiteralValues, *, is_open: bool, fixed: Collection[str] = (), keeps_keys: bool = False
) -> Call | None:
    """The call with some of its arguments changed, to other kinds too if `is_open`; None if none is a literal.

    Variables whose names are `fixed` keep their values. With `keeps_keys`, records get no keys that their types lack.
    """
    written = call.setup or call.body  # a sequence of calls on an object has no setup
    parsed = tree_of(Source(written), "typescriptreact")
    if parsed is None:
        return None
    made = parsed.data
    for node, value in reversed(list(argument_literals(parsed.root))):
        if values.random.random() < 0.3 or _variable(node) in fixed:
            continue
        new = values.instead(value, call) if is_open else values.like(value)
        if isinstance(new, bytes) or (keeps_keys and _has_other_keys(value, new)):
            continue
        text = source(text_of(new))
        made = made[: node.start_byte] + text.encode() + made[node.end_byte :]
    text = made.decode("utf-8", "replace").removesuffix("\n")
    return None if text == written else with_text(call, text)


def _has_other_keys(old: Any, new: Any) -> bool:
    """Whether a record, or one in a list, has a key that the types do not name."""
    if isinstance(old, dict) and isinstance(new, dict):
        return bool(new.keys() - old.keys()) or any(_has_other_keys(old[key], part) for key, part in new.items())
    if isinstance(old, list) and isinstance(new, list) and old:
        return any(_has_other_keys(old[0], part) for part in new)
    return False


def _variable(node: tree_sitter.Node) -> str:
    """The name of the variable that an expression is bound to; "" for any other."""
    holder = node.parent if node.parent is not None and node.parent.type == "variable_declarator" else None
    return text_of_node(part_of(holder, "name"))


def argument_literals(root: tree_sitter.Node) -> Iterator[tuple[tree_sitter.Node, Any]]:
    """The literals that are bound or passed, the outermost of each, in order."""
    pending = [(root, False)]
    while pending:
        node, is_given = pending.pop()
        if is_given:
            try:
                yield node, value_of(node)
                continue
            except NotAValueError:
                pass
        named = node.child_by_field_name("value") if node.type == "variable_declarator" else None
        pending += [(each, node.type == "arguments" or each == named) for each in reversed(node.named_children)]
