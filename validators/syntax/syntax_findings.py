"""The findings that best explain a broken text: brackets, strings, and Markdown around the code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stet_ls.validators.findings import Finding, Related
from stet_ls.validators.languages import for_language
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Span
from stet_ls.validators.syntax import message_text
from stet_ls.validators.syntax.brackets import OPENERS, Stray, Unclosed
from stet_ls.validators.syntax.parse_failure import END_OF_FILE, ParseFailure

if TYPE_CHECKING:
    import tree_sitter

UNCLOSED = "unclosed-bracket"
STRAY = "stray-bracket"
UNTERMINATED = "unterminated-string"
MISSING = "missing"
UNEXPECTED = "unexpected"
FENCE = "markdown-fence"
"""Codes of findings."""

_SIGNED = 40
_NEAR_LINES = 2
_FENCE = re.compile(rb"^[ \t]*(?:```+|~~~+)[ \t]*[\w+#.-]*[ \t]*\r?$", re.MULTILINE)


def unclosed(parsed: Parsed, problem: Unclosed, failure: ParseFailure | None) -> Finding:
    """An opener without a closer. It is at the opener, or at the place of its closer if the opener is far above.

    The user has to see that place to fix it; the other place is the related one.
    """
    source = parsed.source
    opener = parsed.span(problem.opener)
    line = source.line_of(opener.start)
    token, place = message_text.expected_before(parsed, problem, failure)
    below = source.line_of(place.start)
    where = f" (line {below + 1})" if below != line and token != END_OF_FILE else ""
    what = f"'{problem.opener.type}' is never closed; expected '{problem.closer}' before {token}{where}"
    if below == line:
        suggestion = f"insert '{problem.closer}' {message_text.place(token, line + 1)}"
    elif problem.closer == "}":
        suggestion = f"insert '{problem.closer}' {message_text.place(token, below + 1)}"
    else:
        suggestion = f"close the '{problem.opener.type}' of line {line + 1} with '{problem.closer}'"
    here, there, cause = opener, place, f"expected '{problem.closer}' before this"
    if below - line > _NEAR_LINES:
        here, there, cause = place, opener, f"this '{problem.opener.type}' is never closed"
    return Finding(
        here,
        f"line {line + 1}: {what}",
        without_line=what if source.line_of(here.start) == line else "",
        code=UNCLOSED,
        line=source.line_of(here.start),
        suggestions=(suggestion,),
        related=(Related(there, cause),),
        signature=_signature(parsed, UNCLOSED, line),
    )


def stray(parsed: Parsed, problem: Stray) -> Finding:
    """A closer without an opener. It is where the opener seems to be missing, if the indentation shows that."""
    source = parsed.source
    closer = parsed.span(problem.node)
    line = source.line_of(closer.start)
    opener = OPENERS[problem.node.type]
    signature = _signature(parsed, STRAY, line)
    if problem.after is None:
        message = f"unexpected '{problem.node.type}': nothing opened it"
        suggestion = f"remove the '{problem.node.type}' of line {line + 1}"
        return Finding(closer, message, code=STRAY, line=line, suggestions=(suggestion,), signature=signature)
    end = parsed.span(problem.after).end
    head = source.line_of(end)
    return Finding(
        Span(end, end),
        f"line {line + 1}: nothing opened '{problem.node.type}'; expected '{opener}' at the end of line {head + 1}",
        code=STRAY,
        line=head,
        suggestions=(f"insert '{opener}' at the end of line {head + 1}",),
        related=(Related(closer, f"nothing opened this '{problem.node.type}'"),),
        signature=signature,
    )


def unterminated(parsed: Parsed, quote: Span, node: tree_sitter.Node) -> Finding:
    """A string without an end."""
    line = parsed.source.line_of(quote.start)
    mark = parsed.source.slice(quote).lstrip("bBfFrRuU$@")
    return Finding(
        quote,
        f"line {line + 1}: unterminated string",
        without_line="unterminated string",
        code=UNTERMINATED,
        line=line,
        suggestions=(f"close the string of line {line + 1} with {mark}",) if mark else (),
        signature=signature_of(parsed, node),
    )


def fences(parsed: Parsed) -> list[Finding]:
    """Lines of a broken text that are Markdown's: they were copied with the code from an answer."""
    if for_language(parsed.language).takes_fences:
        return []
    found = []
    for match in _FENCE.finditer(parsed.source.data):
        node = parsed.root.descendant_for_byte_range(match.start(), match.end())
        while node is not None and not node.is_error and "string" not in node.type and "comment" not in node.type:
            node = node.parent
        if node and not node.is_error and not node.has_error and parsed.data[node.start_byte] != ord("`"):
            continue  # a text that contains Markdown
        line = parsed.source.line_of(match.start())
        text = match.group().strip()
        span = Span(
            match.end() - len(match.group().lstrip()), match.end() - len(match.group()) + len(match.group().rstrip())
        )
        found.append(
            Finding(
                span,
                f"unexpected '{text.decode()}': Markdown around the code",
                code=FENCE,
                line=line,
                suggestions=(f"remove line {line + 1}",),
                signature=_signature(parsed, FENCE, line),
            )
        )
    return found


def signature_of(parsed: Parsed, node: tree_sitter.Node) -> str:
    """The identity of an error node in two versions of a text."""
    parent = parsed.parent(node)
    return f"{node.type} {node.is_missing} {parent.type if parent else ''} {parsed.text(node)[:_SIGNED]}"


def _signature(parsed: Parsed, code: str, line: int) -> str:
    return f"{code} {parsed.source.line_text(line).strip()[:_SIGNED]}"
