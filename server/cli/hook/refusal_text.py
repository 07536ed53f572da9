"""The text with which a refuted change goes back to an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stet_ls.engine.plurals import plural

HEADING = "Stet refutes this change"
"""The first words of every refusal: a prompt that begins with them is one."""
MOST_FINDINGS = 5


@dataclass(frozen=True, slots=True)
class VerifiedChange:
    """What the judges said about a change. `findings` are lines, the worst first, each with its counter-example.

    `base` is what it was compared with, `option` that of `stet verify` which shows the same.
    """

    REFUTED: ClassVar[str] = "refuted"

    conclusion: str
    summary: str
    findings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    base: str = "the start of the session"
    option: str = "--since-start"


def refusal(outcome: VerifiedChange) -> str:
    """The worst findings and the notes, as data, within the shortest limit of all agents: both name files."""
    # A verdict that was given before needs none of it, and importing it takes longer than all the rest.
    from stet_ls.server.cli.agents.fenced import MOST_CHARACTERS, clean, fence

    total = len(outcome.findings)
    shown = [clean(line, 1_200) for line in outcome.findings[:MOST_FINDINGS]]
    count = f"the worst {len(shown)} of {total} findings" if total > len(shown) else plural(total, "finding")
    notes = [f"note: {clean(note)}" for note in outcome.notes[:5]]
    head = f"{HEADING} ({count}; compared with {outcome.base}; {clean(outcome.summary)}).\n"
    tail = f"\nIf a difference is meant, say so to the user. `stet verify {outcome.option}` shows all findings."
    return head + fence([*shown, *notes], MOST_CHARACTERS - len(head) - len(tail)) + tail
