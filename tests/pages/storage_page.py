"""docs/storage.md, made from the table of Stet's files and folders."""

from __future__ import annotations

from stet_ls.engine.storage.paths import stored

_BASES = {"config": "Settings", "data": "Data", "cache": "Cache", "logs": "Logs"}


def storage_page() -> str:
    """The page that says what lies where, and how long."""
    sections = "\n".join(f"## {title}\n\n{_table(base)}\n" for base, title in _BASES.items())
    return f"""\
# What lies where

This page is generated from the table of files and folders (`engine/storage/paths.py`) by `python tests/pages`.
`stet doctor` shows the folders of this machine; `STET_HOME` moves all of them. Only you can read what is in them. Each
can be deleted at any time, best while no server runs: what is in the cache is made again, what is in the data is gone.
[Privacy](privacy.md) says what of it a prompt holds.

{sections}
The settings are in `config.toml`, see [settings](settings.md). Sockets and locks are in a folder of the system for what
ends with the session. Code that runs in the sandbox writes into a folder of its own, which is deleted after the run.
"""


def _table(base: str) -> str:
    rows = [f"| `{each.path}` | {each.holds} | {each.stays} |" for each in stored().values() if each.base == base]
    return "\n".join(["| path | what is in it | how long |", "|---|---|---|", *rows])
