"""The metrics over HTTP, for a Prometheus on this machine: loopback only, and not for web pages that guess the port."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

    from prometheus_client import CollectorRegistry

log = logging.getLogger(__name__)

_HOST = "127.0.0.1"
_TIMEOUT = 5.0


class MetricsPort:
    """An open port. `port` is the given one, or for 0 the one that the system chose."""

    def __init__(self, registry: CollectorRegistry, port: int) -> None:
        """Opens the port at once; OSError if it is taken."""
        app = make_wsgi_app(registry)

        def guarded(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
            if refusal := self._refusal(environ):
                start(refusal, [("Content-Type", "text/plain")])
                return [f"{refusal}\n".encode()]
            body: Iterable[bytes] = app(environ, start)
            return body

        self._server = make_server(_HOST, port, guarded, server_class=_Threaded, handler_class=_Quiet)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Closes the port. Blocks for at most half a second."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(1.0)

    def _refusal(self, environ: WSGIEnvironment) -> str:
        # A page in a browser can reach loopback under its own host name (DNS rebinding); its Host header shows that.
        if environ.get("HTTP_HOST", "") not in {f"{name}:{self.port}" for name in (_HOST, "localhost")}:
            return "403 Forbidden: wrong Host"
        if environ.get("HTTP_ORIGIN"):
            return "403 Forbidden: not for web pages"
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return "405 Method Not Allowed"
        return "" if environ.get("PATH_INFO") == "/metrics" else "404 Not Found"


class _Threaded(ThreadingMixIn, WSGIServer):
    """Serves each request in a thread: a slow reader delays neither other work nor the exit."""

    daemon_threads = True
    allow_reuse_address = True


class _Quiet(WSGIRequestHandler):
    """Logs no requests on standard error, which belongs to the editor."""

    timeout = _TIMEOUT

    def log_message(self, format: str, *args: Any) -> None:
        """Writes only a log line."""
        log.debug(format, *args)
