"""Sentences that name what the code does not have: a reader should not look for it."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Iterator

MARK = "(unverified: {} not in the code)"
_SPAN = re.compile(r"(?<!`)`(?P<code>[^`\n]+)`(?!`)")
_NAME = re.compile(r"(?P<names>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)(?:\(.*\))?")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_END = re.compile(r"[.!?](?=\s|$)")
_EVERYWHERE = frozenset(
    {"true", "false", "null", "nil", "None", "True", "False", "undefined", "this", "self", "void", "int", "float"}
)
_TYPES = (str, bytes, int, float, complex, list, tuple, dict, set, frozenset, BaseException, type(iter("")))


def mark_unknown(text: str, code: str, language: str) -> tuple[str, int]:
    """The text with a mark behind each sentence that names, as code, what `code` has nowhere; how many there were.

    What the language brings along is known for Python: its builtins, keywords, modules and the methods of its types.
    Code blocks stay as they are.
    """
    known = frozenset(_WORD.findall(code)) | _EVERYWHERE | (_python() if language == "python" else frozenset())
    lines: list[str] = []
    count, fence = 0, ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and not line.lstrip().startswith(">>>"):
            line, found = _marked(line, known)  # noqa: PLW2901 - the line as it is written
            count += found
        lines.append(line)
    return "\n".join(lines), count


def _marked(line: str, known: frozenset[str]) -> tuple[str, int]:
    pieces: list[str] = []
    at = count = 0
    for start, end in _sentences(line):
        unknown = dict.fromkeys(f"`{name}`" for name in _names(line[start:end]) if not _is_known(name, known))
        if unknown:
            verb = "is" if len(unknown) == 1 else "are"
            pieces += [line[at:end].rstrip(), " ", MARK.format(f"{', '.join(unknown)} {verb}")]
            at, count = end, count + 1
    return "".join([*pieces, line[at:]]), count


def _sentences(line: str) -> Iterator[tuple[int, int]]:
    """The sentences of a line; a mark of punctuation within code ends none."""
    spans = [(each.start(), each.end()) for each in _SPAN.finditer(line)]
    start = 0
    for end in _END.finditer(line):
        if not any(first <= end.start() < last for first, last in spans):
            yield start, end.end()
            start = end.end()
    if line[start:].strip():
        yield start, len(line)


def _names(sentence: str) -> Iterator[str]:
    for span in _SPAN.finditer(sentence):
        if name := _NAME.fullmatch(span["code"].strip()):
            yield name["names"]


def _is_known(name: str, known: frozenset[str]) -> bool:
    return all(part in known for part in name.split("."))


def _python() -> frozenset[str]:
    methods = (name for kind in _TYPES for name in dir(kind))
    return frozenset([*dir(builtins), *keyword.kwlist, *keyword.softkwlist, *sys.stdlib_module_names, *methods])
