"""Output for programs: JSON, SARIF, and the workflow commands that GitHub Actions reads.

Imports nothing of the engine or of the terminal's libraries: `stet check` and a kept conclusion of `stet verify` take
less time than loading them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from stet_ls import __version__
from stet_ls.validators.invisible_chars import HIDDEN

# Lone surrogates stand for bytes of names that are not UTF-8: no encoding but JSON's own escapes can write them.
_UNPRINTABLE = re.compile(f"{HIDDEN.pattern}|[\ud800-\udfff]")


def print_json(value: object, indent: int | None = None) -> None:
    """Prints a value as JSON, on one line unless indented. What a terminal might obey, or no encoding can represent, is
    escaped.
    """
    spelled = json.dumps(value, ensure_ascii=False, indent=indent)
    print(_UNPRINTABLE.sub(_escaped, spelled))


def print_sarif(name: str, results: Sequence[Mapping[str, Any]]) -> None:
    """Prints results as one run of the tool `name`."""
    rules = [{"id": rule} for rule in sorted({result["ruleId"] for result in results})]
    driver = {"name": name, "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    print_json({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]})


def sarif_result(
    rule: str, level: str, message: str, uri: str, region: Mapping[str, int], fingerprint: str = ""
) -> dict[str, Any]:
    """One result; `fingerprint` is the same for the same finding in a later run."""
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}],
        **({"partialFingerprints": {"stetFinding/v1": fingerprint}} if fingerprint else {}),
    }


def command_data(value: str) -> str:
    """Escapes a workflow command's message: a line end in it would end the command and begin another."""
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def property_value(value: str) -> str:
    """Escapes a property of a workflow command."""
    return command_data(value).replace(":", "%3A").replace(",", "%2C")


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found.group()).strip('"') if found.group() != "\x7f" else "\\u007f"
