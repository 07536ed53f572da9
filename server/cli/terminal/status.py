"""Lines on standard error, separate from the results: errors, warnings and status; and results as JSON."""

from __future__ import annotations

import json
import re
import sys

from stet_ls.validators.invisible_chars import HIDDEN, escape_invisible

# Lone surrogates stand for bytes of names that are not UTF-8: no encoding but JSON's own escapes can write them.
_UNPRINTABLE = re.compile(f"{HIDDEN.pattern}|[\ud800-\udfff]")


class StatusLine:
    """A line that later text replaces; shown only on a terminal."""

    def __init__(self) -> None:
        self.is_shown = sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Replaces the line."""
        if self.is_shown:
            sys.stderr.write(f"\r\x1b[K{escape_invisible(text)}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Removes the line."""
        self.show("")


def bar(done: int, total: int) -> str:
    """A progress bar."""
    filled = 30 * done // max(total, 1)
    return "█" * filled + "·" * (30 - filled)


def print_error(message: str, hint: str = "") -> None:
    """Prints an error that ends the command, one `error:` per line, and what to do instead."""
    for line in message.splitlines():
        print_status(f"error: {line}")
    if hint:
        print_status(f"hint: {hint}")


def print_warning(message: str) -> None:
    """Prints a problem that does not stop the command."""
    print_status(f"warning: {message}")


def print_status(message: str) -> None:
    """Prints one line without a prefix: progress, totals, a hint."""
    print(escape_invisible(message), file=sys.stderr)


def print_json(value: object, indent: int | None = None) -> None:
    """Prints JSON. Characters that a terminal might obey, or that no encoding can represent, are escaped."""
    spelled = json.dumps(value, ensure_ascii=False, indent=indent)
    print(_UNPRINTABLE.sub(lambda match: json.dumps(match.group()).strip('"').replace("\x7f", "\\u007f"), spelled))
