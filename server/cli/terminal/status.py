"""Lines on standard error, apart from the results: errors, warnings and status."""

from __future__ import annotations

import sys

from stet_ls.validators.invisible_chars import escape_invisible


def print_error(message: str) -> None:
    """Prints an error that ends the command, one `error:` per line; a line that begins with `hint: ` stays as it is."""
    for line in message.splitlines():
        print_status(line if line.startswith("hint: ") else f"error: {line}")


def print_warning(message: str) -> None:
    """Prints a problem that does not stop the command."""
    print_status(f"warning: {message}")


def print_status(message: str) -> None:
    """Prints one line without a prefix: progress, totals, a hint."""
    print(escape_invisible(message), file=sys.stderr)
