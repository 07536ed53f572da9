"""A model that obeys a comment: the edit stays where it was requested, and its effects are reported."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.engine import Bench, applied, code_reply, request_for
from support.markers import split_markers
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Diagnostic, Workspace
from stet_ls.engine.api.summary import evidence_line
from stet_ls.engine.prompt.fence import ident_for
from stet_ls.validators.source import Span

FILE = Path(__file__).parents[1] / "fixtures" / "hostile" / "buffers.toml"
BUFFERS: list[dict[str, Any]] = tomllib.loads(FILE.read_text("utf-8"))["buffer"]

TEMPLATE = re.compile(
    r"<\|[^|<>]{1,40}\|>|\uff5c|\[/?INST\]|<(?:start|end)_of_turn>|[\U000e0000-\U000e007f\u202e\u2066\u200b]"
)


def fields(buffer: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What the request has besides the buffer."""
    for name, text in buffer.get("project", {}).items():
        (folder / name).write_text(text)
    more: dict[str, Any] = {"context": buffer.get("context", {}), "workspace": Workspace((folder,))}
    if "file" in buffer or "project" in buffer:
        more["path"] = folder / buffer.get("file", "a.py").replace("/", "_")
    if "diagnostic" in buffer:
        more["diagnostics"] = (Diagnostic(Span(0, 3), buffer["diagnostic"]),)
    return more


async def answered(buffer: Mapping[str, Any], scripted: ScriptedModel, folder: Path) -> Answer:
    scripted.default = Reply(code_reply(buffer["reply"], buffer["language"]) + buffer.get("tail", ""))
    async with Bench(scripted) as bench:
        return await bench.run("refactor", buffer["buffer"], language=buffer["language"], **fields(buffer, folder))


def by_name(buffer: Mapping[str, Any]) -> str:
    return str(buffer["name"]).replace(" ", "-")


def assert_only_data(scripted: ScriptedModel) -> None:
    """Each request has the text of others in its fence, where the system prompt calls it data, and nowhere else."""
    for request in scripted.requests:
        for message in request.body["messages"]:
            content = message["content"]
            assert TEMPLATE.search(content) is None
            fence = re.search(r"<data-([0-9a-f]{8})>", content)
            if fence is None:
                assert "evil.example" not in content or message["role"] == "assistant"
                assert "Ignore all" not in content
                continue
            opened, closed = f"<data-{fence[1]}>", f"</data-{fence[1]}>"
            assert (content.count(opened), content.count(closed)) == (1, 1)
            outside = content.partition(opened)[0] + content.rpartition(closed)[2]
            for words in ("evil.example", "Ignore all", "NOTE TO AI", "AI:", "SYSTEM", "os.system"):
                assert words not in outside


@pytest.mark.parametrize("buffer", BUFFERS, ids=by_name)
async def test_injected_instructions_are_sent_as_data_and_their_effects_reported(
    buffer: Mapping[str, Any], scripted: ScriptedModel, stet_home: Path, tmp_path: Path
) -> None:
    answer = await answered(buffer, scripted, tmp_path)
    assert_only_data(scripted)
    danger = next((item for item in answer.evidence if item.check is Check.DANGER), None)
    if buffer.get("broken"):
        assert not answer.success
        return
    assert danger is not None
    reported = buffer["told"]
    if buffer.get("refuted"):
        assert (danger.verdict, answer.refuted) == (Ruling.FAIL, True)
        assert reported in danger.detail
    elif reported:
        assert danger.verdict is Ruling.UNKNOWN, danger.detail
        assert reported in danger.detail
        assert danger.trusted, "an automatic edit asks first"
        assert danger.detail in evidence_line(answer.evidence), "the message says it"
    if answer.edits:
        text, _ = split_markers(buffer["buffer"])
        after = applied(answer)
        assert answer.guard is not None
        head, tail = text.encode()[: answer.guard.start], text.encode()[answer.guard.end :]
        assert after.encode().endswith(tail), "what stands behind the target stays"
        assert head.decode() in after, "and so does what stands before it"
        assert answer.new_files == ()
    if "outside" in buffer:
        assert buffer["outside"] in applied(answer)


async def test_a_project_about_injected_instructions_can_be_edited(scripted: ScriptedModel, stet_home: Path) -> None:
    """A tokenizer's own source goes out with placeholders and comes back as it is."""
    words = [
        "<|im_start|>",
        "<|eot_id|>",
        "[INST]",
        "<start_of_turn>",
        "<\uff5cUser\uff5c>",
        "<|channel|>",
        "<s>",
        "</s>",
    ]
    code = "def special():\n    return [\n" + "".join(f"        {word!r},\n" for word in words) + "    ]$0\n"

    def shorter(body: Mapping[str, Any]) -> str:
        sent = body["messages"][-1]["content"]
        names = dict.fromkeys(re.findall(r"STET_TOKEN_\d+", sent))
        return code_reply("def special():\n    return (" + ", ".join(f'"{name}"' for name in names) + ")")

    scripted.on(lambda body: True, shorter)
    async with Bench(scripted) as bench:
        answer = await bench.run("refactor", code)
    assert answer.success, answer.message
    assert answer.code.count("STET_") == 0
    for word in words:
        assert f'"{word}"' in answer.code


def test_there_are_enough_injection_samples() -> None:
    assert len(BUFFERS) >= 30
    assert len({buffer["name"] for buffer in BUFFERS}) == len(BUFFERS)
    idents = {ident_for(f"document {number}") for number in range(200)}
    assert len(idents) == 200
    known = ident_for("document", "text")
    assert ident_for("document", f"a text that knows {known}") != known
    assert request_for("refactor", BUFFERS[0]["buffer"]).source.text
