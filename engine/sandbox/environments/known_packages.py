"""Packages by name: those whose import name differs from the package name, and well-known ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

from stet_ls.validators.common_ends import common_ends

DISTRIBUTIONS: Mapping[str, str] = {
    "attr": "attrs", "bs4": "beautifulsoup4", "Crypto": "pycryptodome", "Cryptodome": "pycryptodomex",
    "cv2": "opencv-python", "dateutil": "python-dateutil", "docx": "python-docx", "dotenv": "python-dotenv",
    "fitz": "PyMuPDF", "flask_cors": "Flask-Cors", "flask_sqlalchemy": "Flask-SQLAlchemy", "git": "GitPython",
    "github": "PyGithub", "grpc": "grpcio", "jose": "python-jose", "jwt": "PyJWT",
    "magic": "python-magic", "markdown": "Markdown", "mpl_toolkits": "matplotlib", "MySQLdb": "mysqlclient",
    "nacl": "PyNaCl", "OpenSSL": "pyOpenSSL", "PIL": "pillow", "pkg_resources": "setuptools", "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary", "pythonjsonlogger": "python-json-logger", "rest_framework": "djangorestframework",
    "serial": "pyserial", "skimage": "scikit-image", "sklearn": "scikit-learn",
    "slugify": "python-slugify", "socks": "PySocks", "telegram": "python-telegram-bot", "tlz": "toolz",
    "umap": "umap-learn", "usb": "pyusb", "websocket": "websocket-client", "yaml": "PyYAML", "zmq": "pyzmq",
    "zstd": "zstandard", "_pytest": "pytest", "_yaml": "PyYAML", "multipart": "python-multipart",
}  # fmt: skip
"""Import name -> package name, where the two differ."""

SYSTEM: Mapping[str, str] = {
    "tkinter": "python3-tk", "_tkinter": "python3-tk", "turtle": "python3-tk", "gi": "python3-gi", "apt": "python3-apt",
    "cairo": "python3-cairo", "dbus": "python3-dbus", "bpy": "blender", "rpm": "python3-rpm",
    "_curses": "libncurses", "_sqlite3": "libsqlite3", "_lzma": "liblzma", "_ctypes": "libffi", "_ssl": "openssl",
}  # fmt: skip
"""Modules that no wheel provides -> the system package (Debian's name) that does."""


@cache
def well_known() -> frozenset[str]:
    """Normalized names of widely used packages."""
    lines = Path(__file__).with_name("well_known.txt").read_text(encoding="ascii").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def normalized(name: str) -> str:
    """A package name as the packaging standards compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def distribution(module: str, installed: Mapping[str, tuple[str, str]] | None = None) -> str:
    """The package for an import: from the user's environment, else from the table, else of the same name."""
    if installed and module in installed:
        return installed[module][0]
    return DISTRIBUTIONS.get(module, module)


def near_known(name: str, project: Collection[str] = ()) -> str:
    """The package, widely used or of the project, whose name is one letter off; "" if there is none.

    A model or a hurried person misspells a name, and someone may have registered the misspelled one.
    """
    package = normalized(name)
    return min((each for each in (*well_known(), *project) if one_letter_off(package, each)), default="")


def misspellings(names: Iterable[str], project: Collection[str] = ()) -> str:
    """A sentence about each name that is one letter off a known one."""
    near = {name: known for name in names if (known := near_known(name, project))}
    return " ".join(f"{name} is one letter off {known}." for name, known in near.items())


def one_letter_off(one: str, other: str) -> bool:
    """Whether one letter was added, left out, replaced, or swapped with the next one."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    at = common_ends(one, other)[0]
    return (
        one[at + 1 :] == other[at:]
        or one[at:] == other[at + 1 :]
        or one[at + 1 :] == other[at + 1 :]
        or (one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :])
    )
