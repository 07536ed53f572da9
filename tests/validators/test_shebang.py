"""The language of a file without a suffix is the one that its `#!` line asks for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stet_ls.validators.shebang import language_of_file, language_of_text


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("tool", b"#!/usr/bin/env python3\nprint(1)\n", "python"),
        ("tool", b"#!/usr/bin/python3.12 -u\r\n", "python"),
        ("tool", b"#!/usr/bin/env -S node --enable-source-maps\n", "javascript"),
        ("tool", b"#! /bin/sh -e", "shellscript"),
        ("tool", b"#!/usr/bin/lua\n", "lua"),
        ("tool", b"#!/usr/bin/python2\nprint 1\n", "plaintext"),
        ("tool", b"#!/bin/csh\n", "plaintext"),
        ("tool", b"#!/opt/own/interpreter\n", "plaintext"),
        ("tool", b"#!\xff\n", "plaintext"),
        ("tool", b"#!", "plaintext"),
        ("tool", b"# python\n", "plaintext"),
        ("tool", b"", "plaintext"),
        ("tool.txt", b"#!/usr/bin/env python3\n", "plaintext"),
        ("Makefile", b"#!/usr/bin/env python3\n", "makefile"),
    ],
)
def test_of_a_text(path: str, text: bytes, expected: str) -> None:
    assert language_of_text(path, text) == expected


def test_of_a_file_which_is_opened_only_if_its_name_does_not_tell(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/bash\n")
    os.mkfifo(tmp_path / "pipe")

    assert language_of_file(tmp_path / "tool") == "shellscript"
    assert language_of_file(tmp_path / "nonesuch.py") == "python"
    assert language_of_file(tmp_path / "nonesuch") == "plaintext"
    assert language_of_file(tmp_path / "pipe") == "plaintext"
