"""docs/messages.md and docs/message-parts.md: every message that a user can see, and its parts, by folder."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from pages.example_values import EXAMPLES, OF_FILE
from pages.message_table import Message, messages
from stet_ls.validators.ast_text import parse_module

_ROOT = Path(__file__).resolve().parents[2]

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_SENTENCE = re.compile(r"[A-Z].*[.!?:)}]|[`{_#].*[.!?_]", re.S)
_OF = re.compile(r" of \{(?:tried|enabled|count|compared|units)\}| %")
_COUNTED = frozenset({"MB", "s", "files", "targets", "calls", "inputs", "tests", "lines", "more", "times", "secrets"})
"""Words that follow a number."""
_UNKNOWN = "\0"
"""In place of a value that no table has."""
_ODD = (
    re.compile(r"(?<![\w.])(\w+(?: \w+)?)[`(]* \1(?![\w.])"),  # "4 tests pass tests pass"
    re.compile(r"``|\(\)|: \.|\bno (?:\w+ )?not\b|[.:] and\b"),
    re.compile(r"\d of (?!them|the)\D"),
)
_KINDS = {"text": "message"}
_Fragments = Mapping[tuple[str, str], str]


def _folder(message: Message) -> str:
    return message.path.rpartition("/")[0]


def messages_page() -> str:
    """The page of whole messages, from the literals in the code."""
    folders = "\n".join(filter(None, (_folder_of_messages(*each) for each in _by_folder())))
    return f"""\
# Messages

This page is generated from the code by `python tests/pages`: each message that a person can see, by the
folder whose code says it. Placeholders are in braces; the example fills them in. What messages are put together from is
in [Parts of messages](message-parts.md).

{folders}"""


def parts_page() -> str:
    """The page of texts that are no sentences alone."""
    folders = "\n".join(filter(None, (_folder_of_parts(*each) for each in _by_folder())))
    return f"""\
# Parts of messages

This page is generated from the code by `python tests/pages`: the texts that [messages](messages.md) and reports are put
together from, by folder and file. Where a part belongs to one message, the example is that message.

{folders}"""


def _by_folder() -> Iterator[tuple[str, list[Message]]]:
    whole = (each for each in messages(_ROOT) if each.kind != "text" or len(each.text.split()) > 2)
    return ((folder, list(found)) for folder, found in groupby(sorted(whole, key=_folder), key=_folder))


def _folder_of_messages(folder: str, found: list[Message]) -> str:
    table = _sentences([each for each in found if not _is_part(each)], first_fragments(found))
    return f"## `{folder}`\n\n{_purpose(_ROOT / folder / '__init__.py')}\n\n{table}" if table else ""


def _folder_of_parts(folder: str, found: list[Message]) -> str:
    parts = [each for each in found if _is_part(each)]
    table = _parts(parts, [each for each in found if not _is_part(each)], first_fragments(found))
    return f"## `{folder}`\n\n{table}" if table else ""


def first_fragments(found: list[Message]) -> dict[tuple[str, str], str]:
    """The first part of a message that each variable holds, by its file and name."""
    return {(each.path, each.name): each.text for each in reversed(found) if each.name and _is_part(each)}


def _is_part(message: Message) -> bool:
    return message.kind == "text" and _SENTENCE.fullmatch(message.text) is None


def _purpose(file: Path) -> str:
    return (ast.get_docstring(parse_module(file.read_text("utf-8"))) or "").partition("\n")[0]


def _sentences(found: list[Message], fragments: _Fragments) -> str:
    rows = dict.fromkeys(
        f"| {_KINDS.get(each.kind, each.kind)} | {_cell(each.text)} | {_cell(example(each, fragments))} |\n"
        for each in found
    )
    return f"| kind | message | example |\n|---|---|---|\n{''.join(rows)}" if rows else ""


def _parts(found: list[Message], sentences: list[Message], fragments: _Fragments) -> str:
    """The parts by file, each with the message that has a place for it if there is one."""
    rows = []
    for path, parts in groupby(found, key=lambda each: each.path):
        own = [each for each in sentences if each.path == path]
        shown = dict.fromkeys(
            f"{_cell(each.text)} | {_cell(_in_its_message(each, own, fragments))} |\n" for each in parts
        )
        first = f"`{Path(path).name}`"
        rows += [f"| {'' if number else first} | {row}" for number, row in enumerate(shown)]
    return f"| file | part of a message | example |\n|---|---|---|\n{''.join(rows)}" if rows else ""


def _in_its_message(part: Message, sentences: list[Message], fragments: _Fragments) -> str:
    for each in sentences:
        if part.name and f"{{{part.name}}}" in each.text:
            return example(each, {**fragments, (part.path, part.name): part.text})
    return example(part, fragments)


def example(message: Message, fragments: _Fragments) -> str:
    """The message as it may appear; nothing if that would repeat it or show values that do not go together."""
    filled = _filled(message.text, message.path, fragments)
    shown = f"{message.kind}: {filled}" if message.kind in ("error", "warning") else filled
    return "" if shown == message.text or is_odd(message.text, filled) else shown


def is_odd(text: str, filled: str) -> bool:
    """Whether an example lacks a value, or shows words twice or a gap."""
    return _UNKNOWN in filled or any(pattern.search(filled) and not pattern.search(text) for pattern in _ODD)


def _fitting(value: str, name: str, before: str, after: str) -> str:
    """The value, or another where the words around it need a number or a text."""
    word = re.sub(r"[^\w].*", "", after[1:], flags=re.S) if after.startswith(" ") else ""
    word = "" if after.startswith(" more than") else word
    is_number = value[:1].isdigit()
    if not is_number and value and (word in _COUNTED or (word == name and name.endswith("s")) or _OF.match(after)):
        return "3"
    if is_number and before.endswith(('"', "`")):
        return "return total"
    return "" if is_number and not before and after.startswith("`") else value


def _filled(text: str, path: str, fragments: _Fragments) -> str:
    """The text with values: fragments of the same file first, then the table's."""

    def value(match: re.Match[str]) -> str:
        name, before = match[1], text[: match.start()]
        fragment = fragments.get((path, name))
        if fragment is not None and fragment != text and name not in OF_FILE.get(path, {}):
            others = {key: each for key, each in fragments.items() if key != (path, name)}
            shown = _filled(fragment, path, others)
        else:
            shown = OF_FILE.get(path, EXAMPLES).get(name) or EXAMPLES.get(name, _UNKNOWN)
            shown = _fitting(shown, name, before, text[match.end() :])
        is_closed = before.endswith("`") and before.count("`") % 2 == 0
        gap = " " if shown[:1].isalnum() and (is_closed or re.search(r"[\w)}\]]$", before)) else ""
        shown = shown[:1].upper() + shown[1:] if before.endswith(". ") else shown
        return f"{gap}{shown}"

    return _PLACEHOLDER.sub(value, text)


def _cell(text: str) -> str:
    return re.sub(r"\s*\n\s*", " / ", text).replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")
