"""The prose linter of `make check`: plain, short, American English wherever a person reads.

`python tests/prose.py` checks messages, docstrings, comments, names of tests, Markdown, the files of the build and the
editors' texts by a table. Exceptions stand in `tests/prose_exceptions.tsv`, each with its reason.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Flag, auto
from pathlib import Path
from typing import Final

from pages.message_table import PACKAGES, messages

ROOT: Final = Path(__file__).resolve().parents[1]
EXCEPTIONS: Final = ROOT / "tests" / "prose_exceptions.tsv"
MOST_WORDS: Final = 40
MOST_COLUMNS: Final = 160


class Where(Flag):
    """What a text is."""

    MESSAGE = auto()
    DOCSTRING = auto()
    PAGE = auto()
    EVERYWHERE = MESSAGE | DOCSTRING | PAGE


@dataclass(frozen=True)
class Rule:
    """A pattern that is not to appear, and what to write instead."""

    pattern: str
    instead: str
    reason: str
    where: Where = Where.EVERYWHERE


_SHOWN: Final = Where.MESSAGE | Where.PAGE
_RIDDLE: Final = "says less than the plain sentence"
_PERSON: Final = "programs are not persons"
_JARGON: Final = "a word of ours that no user knows"
_BRITISH: Final = "American spelling, as in the names of the field"

RULES: Final = (
    Rule(r"\b(?:some|no)body\b", "someone, no one, or the passive", _RIDDLE),
    Rule(r"no one (?:answered|is asked|has said|asked for)", "no response, not confirmed, not requested", _RIDDLE),
    Rule(r"\banew\b", "again, rebuilt", _RIDDLE),
    Rule(r"\boutweighs?\b", "overrides, takes precedence over", _RIDDLE),
    Rule(r", in words\b", "as text, or nothing", _RIDDLE),
    Rule(r"\bhas landed\b|\bedit landed\b", "was applied", _RIDDLE),
    Rule(r"is waited for", "waits for", "active voice"),
    Rule(r"is left alone|is left as it is", "is not changed", _RIDDLE, _SHOWN),
    Rule(r"came to (?:nothing|no \w+|something else)", "failed, has no …, differs", _RIDDLE, _SHOWN),
    Rule(r"did not come to an end|does not come to an end", "did not finish", _RIDDLE),
    Rule(r"without a word|said nothing|says nothing", "without output, no output", _PERSON, _SHOWN),
    Rule(r"\b(?:is|was|are|were|been|be) told\b", "is shown, is reported", _RIDDLE),
    Rule(r"(?<!could not )\btells?\b", "shows, reports", _PERSON, Where.MESSAGE),
    Rule(r"(?<!`)\bstood\b|\bdo not stand\b", "was kept, passed", _RIDDLE),
    Rule(r"what stands here", "what is available here", _RIDDLE),
    Rule(r"\bwants\b", "needs, expects, requires", _PERSON, Where.MESSAGE),
    Rule(r"busy machine keeps", "a busy machine delays", _PERSON),
    Rule(r"\bstart value\b", "default", _JARGON, _SHOWN),
    Rule(r"\bnoop\b(?!`)", "unchanged", _JARGON, _SHOWN),
    Rule(r"\bE[0-5]\b", "unchecked, parsed, self-tested, compared, equivalent, tested", _JARGON, Where.MESSAGE),
    Rule(r"\bvouch", "prove, guarantee", _RIDDLE),
    Rule(r"\b(?:edited|written|done|made) by hand\b", "manually", _RIDDLE, Where.MESSAGE),
    Rule(r"(?<![-\w/])(?<!message )(?<!input )(?<!text )box(?:es)?\b", "the sandbox", _JARGON, _SHOWN),
    Rule(r"\bcame into being\b", "was created", _RIDDLE),
    Rule(r"\bto its end\b", "finish", _RIDDLE, Where.MESSAGE),
    Rule(r"\bis no (?:\w+ )?(?:file|folder|path|text|number|JSON|function|process)\b", "is not a …", "plain negation"),
    Rule(r"\bbroke off\b", "is incomplete, stopped", _RIDDLE, Where.MESSAGE),
    Rule(r"\b(?:set|shown|counted|judged|kept|written|treated) apart\b(?! from)", "separately", _RIDDLE),
    Rule(r"(?<!set them )(?<!\btell )\bapart from\b", "except for, separate from", _RIDDLE),
    Rule(r"\b(?:go|goes|going|went) on\b", "continue", _RIDDLE),
    Rule(r"\bshall\b", "should, must, will", _RIDDLE),
    Rule(r"\bmend(?:s|ed|ing)?\b", "fix, update", _RIDDLE),
    Rule(r"\bfates?\b", "outcome", _RIDDLE),
    Rule(r"(?<![`:.])\bbeside\b(?!`)", "next to, with, besides", _RIDDLE),
    Rule(r"\b(?:within|beyond|out of|its|their) reach\b", "accessible, close enough, range", _RIDDLE),
    Rule(r"\bgiven up\b", "failed, stopped", _RIDDLE, Where.MESSAGE),
    Rule(r"\bwhoever\b", "the user, the caller", "names its subject"),
    Rule(r"\bbehaves? otherwise\b|\bcame out otherwise\b|\bends? otherwise\b", "differs", _RIDDLE, _SHOWN),
    Rule(r"\bput by\b|\bhad (?:here|where)\b", "stored, available", _RIDDLE, Where.MESSAGE),
    Rule(r"\bbehaviour", "behavior", _BRITISH),
    Rule(r"\b(?:colour|favour|honour|neighbour|labour)", "color, favor, …", _BRITISH),
    Rule(r"\b(?:recogni|organi|optimi|initiali|normali|summari|minimi|locali)s(?:e|es|ed|ing)\b", "-ize", _BRITISH),
    Rule(r"\b(?:label|model|travel)led\b|\bcentre\b|\blicence\b|\bcatalogue\b", "American form", _BRITISH),
    Rule(r"\b(?:error: error|warning: warning|Stet: Stet|stet: (?:error|warning))\b", "one prefix", "each fact once"),
    Rule(r"(?i)\bplease\b|\bsorry\b|\boops\b", "nothing", "messages are short", Where.MESSAGE),
)  # fmt: skip


@dataclass(frozen=True)
class Text:
    """Something that a person reads, and where it is."""

    path: str
    line: int
    where: Where
    text: str


def problems(text: Text) -> Iterator[str]:
    """What a text breaks, a sentence each."""
    shown = re.sub(r"\{\w*\}", "x", text.text)
    for rule in RULES:
        if text.where & rule.where and (found := re.search(rule.pattern, shown, re.IGNORECASE)):
            yield f'"{found[0]}": write {rule.instead} ({rule.reason})'
    if text.where is Where.DOCSTRING:
        return
    for sentence in re.split(r"(?<=[.!?])\s+|\n|; |: ", text.text):
        if (count := len(re.findall(r"[\w`{][^\s]*", sentence))) > MOST_WORDS:
            yield f"{count} words in a sentence, {MOST_WORDS} at most: split it"
    if text.where is Where.MESSAGE and max(map(len, text.text.splitlines() or [""])) > MOST_COLUMNS * 2:
        yield f"more than {MOST_COLUMNS * 2} characters in a message: the fact, then the way out"


def texts() -> Iterator[Text]:
    """Everything that is checked."""
    for each in messages(ROOT):
        yield Text(each.path, each.line, Where.MESSAGE, each.text)
    yield from _docstrings()
    yield from _pages()
    yield from build_texts(ROOT)
    yield from editor_texts(ROOT)


DATA: Final = ("tests/fixtures/", "tests/corpora/")
"""Code that tests read as data."""


def _docstrings() -> Iterator[Text]:
    """Every docstring, that of a constant or field too, every comment, and what tests are called."""
    for package in (*PACKAGES, "tests"):
        for file in sorted((ROOT / package).rglob("*.py")):
            path, code = file.relative_to(ROOT).as_posix(), file.read_text("utf-8")
            if path.startswith(DATA):
                continue
            for node in ast.walk(ast.parse(code)):
                match node:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        yield Text(path, node.lineno, Where.DOCSTRING, text)
                    case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test_"):
                        yield Text(path, node.lineno, Where.DOCSTRING, name.removeprefix("test_").replace("_", " "))
            for token in tokenize.generate_tokens(io.StringIO(code).readline):
                if token.type == tokenize.COMMENT:
                    yield Text(path, token.start[0], Where.DOCSTRING, token.string)


_WRITTEN: Final = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md")


def _pages() -> Iterator[Text]:
    """The paragraphs of the Markdown pages, without their code."""
    for file in (*(ROOT / name for name in _WRITTEN), *sorted((ROOT / "docs").glob("*.md"))):
        if file.name in ("messages.md", "message-parts.md"):  # their texts are checked where they stand in the code
            continue
        prose = re.sub(r"^```.*?^```", _blank, file.read_text("utf-8"), flags=re.M | re.S)
        yield from _paragraphs(file.relative_to(ROOT).as_posix(), prose)


def _blank(code: re.Match[str]) -> str:
    """As many line ends as some code has, so that lines keep their numbers."""
    return "\n" * code[0].count("\n")


def _paragraphs(path: str, prose: str) -> Iterator[Text]:
    line = 1
    for paragraph in re.split(r"(\n\n+|\n(?=[-*|#]|\d+\.))", prose):
        if paragraph.strip():
            for cell in re.sub(r"\s*\n\s*", " ", paragraph).split("|"):
                yield Text(path, line, Where.PAGE, re.sub(r"`[^`]*`", "`x`", cell))
        line += paragraph.count("\n")


_BUILD: Final = (
    "Makefile",
    "pyproject.toml",
    ".ci/run",
    ".pre-commit-config.yaml",
    ".pre-commit-hooks.yaml",
    "action.yml",
)
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#(?!!) ?(.*)")
_ECHOED: Final = re.compile(r"\becho \"([^\"]+)\"")


def build_texts(root: Path) -> Iterator[Text]:
    """The comments of the files that build and check the project, and what those print."""
    for path in _BUILD:
        block: list[str] = []
        lines = (root / path).read_text("utf-8").splitlines()
        for number, line in enumerate([*lines, ""], start=1):
            found = _COMMENT.search(line)
            code, comment = (line[: found.start()], found[1]) if found else (line, "")
            if comment and not code.strip():
                block.append(comment)
                continue
            if block:
                yield Text(path, number - len(block), Where.PAGE, " ".join(block))
                block = []
            if comment:
                yield Text(path, number, Where.PAGE, comment)
            for echoed in _ECHOED.findall(code):
                yield Text(path, number, Where.MESSAGE, echoed)


_SENTENCE: Final = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]+")
_EMACS: Final = re.compile(r'\?\\?"|"(?P<text>(?:[^"\\]|\\.)*)"|(?P<comment>;.*)')
"""A string of Emacs Lisp, or a comment; not the character `?"`."""
_HELP_CODE: Final = re.compile(r" >\w*\n.*?^<", re.MULTILINE | re.DOTALL)
"""A block of code in a help file of Vim."""
_LITERAL: Final = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`")


def editor_texts(root: Path) -> Iterator[Text]:
    """The string literals of the editors' plugins, comments of Emacs Lisp, help files, and VS Code's manifest."""
    for file in sorted((*(root / "editors").rglob("*.lua"), *(root / "editors/vscode/src").glob("*.ts"))):
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
            for found in _LITERAL.finditer(line):
                literal = next(filter(None, found.groups()), "")
                if _SENTENCE.search(literal):
                    yield Text(file.relative_to(root).as_posix(), number, Where.MESSAGE, literal)
    for file in sorted((root / "editors").rglob("*.el")):
        code = file.read_text("utf-8")
        for found in _EMACS.finditer(code):
            text, where = (found["text"], Where.MESSAGE) if found["text"] else (found["comment"], Where.DOCSTRING)
            if text and _SENTENCE.search(text):
                line = code.count("\n", 0, found.start()) + 1
                yield Text(file.relative_to(root).as_posix(), line, where, text)
    for file in sorted((root / "editors").glob("*/doc/*.txt")):
        yield from _paragraphs(file.relative_to(root).as_posix(), _HELP_CODE.sub(_blank, file.read_text("utf-8")))
    manifest = root / "editors/vscode/package.json"
    for value in _values(json.loads(manifest.read_text("utf-8"))) if manifest.exists() else ():
        if " " in value:
            yield Text(manifest.relative_to(root).as_posix(), 1, Where.MESSAGE, value)


def _values(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _values(child)


def exceptions(file: Path = EXCEPTIONS) -> dict[tuple[str, str], str]:
    """The reason of each exception, by the file and a part of the text that may stay."""
    rows = [line.split("\t") for line in file.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return {(path, part): reason for path, part, reason in rows}


def main() -> int:
    """Prints each problem as `path:line: problem` and returns 1 if there is one, or an exception that excuses none."""
    excused = exceptions()
    used = set()
    failed = 0
    for text in texts():
        for problem in problems(text):
            key = next((key for key in excused if key[0] == text.path and key[1] in text.text), None)
            if key is not None:
                used.add(key)
                continue
            failed += 1
            print(f"{text.path}:{text.line}: {problem}\n    {text.text[:160]}")
    for path, part in excused.keys() - used:
        failed += 1
        print(f'tests/prose_exceptions.tsv: nothing in {path} needs the exception "{part}"')
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
