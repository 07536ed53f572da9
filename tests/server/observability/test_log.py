"""The log file is its user's own."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from stet_ls.server.observability.log import MAX_BYTES, ROOT, start_log


@pytest.fixture
def usual_mask() -> Iterator[None]:
    """The mask that systems ship with: others may read what is made."""
    before = os.umask(0o022)
    yield
    os.umask(before)
    root = logging.getLogger(ROOT)
    for handler in tuple(root.handlers):
        root.removeHandler(handler)
        handler.close()


@pytest.mark.usefixtures("usual_mask")
def test_the_log_and_its_rotated_files_are_private(tmp_path: Path) -> None:
    file = tmp_path / "log" / "stet.log"
    start_log(file, "info")
    logging.getLogger(ROOT).info("x" * (MAX_BYTES - 1000))
    logging.getLogger(ROOT).info("x" * 1000)

    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in [file.parent, *file.parent.iterdir()]}
    assert modes == {"log": 0o700, "stet.log": 0o600, "stet.log.1": 0o600}


def test_an_unwritable_log_is_reported_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], usual_mask: None
) -> None:
    (tmp_path / "stet.log").mkdir()
    for _ in range(2):
        start_log(tmp_path / "stet.log", "info")
        logging.getLogger(ROOT).error("a raw line")

    assert capsys.readouterr().err == f"warning: cannot write a log: {tmp_path / 'stet.log'}: Is a directory\n"


def test_a_full_disk_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str], usual_mask: None) -> None:
    start_log(tmp_path / "stet.log", "info")
    (tmp_path / "stet.log").symlink_to("/dev/full")
    logging.getLogger(ROOT).error("a raw line")

    assert capsys.readouterr().err == ""
