"""Package indexes: those that the user set up for uv or pip in their own files, never a project's."""

from __future__ import annotations

import configparser
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_KEPT = (
    *("HOME", "TMPDIR", "LANG", "XDG_CONFIG_HOME"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)


def uv_options(folder: Path, environ: Mapping[str, str] = os.environ) -> tuple[list[str], dict[str, str]]:
    """Options and the environment for uv; pip's settings are written for it into `folder`, which is private.

    Not on the command line, which every process can read: addresses may hold passwords. Keys and UV_ variables of the
    caller are not passed on.
    """
    variables = {name: environ[name] for name in _KEPT if name in environ}
    variables["PATH"] = "/usr/bin:/bin"
    home = Path(environ.get("HOME", "/nonexistent"))
    own = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "uv" / "uv.toml"
    for file in (own, Path("/etc/uv/uv.toml")):
        if file.is_file():
            return ["--config-file", str(file)], variables
    pip = _pip(home, environ)
    if pip.get("cert"):
        variables["SSL_CERT_FILE"] = pip["cert"].strip()
    lines = list(_as_uv(pip))
    if not lines:
        return ["--no-config"], variables
    # pip searches all of its indexes, in order, so this does too: one of them may lack the wheel for this Python.
    text = "\n".join(['index-strategy = "unsafe-first-match"', *lines])
    config = folder / "indexes.toml"
    config.touch(mode=0o600)
    config.write_text(text, encoding="utf-8")
    return ["--config-file", str(config), "--preview-features", "index-exclude-newer"], variables


def _as_uv(pip: Mapping[str, str]) -> Iterator[str]:
    """pip's settings as lines of uv's file. The default index replaces the public one."""
    folders, more, main = (pip.get(key, "").split() for key in ("find-links", "extra-index-url", "index-url"))
    alone = pip.get("no-index", "").strip().lower() in ("1", "true", "yes", "on")
    if alone and not folders:
        yield "no-index = true"
        return
    if hosts := pip.get("trusted-host", "").split():
        yield f"allow-insecure-host = {json.dumps(hosts)}"
    places = [(place, "flat") for place in folders]
    if not alone:
        places += [(place, "simple") for place in (*more, *main)]
    for number, (place, form) in enumerate(places, 1):
        url = Path(place).as_uri() if Path(place).is_absolute() else place
        yield f"[[index]]\nurl = {json.dumps(url)}\nformat = {json.dumps(form)}"
        if number == len(places) and (alone or main):
            yield "default = true"
        if url.startswith("file:"):
            # Local files come from the user and have no publication date.
            yield "exclude-newer = false"


def _pip(home: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """What pip's files of the machine and of the user set, the user's last."""
    files = [Path("/etc/pip.conf"), home / ".pip" / "pip.conf"]
    files.append(Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf")
    if sys.platform == "darwin":
        files.append(home / "Library" / "Application Support" / "pip" / "pip.conf")
    found: dict[str, str] = {}
    for file in files:
        parser = configparser.RawConfigParser()
        try:
            parser.read(file, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                found |= dict(parser.items(section))
    return found
