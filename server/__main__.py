"""The command `stet`: finds the subcommand, runs it, and turns errors into one sentence and an exit status.

`stet --stdio` imports only what the server needs to answer `initialize`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from stet_ls.engine.errors import StetError, UsageError
from stet_ls.server.cli.command_table import COMMANDS, build_parser, did_you_mean, unknown_argument
from stet_ls.server.cli.terminal.status import print_error, print_warning

EXIT_BUG = 70  # EX_SOFTWARE of sysexits.h
EXIT_BROKEN_PIPE = 141  # the status that a shell reports for SIGPIPE
EXIT_INTERRUPTED = 130  # the status that a shell reports for SIGINT


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit status; argparse raises SystemExit for help, version and usage."""
    words = _with_command(list(sys.argv[1:] if argv is None else argv))
    if not sys.warnoptions:
        # Warnings are for developers of libraries, and some quote values out of the user's code.
        warnings.simplefilter("ignore")
    try:
        status = _run(words)
        sys.stdout.flush()
    except StetError as error:
        print_error(str(error), error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe (`stet ... | head`). Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except OSError as error:
        return _no_file(error)
    except Exception as error:  # noqa: BLE001 - the outermost frame: a bug becomes a sentence, its traceback goes to the log
        return _bug(error)
    return status


def _with_command(words: list[str]) -> list[str]:
    """Adds `serve` where options come without a subcommand: editors start `stet --stdio`."""
    if words and words[0].startswith("-") and words[0] not in ("-h", "--help", "--version"):
        return ["serve", *words]
    return words


def _run(words: list[str]) -> int:
    name = words[0] if words else ""
    if name and not name.startswith("-") and name not in COMMANDS:
        raise UsageError(f'unknown command "{name}": {did_you_mean(name, COMMANDS)}')
    parser = build_parser(chosen=[name] if name in COMMANDS else [])
    if not words:
        parser.print_help(sys.stderr)
        return UsageError.exit_code
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        raise unknown_argument(parser, arguments.command, unknown[0])
    try:
        return COMMANDS[arguments.command].load().run(arguments)
    finally:
        _warn_about_skipped(words)


_MOST_LISTED = 5


def _warn_about_skipped(words: list[str]) -> None:
    """Warns about files near the named ones that were not read; the command itself reports a named one."""
    from stet_ls.validators.project_files import skipped

    unread = [path for path in skipped() if str(path) not in words]
    for path in unread[:_MOST_LISTED]:
        print_warning(f"`{path}` skipped: not a regular file")
    if more := unread[_MOST_LISTED:]:
        print_warning(f"{len(more)} more files skipped: not regular files")


def _no_file(error: OSError) -> int:
    from stet_ls.engine.storage.paths import unwritable
    from stet_ls.server.observability.log import print_once

    where = f"{error.filename}: " if error.filename else ""
    print_once(f"error: {unwritable(error) or f'{where}{error.strerror or error}'}")
    return StetError.exit_code


def _bug(error: Exception) -> int:
    log = _write_log(error)
    where = f"see {log}" if log else "its log folder cannot be written"
    print_error(f"this is a bug in Stet ({type(error).__name__}); {where}")
    return EXIT_BUG


def _write_log(error: Exception) -> Path | None:
    import logging

    from stet_ls.engine.storage.paths import user_paths
    from stet_ls.server.observability.log import ROOT, start_log

    file = user_paths().log_file
    start_log(file, "info")
    logging.getLogger(ROOT).error("the command ended with a bug", exc_info=error)
    return file if file.exists() else None


if __name__ == "__main__":
    sys.exit(main())
