"""C#'s `#if` and `#region`: they have to be closed, and code that they switch off is not compiled.

For C and C++ the grammars check the closing; their compiled code is found here too, since a brace that is opened in two
branches breaks the whole tree.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from stet_ls.validators.findings import Finding, Related
from stet_ls.validators.languages import for_language
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Span
from stet_ls.validators.structure.units import captures

DIRECTIVE = "directive"

_LINE = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*#[ \t]*(\w+)[ \t]*([^\r\n]*)", re.MULTILINE)
_CLOSERS = {"if": "#endif", "region": "#endregion"}
_OPENED_BY = {"endif": "if", "else": "if", "elif": "if", "endregion": "region"}
_NEAR_LINES = 2
_MOST = 3000  # lines that are read
_TEXTS = frozenset({
    "comment", "verbatim_string_literal", "raw_string_literal", "string_literal", "interpolated_string_expression",
})  # fmt: skip
_CONDITIONAL = frozenset({"if", "elif", "else", "endif"})
_VISIBLE = re.compile(rb"[^\r\n]")
_TOKEN = re.compile(r"\w+|&&|\|\||==|!=|[!()]")


@dataclass(frozen=True, slots=True)
class Directive:
    """One line: `kind` without its `#` ("if" for `#ifdef` too), `rest` what follows it."""

    kind: str
    rest: str
    span: Span
    word: str


def directives(parsed: Parsed) -> Iterator[Directive]:
    """The lines that start with `#`, except inside comments and strings."""
    texts = [(node.start_byte, node.end_byte) for node in captures(parsed, _TEXTS)]
    starts = [start for start, _ in texts]
    for match in islice(_LINE.finditer(parsed.source.data), _MOST):
        start = parsed.data.index(b"#", match.start())
        holder = bisect_right(starts, start) - 1
        if holder >= 0 and texts[holder][0] < start < texts[holder][1]:
            continue
        word = match[1].decode("utf-8", "replace")
        kind = "if" if word in ("ifdef", "ifndef") else word
        rest = match[2].decode("utf-8", "replace").partition("//")[0].strip()
        yield Directive(kind, rest, Span(start, match.end(1)), word)


def balance(parsed: Parsed) -> tuple[Finding, ...]:
    """Directives that are not closed, or that close nothing."""
    if b"#" not in parsed.source.data:
        return ()
    found: list[Finding] = []
    stack: list[Directive] = []
    lines = list(directives(parsed))
    for one in lines if len(lines) < _MOST else ():
        if one.kind in _CLOSERS:
            stack.append(one)
        elif one.kind in _OPENED_BY:
            if not stack or stack[-1].kind != _OPENED_BY[one.kind]:
                found.append(_stray(parsed, one, stack[-1] if stack else None))
                if any(below.kind == _OPENED_BY[one.kind] for below in stack):
                    stack.pop()
            if stack and stack[-1].kind == _OPENED_BY[one.kind] and one.kind.startswith("end"):
                stack.pop()
    return (*found, *(_unclosed(parsed, one) for one in reversed(stack)))


def _unclosed(parsed: Parsed, one: Directive) -> Finding:
    source = parsed.source
    line = source.line_of(one.span.start)
    end = Span(len(source.data), len(source.data))
    here, there, message = one.span, end, f"expected '{_CLOSERS[one.kind]}' before this"
    if source.line_of(end.start) - line > _NEAR_LINES:
        here, there, message = end, one.span, f"this '#{one.word}' is never closed"
    what = f"'#{one.word}' is never closed; expected '{_CLOSERS[one.kind]}' before end of file"
    return Finding(
        here,
        f"line {line + 1}: {what}",
        without_line=what if source.line_of(here.start) == line else "",
        code=DIRECTIVE,
        line=source.line_of(here.start),
        suggestions=(f"insert '{_CLOSERS[one.kind]}' at the end of the file",),
        related=(Related(there, message),),
        signature=f"{DIRECTIVE} {one.kind} {one.rest}",
    )


def _stray(parsed: Parsed, one: Directive, open_: Directive | None) -> Finding:
    line = parsed.source.line_of(one.span.start)
    message = f"unexpected '#{one.word}': nothing opened it"
    suggestion, what = f"remove line {line + 1}", ""
    if open_ is not None:
        above = parsed.source.line_of(open_.span.start) + 1
        closer = _CLOSERS[open_.kind]
        what = f"'#{open_.word}' is not closed; expected '{closer}' before '#{one.word}'"
        message = f"line {above}: {what}"
        suggestion = f"insert '{closer}' before line {line + 1}"
    signature = f"{DIRECTIVE} {one.word} {what}"
    suggestions = (suggestion,)
    return Finding(one.span, message, code=DIRECTIVE, line=line, suggestions=suggestions, signature=signature)


def compiled(parsed: Parsed) -> tuple[bytes, tuple[Span, ...]]:
    """The text with blanks in place of code that is not compiled, and the spans of that code. Offsets do not change.

    In C# a symbol is known if the text defines it; any other counts as undefined, as for its compiler. In C and C++ the
    first branch counts, except for `#if 0`.
    """
    off: list[Span] = []
    marks: list[Span] = []  # the conditional lines themselves
    stack: list[tuple[bool, bool]] = []  # is this branch active; was any branch active
    symbols: set[str] = set()
    since: int | None = None  # where the current disabled part starts
    is_c = for_language(parsed.language).preprocessed == "first branch"
    for one in directives(parsed):
        if since is not None and one.kind in _CONDITIONAL:
            off.append(Span(since, max(since, parsed.data.rfind(b"\n", 0, one.span.start) + 1)))
            since = None
        was_on = not stack or stack[-1][0]
        if one.kind == "if":
            on = was_on and _holds(one, symbols, is_c)
            stack.append((on, on or not was_on))
        elif one.kind in ("elif", "else") and stack:
            on = not stack[-1][1] and (one.kind == "else" or _holds(one, symbols, is_c))
            stack[-1] = (on, on or stack[-1][1])
        elif one.kind == "endif" and stack:
            stack.pop()
        elif one.kind == "define" and was_on:
            symbols.add(one.rest)
        elif one.kind == "undef" and was_on:
            symbols.discard(one.rest)
        line_end = parsed.data.find(b"\n", one.span.end) + 1
        if one.kind in _CONDITIONAL:
            # After `#else` and `#endif` C accepts anything with a warning, and C# only a comment.
            bare = not is_c and one.kind in ("else", "endif")
            marks.append(Span(one.span.start, one.span.end if bare else line_end))
        if stack and not stack[-1][0] and since is None:
            since = line_end
    if since is not None:
        off.append(Span(since, len(parsed.data)))
    data = bytearray(parsed.data)
    for span in (*off, *marks) if off else ():
        data[span.start : span.end] = _VISIBLE.sub(b" ", parsed.data[span.start : span.end])
    return bytes(data), tuple(off)


def _holds(one: Directive, symbols: set[str], is_c: bool) -> bool:
    if is_c:
        return one.rest != "0" if one.word in ("if", "elif") else one.word == "ifdef" or one.rest != "__cplusplus"
    return _Condition(one.rest, symbols).value()


class _Condition:
    """A condition of C#'s preprocessor: symbols, `true`, `false`, `!`, `&&`, `||`, `==`, `!=` and parentheses."""

    def __init__(self, text: str, symbols: set[str]) -> None:
        self._tokens = _TOKEN.findall(text)[::-1]
        self._symbols = symbols

    def value(self) -> bool:
        """True if it holds; False if it cannot be parsed."""
        value = self._and()
        while self._take("||"):
            value = self._and() or value
        return value

    def _and(self) -> bool:
        value = self._equal()
        while self._take("&&"):
            value = self._equal() and value
        return value

    def _equal(self) -> bool:
        value = self._one()
        while self._tokens and self._tokens[-1] in ("==", "!="):
            is_equal = self._tokens.pop() == "=="
            value = (value == self._one()) is is_equal
        return value

    def _one(self) -> bool:
        negated = False
        while self._take("!"):
            negated = not negated
        if self._take("("):
            value = self.value() if len(self._tokens) < 50 else False
            self._take(")")
        else:
            token = self._tokens.pop() if self._tokens else ""
            value = token == "true" or token in self._symbols
        return value is not negated

    def _take(self, token: str) -> bool:
        if self._tokens and self._tokens[-1] == token:
            self._tokens.pop()
            return True
        return False
