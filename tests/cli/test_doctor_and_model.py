"""`stet doctor` and `stet model`: what is here, told without starting anything."""

from __future__ import annotations

import json
from pathlib import Path

from support.command import Stet
from support.scripted import ScriptedModel, dead_endpoint


def test_doctor_tells_what_works(stet: Stet, scripted: ScriptedModel, stet_home: Path) -> None:
    ran = stet("doctor")

    assert ran.status == 0, ran.err
    assert f"✓ model     scripted-7b at {scripted.base_url} is ready" in ran.out
    assert "✓ checker   python: syntax by ruff, ast; lint by ruff; format by ruff" in ran.out
    assert "– sandbox   not built yet: nothing is run" in ran.out
    assert str(stet_home / "config.toml") in ran.out
    assert scripted.requests == []
    assert "test-key" not in ran.out + ran.err


def test_doctor_without_a_model_is_exit_3(stet: Stet) -> None:
    with dead_endpoint() as address:
        ran = stet("doctor", "--json", STET_BASE_URL=address)

    report = json.loads(ran.out)
    assert ran.status == 3
    assert report["model"]["status"] == "unreachable"
    assert {"name", "state", "detail"} == set(report["parts"][0])
    assert report["parts"][0]["detail"].startswith(f"STET_BASE_URL ({address}) cannot be reached: ")


def test_list_names_each_model_by_its_digest(stet: Stet) -> None:
    ran = stet("model", "list", "--json")

    rows = {row["name"]: row for row in json.loads(ran.out)}
    assert ran.status == 0
    assert set(rows) == {"tiny", "small"}
    assert all(len(row["sha256"]) == 64 and row["bytes"] > 4e8 and row["path"] is None for row in rows.values())
    assert len(stet("model", "list").out.splitlines()) == 2


def test_a_file_that_is_another_model_is_refused(stet: Stet, folder: Path, stet_home: Path) -> None:
    (folder / "weights.gguf").write_bytes(b"GGUF")

    ran = stet("model", "pull", "tiny", "--from", "weights.gguf")

    assert (ran.status, ran.out) == (2, "")
    assert "is not Qwen2.5-Coder 0.5B Instruct" in ran.err
    assert not list(stet_home.rglob("*.gguf"))


def test_probe_makes_one_call_and_tells_what_it_learnt(stet: Stet, scripted: ScriptedModel) -> None:
    scripted.reply("ready")

    ran = stet("model", "probe", "--json")

    found = json.loads(ran.out)
    assert ran.status == 0, ran.err
    assert found["model"] == "scripted-7b"
    assert found["seconds"] >= found["first_token_seconds"] >= 0
    assert len(scripted.requests) == 1
