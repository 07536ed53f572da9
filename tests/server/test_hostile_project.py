"""A project that was written to harm whoever opens it: the server stays quick, quiet and in its place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from support.session import boxes, command, editor


async def test_a_settings_file_full_of_mistakes_is_no_flood_of_message_boxes(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    (tmp_path / ".stet.toml").write_text("".join(f"wrong{number} = 1\n" for number in range(150)))
    folder = {"uri": tmp_path.as_uri(), "name": "project"}
    async with editor(environment, rootUri=folder["uri"], workspaceFolders=[folder]) as client:
        await command(client, "stet.health")

        told = boxes(client)
    assert len(told) == 4
    assert told[-1].startswith("147 more things are wrong")
