"""Where packages come from: the indexes that the user set up for uv or pip in their own files, never a project's."""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Mapping
from pathlib import Path

_KEPT = (
    *("HOME", "TMPDIR", "LANG", "XDG_CONFIG_HOME"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)


def uv_options(environ: Mapping[str, str] = os.environ) -> tuple[list[str], dict[str, str]]:
    """Options and the environment for uv. Addresses go into the environment: some hold passwords, and a command line
    can be read by every process. No key and no UV_ variable of the caller's is handed on.
    """
    variables = {name: environ[name] for name in _KEPT if name in environ}
    variables["PATH"] = "/usr/bin:/bin"
    home = Path(environ.get("HOME", "/nonexistent"))
    own = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "uv" / "uv.toml"
    for file in (own, Path("/etc/uv/uv.toml")):
        if file.is_file():
            return ["--config-file", str(file)], variables
    return ["--no-config"], variables | _as_uv(_pip(home, environ))


def _as_uv(pip: Mapping[str, str]) -> dict[str, str]:
    """pip's settings by the names that uv has for them."""
    lists = {"extra-index-url": "UV_INDEX", "find-links": "UV_FIND_LINKS", "trusted-host": "UV_INSECURE_HOST"}
    told = {name: " ".join(pip[key].split()) for key, name in lists.items() if pip.get(key)}
    if "UV_FIND_LINKS" in told:
        told["UV_FIND_LINKS"] = told["UV_FIND_LINKS"].replace(" ", ",")
    if pip.get("index-url"):
        told["UV_DEFAULT_INDEX"] = pip["index-url"].strip()
    if pip.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        told["UV_NO_INDEX"] = "1"
    if pip.get("cert"):
        told["SSL_CERT_FILE"] = pip["cert"].strip()
    return told


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
