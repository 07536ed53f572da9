"""Every shape of reply that the parser has to survive: one file each, the reply and what must come out of it.

A file starts with `%% key: value` lines; `%% reply`, `%% current`, `%% code`, `%% tests` and `%% prose` open sections
that run to the next `%%` line. 01 to 30 are the shapes known from other systems, m01 on were written by a real model
(Qwen2.5-Coder 0.5B Instruct, Q4_K_M).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stet_ls.engine.reply.parse import parse_reply

SHAPES = sorted((Path(__file__).parent / "shapes").glob("*.txt"))


@dataclass
class Shape:
    keys: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)


def read(path: Path) -> Shape:
    shape = Shape()
    section: list[str] | None = None
    name, end = "", "\n"
    for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n"):
        if not line.startswith("%% "):
            assert section is not None, f"{path.name}: text before the first section"
            section.append(line)
            continue
        key, colon, value = line[3:].partition(": ")
        if colon and key == "note":
            shape.notes.append(value)
        elif colon:
            shape.keys[key] = value
        if section is not None:
            shape.sections[name] = end.join(section)
        name, end = key.split(" ")[0], "\r\n" if key.endswith(" crlf") else "\n"
        section = None if colon else []
    if section is not None:
        shape.sections[name] = end.join(section)
    return shape


def test_all_thirty_shapes_and_ten_of_a_real_model_are_here() -> None:
    numbers = {path.name.split("-")[0] for path in SHAPES}
    assert {f"{number:02}" for number in range(1, 31)} <= numbers
    assert {f"m{number:02}" for number in range(1, 11)} <= numbers


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: path.stem)
def test_shape(path: Path) -> None:
    shape = read(path)
    reply = parse_reply(
        shape.sections["reply"],
        language=shape.keys["language"],
        wants=shape.keys.get("wants", "unit"),  # type: ignore[arg-type]
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
