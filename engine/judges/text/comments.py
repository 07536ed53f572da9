"""Checks that the code is the same except for its comments and docstrings.

Python is compared by its syntax tree without docstrings, every other language by its tree without comments. Comments
that tools read (`# type: ignore`, `//go:build`) count as code, and so does anything that may end a comment for a
compiler but not for a grammar.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.language_table import for_language
from stet_ls.validators.changed_excerpt import excerpts
from stet_ls.validators.parsing import grammars
from stet_ls.validators.parsing.parse import DeadlineError, parse
from stet_ls.validators.parsing.tree import Parsed

if TYPE_CHECKING:
    import tree_sitter

SAME = "the code is unchanged except comments and docstrings"
_SECONDS = 5.0

_WHOLE = re.compile(r"string|char(acter)?_literal|rune_literal|regex|jsx_text|heredoc")
"""Nodes whose white space counts: they are compared as text."""

_DIRECTIVE = re.compile(
    r"^(?:#!|//go:|//export\b|//line\b|//\s*\+build|///\s*<(?:reference|amd)|\W*(?:"
    r"type:|noqa|nosec|pylint:|mypy:|pyright:|pyre-|fmt:|isort:|ruff:|pragma|yapf:|coverage:|.*coding[:=]|/// script"
    r"|frozen_string_literal:|shareable_constant_value:|warn_indent:|@jest-|@vitest-"
    r"|@ts-|@jsx|@flow|@vite-ignore|eslint|tslint|jshint|jslint|prettier-|biome-|deno-|istanbul|[cv]8 ignore|webpack"
    r"|[@#]__PURE__|[#@] ?source|nolint|noinspection|NOSONAR|CHECKSTYLE|@formatter|clang-format|NOLINT|IWYU|cppcheck"
    r"|LCOV_|GCOVR_|fall.?thr|ReSharper|rustfmt|stet:))",
    re.IGNORECASE,
)
_ENDS_EARLY = re.compile("[\x0b\x0c\x85\u2028\u2029]|\\r(?!\\n)")
"""Line ends known to some compilers but not to the grammars: code may follow in a line comment that holds one."""
_C_LIKE = re.compile(
    r"//(?:\\\n|[^\n])*|/\*.*?\*/|(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`|[^\s/\"'`]+|/)", re.DOTALL
)

Mark = tuple[str, int, str]


async def judge(case: Case) -> Evidence:
    """Fails if anything but comments and docstrings changed; UNKNOWN if it cannot decide."""
    return await asyncio.to_thread(_judge, case)


def _judge(case: Case) -> Evidence:
    try:
        before, after = (parse(each, case.language, deadline=_SECONDS) for each in excerpts(case.before, case.after))
        difference = _difference(before, after, case.language)
    except (grammars.NoGrammarError, DeadlineError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        return Evidence(Check.COMMENTS, Ruling.UNKNOWN, f"cannot separate code and comments ({reason})")
    if difference:
        return Evidence(Check.COMMENTS, Ruling.FAIL, difference, trusted=True)
    return Evidence(Check.COMMENTS, Ruling.PASS, SAME, trusted=True)


def _difference(before: Parsed, after: Parsed, language: str) -> str:
    """What changed other than comments and docstrings, or ""."""
    old, new = list(_comments(before)), list(_comments(after))
    row = for_language(language)
    if row.code is not None:
        if row.code(before.source) != row.code(after.source):
            return "the code changed; only docstrings and comments may change"
    elif _shape(before) != _shape(after) or _words_differ(before, after):
        return f"the code changed{_first_change(before, after)}; only comments may change"
    if problem := _read_by_tools(old, new):
        return problem
    fresh = Counter(text for text, _ in new) - Counter(text for text, _ in old)
    if any(_ENDS_EARLY.search(text) or (row.comment_ends and row.comment_ends.search(text)) for text in fresh):
        return "a new comment has characters that can end it"
    # A new or removed import is a code change, which is reported already.
    if row.comment_code(before) != row.comment_code(after):
        return 'the comment above `import "C"` changed, and it is code'
    return ""


def _shape(parsed: Parsed) -> list[Mark]:
    """The tree without comments: each node's type, its number of children and, for a leaf, its text."""
    marks: list[Mark] = []
    pending = [parsed.root]
    while pending:
        node = pending.pop()
        children = [child for child in node.children if "comment" not in child.type]
        if not node.children or _WHOLE.search(node.type):
            text = parsed.text(node)
            if text.strip() or not text:
                marks.append((node.type, 0, text))
            continue
        children = [child for child in children if child.children or not (text := parsed.text(child)) or text.strip()]
        marks.append((node.type, len(children), _between(parsed, node)))
        pending += reversed(children)
    return marks


def _between(parsed: Parsed, node: tree_sitter.Node) -> str:
    """The text of a node outside of its children: some grammars leave tokens out."""
    at, found = node.start_byte, []
    for child in node.children:
        found.append(parsed.data[at : child.start_byte].strip())
        at = max(at, child.end_byte)
    found.append(parsed.data[at : node.end_byte].strip())
    return b" ".join(filter(None, found)).decode("utf-8", "replace")


def _comments(parsed: Parsed) -> Iterator[tuple[str, str]]:
    """Each comment, and the code before it on its line."""
    pending = [parsed.root]
    while pending:
        node = pending.pop()
        if "comment" in node.type:
            start = parsed.data.rfind(b"\n", 0, node.start_byte) + 1
            text = parsed.text(node).removesuffix("\n").removesuffix("\r")
            yield text, parsed.data[start : node.start_byte].decode("utf-8", "replace").strip()
        else:
            pending += reversed(node.children)


def _read_by_tools(old: list[tuple[str, str]], new: list[tuple[str, str]]) -> str:
    before, after = (Counter(each for each in comments if _DIRECTIVE.search(each[0])) for comments in (old, new))
    # Instructions to Stet in comments disappear once they are done.
    changed = [text for text, _ in (before - after) if "stet:" not in text] + [text for text, _ in (after - before)]
    return f"a comment that tools read has changed: `{changed[0][:60]}`" if changed else ""


def _words_differ(before: Parsed, after: Parsed) -> bool:
    """A second check where the grammar cannot parse: it may mistake a piece of a string for a comment."""
    broken = before.root.has_error or after.root.has_error
    return broken and _words(before.source.text) != _words(after.source.text)


def _words(text: str) -> list[str]:
    return [word for word in _C_LIKE.findall(text) if word]


def _first_change(before: Parsed, after: Parsed) -> str:
    old, new = _words(before.source.text), _words(after.source.text)
    pair = next(((a, b) for a, b in zip(old, new, strict=False) if a != b), None)
    return f" (`{pair[0][:40]}` became `{pair[1][:40]}`)" if pair else ""
