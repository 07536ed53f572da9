"""`stet serve`: the language server, over pipes by default. Imports only what answers `initialize`."""

from __future__ import annotations

import argparse
import gc
import os
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.terminal.status import print_warning

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("text", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    channel = parser.add_mutually_exclusive_group()
    channel.add_argument("--stdio", action="store_true", help="use standard input and output [default]")
    channel.add_argument("--tcp", metavar="HOST:PORT", help="use one TCP connection, on loopback only; needs a token")
    channel.add_argument("--ws", metavar="HOST:PORT", help="use WebSocket, on loopback only; needs a token")
    token = parser.add_mutually_exclusive_group()
    token.add_argument(
        "--token-file", type=Path, metavar="FILE", help="file with the token for --tcp and --ws (or set STET_TOKEN)"
    )
    token.add_argument(
        "--token", metavar="TOKEN", help="the token itself; every user of this machine can see arguments"
    )
    parser.add_argument(
        "--clientProcessId", type=int, metavar="N", dest="client_process_id", help="exit when process N ends"
    )
    parser.add_argument("--log-file", type=Path, metavar="FILE", help="log file")
    parser.add_argument("--log-level", choices=LEVELS, help="minimum log level")
    parser.add_argument("--log-format", choices=FORMATS, help="log as text, or one JSON object per line")


def run(arguments: argparse.Namespace) -> int:
    """Serves until the client ends the session or is gone."""
    address = _address(arguments)
    token = _token(arguments)
    if address and not token:
        raise UsageError("`--tcp` and `--ws` need a token: set `STET_TOKEN`, or pass `--token-file`")

    gc.disable()  # until `initialize`: what imports make stays, and to search it for garbage takes a tenth of the start
    from stet_ls.server.app import create_server
    from stet_ls.server.lsp import transport

    server = create_server(
        log_file=arguments.log_file,
        log_level=arguments.log_level,
        log_format=arguments.log_format,
        client_process_id=arguments.client_process_id,
    )
    if address is None:
        return transport.serve_stdio(server)
    serve = transport.serve_tcp if arguments.tcp else transport.serve_ws
    return serve(server, *address, token)


def _token(arguments: argparse.Namespace) -> str:
    """The token, from its option, file or variable; hides it from child processes and the process list."""
    inherited = os.environ.pop("STET_TOKEN", "").strip()
    if arguments.token_file is not None:
        return _read_token(arguments.token_file)
    if arguments.token:
        from stet_ls.server.cli.inputs.secret_arguments import hide_argument

        hidden = hide_argument(arguments.token)
        seen = "was in the list of processes until now" if hidden else "is in the list of processes"
        print_warning(
            f"`--token` {seen}, where every user of this machine can read it; use `--token-file` or `STET_TOKEN`"
        )
        return str(arguments.token)
    return inherited


def _read_token(path: Path) -> str:
    from stet_ls.validators.project_files import read_regular

    try:
        status = path.stat()
        token = read_regular(path, most=_LARGEST_TOKEN).decode().strip()
    except OSError as error:
        raise UsageError(f"--token-file: cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"--token-file: {path} is not text") from None
    if not token:
        raise UsageError(f"--token-file: {path} is empty")
    if os.name == "posix" and status.st_mode & 0o077:
        print_warning(f"other users can read {path}; run `chmod 600 {path}`")
    return token


_LARGEST_TOKEN = 4096
"""In bytes."""


def _address(arguments: argparse.Namespace) -> tuple[str, int] | None:
    """Host and port of --tcp or --ws; None for standard input and output."""
    text = arguments.tcp or arguments.ws
    if not text:
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > _HIGHEST_PORT:
        raise UsageError(f'"{text}": expected HOST:PORT, such as 127.0.0.1:7777')
    return host.strip("[]") or "127.0.0.1", int(port)


_HIGHEST_PORT = 65535
