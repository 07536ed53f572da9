"""`stet serve`: the language server, over pipes by default. Imports only what answers `initialize`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.inputs.secret_arguments import hide_argument
from stet_ls.validators.project_files import read_regular

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("text", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    channel = parser.add_mutually_exclusive_group()
    channel.add_argument("--stdio", action="store_true", help="over standard input and output; the default")
    channel.add_argument("--tcp", metavar="HOST:PORT", help="over one TCP connection, on loopback only; needs a token")
    channel.add_argument("--ws", metavar="HOST:PORT", help="over WebSocket, on loopback only; needs a token")
    token = parser.add_mutually_exclusive_group()
    token.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="holds what a client of --tcp or --ws has to know (or STET_TOKEN)",
    )
    token.add_argument(
        "--token", metavar="TOKEN", help="the same in the open: every user of this machine sees arguments"
    )
    parser.add_argument(
        "--clientProcessId", type=int, metavar="N", dest="client_process_id", help="exit when this process is gone"
    )
    parser.add_argument("--log-file", type=Path, metavar="FILE", help="where the log goes")
    parser.add_argument("--log-level", choices=LEVELS, help="the least severity that is written")
    parser.add_argument("--log-format", choices=FORMATS, help="lines for people, or a JSON object a line")


def run(arguments: argparse.Namespace) -> int:
    """Serves until the client says goodbye or is gone."""
    address = _address(arguments)
    token = _token(arguments)
    if address and not token:
        raise UsageError("--tcp and --ws need a token: set STET_TOKEN, or pass --token-file")

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
    """What a client has to know, from where it was told; afterwards no child inherits it and no list shows it."""
    inherited = os.environ.pop("STET_TOKEN", "").strip()
    if arguments.token_file is not None:
        return _read_token(arguments.token_file)
    if arguments.token:
        hidden = hide_argument(arguments.token)
        seen = "was in the list of processes until now" if hidden else "is in the list of processes"
        print(
            f"stet: warning: `--token` {seen}, where every user of this machine can read it; "
            "use `--token-file` or STET_TOKEN",
            file=sys.stderr,
        )
        return str(arguments.token)
    return inherited


def _read_token(path: Path) -> str:
    try:
        status = path.stat()
        token = read_regular(path, most=_LARGEST_TOKEN).decode().strip()
    except OSError as error:
        raise UsageError(f"--token-file: {path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"--token-file: {path} is no text") from None
    if not token:
        raise UsageError(f"--token-file: {path} is empty")
    if os.name == "posix" and status.st_mode & 0o077:
        print(f"stet: warning: other users may read {path}; `chmod 600` keeps it to you", file=sys.stderr)
    return token


_LARGEST_TOKEN = 4096
"""Bytes."""


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
