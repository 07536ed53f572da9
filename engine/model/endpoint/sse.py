"""Server-sent events, parsed from bytes as they arrive, for any content type."""

from __future__ import annotations

from collections.abc import Iterator

_BOM = b"\xef\xbb\xbf"


class EventReader:
    """Takes pieces of any size and yields the data of each event.

    A body that begins like JSON or like a page is not a stream: `whole` collects it and there are no events. Nothing
    raises, and the work is linear in the number of bytes.
    """

    def __init__(self) -> None:
        self.whole: bytearray | None = None
        self._begun = False
        self._head = b""
        self._line: list[bytes] = []
        self._after_return = False
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The events that are complete with this piece."""
        if not self._begun:
            piece = self._begin(piece)
        if self.whole is not None:
            self.whole += piece
        elif self._begun:
            yield from self._lines(piece)

    def end(self) -> Iterator[bytes]:
        """The incomplete rest when the bytes end: the last event of a server that omits its blank line."""
        if self.whole is None:
            yield from self._lines(b"\n\n")

    def _begin(self, piece: bytes) -> bytes:
        self._head += piece
        if _BOM.startswith(self._head):
            return b""
        text = self._head.removeprefix(_BOM).lstrip()
        if text:
            self._begun, self._head = True, b""
            if text[:1] in (b"{", b"[", b"<"):
                self.whole = bytearray()
        return text

    def _lines(self, piece: bytes) -> Iterator[bytes]:
        if self._after_return and piece[:1] == b"\n":
            piece = piece[1:]
        self._after_return = piece[-1:] == b"\r"
        *complete, rest = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in complete:
            self._line.append(line)
            whole = b"".join(self._line)
            self._line.clear()
            if not whole and self._data:
                yield b"\n".join(self._data)
                self._data.clear()
            name, _, value = whole.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
        if rest:
            self._line.append(rest)
