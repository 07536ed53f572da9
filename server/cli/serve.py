"""`stet serve`: the language server, over pipes by default. Imports only what answers `initialize`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from stet_ls.engine.errors import UsageError

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("text", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    channel = parser.add_mutually_exclusive_group()
    channel.add_argument("--stdio", action="store_true", help="over standard input and output; the default")
    channel.add_argument("--tcp", metavar="HOST:PORT", help="over one TCP connection, on loopback only; needs a token")
    channel.add_argument("--ws", metavar="HOST:PORT", help="over WebSocket, on loopback only; needs a token")
    parser.add_argument("--token", metavar="TOKEN", help="what a client of --tcp or --ws has to know (or STET_TOKEN)")
    parser.add_argument(
        "--clientProcessId", type=int, metavar="N", dest="client_process_id", help="exit when this process is gone"
    )
    parser.add_argument("--log-file", type=Path, metavar="FILE", help="where the log goes")
    parser.add_argument("--log-level", choices=LEVELS, help="the least severity that is written")
    parser.add_argument("--log-format", choices=FORMATS, help="lines for people, or a JSON object a line")


def run(arguments: argparse.Namespace) -> int:
    """Serves until the client says goodbye or is gone."""
    address = _address(arguments)
    token = arguments.token or os.environ.get("STET_TOKEN", "")
    if address and not token:
        raise UsageError("--tcp and --ws need a token: pass --token, or set STET_TOKEN")

    from stet_ls.server import transport
    from stet_ls.server.app import create_server

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
