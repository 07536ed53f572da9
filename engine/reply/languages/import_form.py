"""The form of a language's imports, for its row in the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from stet_ls.validators.source import Source, Span, Splice


@dataclass(frozen=True, slots=True)
class Import:
    """One import: `key` identifies it, `bound` is its local name; one `group` is one statement with each `name`."""

    key: tuple[str, ...]
    bound: str
    group: str
    text: str
    name: str = ""


def first(imports: list[Import]) -> str:
    """The first import as written in the reply."""
    return imports[0].text


def appended(source: Source, block: list[Span], lines: list[str], end: str) -> list[Splice]:
    """New lines below the last statement of a block."""
    return [after(source, block[-1], "".join(f"{line}{end}" for line in lines), end)]


@dataclass(frozen=True, slots=True)
class ImportForm:
    """The form of a language's imports: `read` splits a statement, `write` joins the imports of one group.

    `insert` adds statements to a block of imports, with a line end. `into` adds imports inside a statement of the
    block that can hold more, and returns None if none can.
    """

    read: Callable[[str], list[Import]]
    write: Callable[[list[Import]], str] = first
    insert: Callable[[Source, list[Span], list[str], str], list[Splice]] = appended
    into: Callable[[Source, list[Span], list[Import], str], list[Splice] | None] = lambda *_: None

    def imports(self, statements: Iterable[str]) -> list[Import]:
        """The single imports of some statements, each once."""
        return list({one.key: one for statement in statements for one in self.read(statement)}.values())

    def statements(self, imports: Iterable[Import]) -> list[str]:
        """The statements for some imports."""
        groups: dict[str, list[Import]] = {}
        for one in imports:
            groups.setdefault(one.group, []).append(one)
        return [self.write(group) for group in groups.values()]


def whole(statement: str, bound: str = "") -> list[Import]:
    """A statement that is kept unchanged, as one import."""
    text = statement.strip()
    key = " ".join(text.rstrip(";").split()).replace("'", '"')
    return [Import((key,), bound, key, text)]


def after(source: Source, span: Span, text: str, end: str) -> Splice:
    """The lines directly below a statement."""
    line = source.line_span(source.line_of(span.end), with_end=True)
    closed = source.data[line.start : line.end].endswith((b"\n", b"\r"))
    return Splice(Span(line.end, line.end), text if closed else end + text.removesuffix(end))


def above(source: Source, span: Span, text: str) -> Splice:
    """The lines directly above a statement."""
    at = source.starts[source.line_of(span.start)]
    if at == 0 and source.data.startswith(b"\xef\xbb\xbf"):
        at = 3
    return Splice(Span(at, at), text)
