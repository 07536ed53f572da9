"""What an operator sees: lines of the log, metrics, health and capabilities. And what must never be in them."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.planted import TOKENS

from stet_ls.server.log import ROOT, set_format, start_log

SECRET = TOKENS["github classic"](random.Random(1))


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "stet.log"
    root = logging.getLogger(ROOT)
    for handler in tuple(root.handlers):
        root.removeHandler(handler)
        handler.close()


def test_a_line_for_people_has_the_event_and_its_fields(log_file: Path) -> None:
    start_log(log_file, "info")
    logging.getLogger(f"{ROOT}.engine.run").info("job ended", extra={"job": "ab12", "seconds": 1.5, "model": "m"})
    (line,) = log_file.read_text().splitlines()
    assert line.endswith("stet_ls.engine.run: job ended job=ab12 model=m seconds=1.5")


def test_a_line_for_programs_is_one_json_object(log_file: Path) -> None:
    start_log(log_file, "info")
    set_format("json")
    logging.getLogger(f"{ROOT}.x").info("stage %s", "a\nb", extra={"job": "ab12", "stage": "model"})
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger(ROOT).exception("it broke")
    first, second = map(json.loads, log_file.read_text().splitlines())
    assert (first["event"], first["job"], first["stage"], first["level"]) == ("stage a\nb", "ab12", "model", "info")
    assert "ValueError: no" in second["exception"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_secret_is_in_a_line(log_file: Path, form) -> None:
    start_log(log_file, "info", form)
    import stet_ls.engine.prompt.redact  # noqa: F401 - as any job has

    logging.getLogger(ROOT).info("the endpoint said %s", SECRET)
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger(ROOT).exception("it broke", extra={"fault": SECRET})
    assert SECRET not in log_file.read_text()
    assert "STET_SECRET_1" in log_file.read_text()


def test_standard_output_stays_clean(log_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start_log(log_file, "debug", "json")
    logging.getLogger(ROOT).error("it broke")
    assert capsys.readouterr().out == ""
