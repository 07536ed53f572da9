"""Marks sentences that name something not in the code, or claim an error without evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stet_ls.engine.actions.prose.language_table import for_language

MARK = "(unverified: {})"
_CLAIMS = re.compile(r"(?i)\b(?:raise[sd]?|throws?|thrown)\b")
_FAULT = re.compile(r"(?i)(?:error|exception)s?\b")
_DENIES = re.compile(r"(?i)n[o']t\b|\b(?:no|never|without)\b")
_SPAN = re.compile(r"(?<!`)`(?P<code>[^`\n]+)`(?!`)")
_NAME = re.compile(r"(?P<names>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)(?:\(.*\))?")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_END = re.compile(r"[.!?](?=\s|$)")
_EVERYWHERE = frozenset(
    {"true", "false", "null", "nil", "None", "True", "False", "undefined", "this", "self", "void", "int", "float"}
)


def mark_unknown(text: str, code: str, language: str, *, silent: bool = False) -> tuple[str, int]:
    """The text with a mark after each sentence that names, as code, a name not in `code`; and the number of marks.

    If the code and its examples raise nothing (`silent`), claims that an error is raised are marked too.
    Names that the language provides are known as well, if its row has them. Code blocks are not changed.
    """
    known = frozenset(_WORD.findall(code)) | _EVERYWHERE | for_language(language).words()
    lines: list[str] = []
    count, fence = 0, ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and not line.lstrip().startswith(">>>"):
            line, found = _marked(line, known, silent)  # noqa: PLW2901 - the line as it is written
            count += found
        lines.append(line)
    return "\n".join(lines), count


def _marked(line: str, known: frozenset[str], silent: bool) -> tuple[str, int]:
    pieces: list[str] = []
    at = count = 0
    for start, end in _sentences(line):
        names = [name for name in _names(line[start:end]) if not known.issuperset(name.split("."))]
        unknown = dict.fromkeys(f"`{name}`" for name in names)
        problem = f"{', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} not in the code" if unknown else ""
        if not problem and silent and _claims(line[start:end]):
            problem = "the code raises nothing, and neither did the examples"
        if problem:
            pieces += [line[at:end].rstrip(), " ", MARK.format(problem)]
            at, count = end, count + 1
    return "".join([*pieces, line[at:]]), count


def _claims(sentence: str) -> bool:
    """True if the sentence says that an error is raised."""
    return bool(_CLAIMS.search(sentence) and _FAULT.search(sentence)) and not _DENIES.search(sentence)


def _sentences(line: str) -> Iterator[tuple[int, int]]:
    """The sentences of a line; punctuation within code does not end a sentence."""
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
