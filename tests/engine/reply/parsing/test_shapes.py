"""Every shape of reply that the parser has to survive: one file each, the reply and what must come out of it.

The sections: `reply`, the target's `current` text, and the expected `code`, `tests` or `prose`. 01 to 30 are the shapes
known from other systems; m01 on were written by a real model (Qwen2.5-Coder 0.5B Instruct, Q4_K_M).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.corpora.sections import read

from stet_ls.engine.reply.parsing.parse_reply import parse_reply

SHAPES = sorted((Path(__file__).parent / "shapes").glob("*.txt"))


def test_there_are_thirty_shapes_and_ten_replies_of_a_real_model() -> None:
    numbers = {path.name.split("-")[0] for path in SHAPES}
    assert {f"{number:02}" for number in range(1, 31)} <= numbers
    assert {f"m{number:02}" for number in range(1, 11)} <= numbers


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_each_shape_of_reply_is_parsed(path: Path) -> None:
    shape = read(path)
    reply = parse_reply(
        shape.sections["reply"],
        language=shape.keys["language"],
        reply_kind=shape.keys.get("wants", "unit"),  # type: ignore[arg-type]
        symbol=shape.keys.get("symbol", ""),
        truncated=shape.keys.get("truncated") == "yes",
        current=shape.sections.get("current", ""),
    )
    assert reply.problem == shape.keys.get("problem")
    assert reply.code == shape.sections.get("code")
    if "tests" in shape.sections:
        assert reply.tests == shape.sections["tests"]
    if "prose" in shape.sections:
        assert reply.prose == shape.sections["prose"]
    if "plan" in shape.keys:
        assert reply.plan == shape.keys["plan"]
    if shape.notes:
        assert list(reply.notes) == shape.notes
