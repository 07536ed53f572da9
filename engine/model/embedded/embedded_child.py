"""The embedded model's process: llama.cpp with its own server, on loopback, with a key. Only here is it imported."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from typing import Any

from stet_ls.engine.workers.handshake import LOOPBACK, new_key
from stet_ls.engine.workers.host import IdleLimits, host

_NICENESS = 5
"""A third of the processor time of a busy editor or build; at 10 the model starves next to a build."""

_PASSIVE = {"OMP_WAIT_POLICY": "passive"}
"""For libgomp, which reads it when it is loaded: threads sleep at a barrier. Spinning next to other busy processes, two
threads on two processors wrote 0.7 tokens a second instead of 6.8 (docs/quality.md).
"""

_MATCH, _DRAFT = 6, 12
"""Tokens that have to recur before a draft, and its length. An edit mostly repeats the prompt: a draft copies what
followed there, and one batch verifies it; llama.cpp aborts if draft and token do not fit into a batch. New code has few
matches and costs no more than without.
"""

_BATCH_PER_THREAD = 16
"""Prompt tokens between two checks for cancellation: on one thread 0.3 s of the 0.5B model, 0.8 s of the 1.5B one. With
the library's 2048 a cancel took 45 s. The 1.5B model reads 21 tokens a second with 64 as with 16, and 14 with 8.
llama.cpp notices a closed connection once a second, or at each batch if the request says `return_progress`.
"""

_PROMPT_CACHE_MIB = 256
"""Memory for the states of earlier prompts; the library's default is 8 GiB."""

_WARNINGS = 2
"""llama.cpp's verbosity: warnings and errors, none of which quotes a prompt."""

_DECODED = re.compile(r"^llamacpp:n_decode_total (\S+)", re.MULTILINE)


class Llama:
    """llama.cpp as a child's work."""

    def __init__(self, path: str, alias: str, *, threads: int, context: int, drafts: bool = True) -> None:
        self._path = path
        self._alias = alias
        self._threads = threads
        self._context = context
        self._drafts = drafts
        self._server: Any = None
        self._decoded: str | None = None

    def start(self) -> Mapping[str, Any]:
        """Loads the model: about a second from the page cache, longer from a disk."""
        if hasattr(os, "nice"):
            os.nice(_NICENESS)
        os.environ.update(_PASSIVE)
        from xllamacpp import CommonParams, Server, common_speculative_type

        key = new_key()
        parameters = CommonParams()
        parameters.model.path = self._path
        parameters.model_alias = {self._alias}
        parameters.hostnames = [LOOPBACK]
        parameters.port = 0
        parameters.api_keys = [key]
        parameters.cors_origins = ""  # no web page needs access
        parameters.ui = False
        parameters.endpoint_slots = False
        parameters.endpoint_metrics = True
        parameters.verbosity = _WARNINGS
        parameters.n_ctx = self._context
        parameters.n_parallel = 1
        parameters.n_batch = parameters.n_ubatch = _BATCH_PER_THREAD * self._threads
        parameters.cache_ram_mib = _PROMPT_CACHE_MIB
        parameters.cpuparams.n_threads = self._threads
        parameters.cpuparams_batch.n_threads = self._threads
        if self._drafts:
            parameters.speculative.types = [common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
            parameters.speculative.ngram_simple.size_n = _MATCH
            parameters.speculative.ngram_simple.size_m = _DRAFT
        self._server = Server(parameters)
        return {"base_url": f"{self._server.listening_address}/v1", "api_key": key, "model": self._alias}

    def active(self) -> bool:
        """True if anything was decoded since the last check; each batch counts, so a long prompt is not idle time."""
        found = _DECODED.search(self._server.handle_metrics())
        before, self._decoded = self._decoded, found[1] if found else None
        return self._decoded != before


def main() -> None:
    """Serves the model given on the command line."""
    parser = argparse.ArgumentParser(prog="python -m stet_ls.engine.model.embedded.embedded_child")
    parser.add_argument("path", metavar="GGUF")
    parser.add_argument("--alias", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--idle-seconds", type=float, required=True)
    options = parser.parse_args()
    llama = Llama(options.path, options.alias, threads=options.threads, context=options.context)
    host(llama, IdleLimits(idle=options.idle_seconds))


if __name__ == "__main__":
    main()
