"""Finds the kept conclusion on a change before the settings are read and a sandbox is looked for.

Both take longer than the answer may take: their libraries have to be imported, and a sandbox has to be tried. A record
says which conclusion a request got. Its key holds the raw bytes of the settings instead of their values, and it names a
state of the machine and of the project's interpreters instead of what was found there: if anything of that differs, the
long way decides.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.sandbox.environments.environment_state import EnvironmentNeeds
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.storage.setting_files import settings_state
from stet_ls.engine.verify.changes.read_trees import TwoTrees
from stet_ls.engine.verify.changes.tree import tree_id
from stet_ls.engine.verify.report import Report
from stet_ls.engine.verify.stored.records import key_of, read_record
from stet_ls.engine.verify.stored.report_record import kept_report


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """What is asked about two trees, for the folder `near` and its settings as they were then."""

    trees: TwoTrees
    near: Path
    paths: Paths
    settings: str
    key: str

    @property
    def is_current(self) -> bool:
        """Whether the settings still are as they were."""
        return settings_state(self.paths, self.near, os.environ) == self.settings


def request_for(trees: TwoTrees, near: Path, paths: Paths, intent: str) -> VerifyRequest:
    """The request of a person or a program that claims `intent` ("" for nothing). Reads both trees."""
    settings = settings_state(paths, near, os.environ)
    sides = tree_id(trees.base), tree_id(trees.head)
    key = key_of("request", str(trees.root), sides, trees.within, trees.messages, intent, settings)
    return VerifyRequest(trees, near, paths, settings, key)


def known_answer(request: VerifyRequest) -> Report | None:
    """The report that the request got before; None if there is none, or something that it depends on is different."""
    started = time.monotonic()
    folder, trees = request.paths.verified, request.trees
    try:
        row = json.loads(read_record(folder, request.key))
        needs = EnvironmentNeeds(row["python"], tuple(row["programs"]))
        if row["state"] != needs.state(trees.root):
            return None
        return kept_report(folder, row["report"], (trees.base.name, trees.head.name), time.monotonic() - started)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def answer_record(report_key: str, needs: EnvironmentNeeds, root: Path) -> str:
    """The record that leads from a request to its report."""
    state = needs.state(root)
    return json.dumps({"report": report_key, "python": needs.python, "programs": needs.programs, "state": state})
