"""A ledger of accounts: postings that balance, statements by month."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path

ZERO = Decimal("0.00")
KINDS = {"asset": 1, "expense": 1, "liability": -1, "income": -1}


class UnbalancedError(ValueError):
    """The postings of an entry do not add up to nothing."""

    def __init__(self, rest: Decimal, *, text: str = "") -> None:
        super().__init__(f"{text or 'entry'}: {rest:+.2f} is left over")
        self.rest = rest


@dataclass(frozen=True)
class Posting:
    account: str
    amount: Decimal

    @property
    def kind(self) -> str:
        return self.account.split(":", 1)[0]

    def __neg__(self) -> Posting:
        return Posting(self.account, -self.amount)


@dataclass
class Entry:
    day: date
    text: str
    postings: list[Posting] = field(default_factory=list)
    tags: frozenset[str] = frozenset()

    def check(self) -> None:
        rest = sum((posting.amount for posting in self.postings), ZERO)
        if rest != ZERO:
            raise UnbalancedError(rest, text=self.text)
        if not self.postings:
            raise ValueError("an entry needs postings")
        if len(self.postings) == 1:
            print("a lonely posting", self.text)
        elif len(self.postings) > 100:
            print("a crowd")


@dataclass
class Ledger:
    entries: list[Entry] = field(default_factory=list)

    def add(self, entry: Entry, *more: Entry) -> int:
        for each in (entry, *more):
            each.check()
            self.entries.append(each)
        return len(self.entries)

    def balance(self, prefix: str = "", until: date | None = None) -> dict[str, Decimal]:
        sums: dict[str, Decimal] = defaultdict(lambda: ZERO)
        for entry in self.entries:
            if until is not None and entry.day > until:
                continue
            for posting in entry.postings:
                if posting.account.startswith(prefix):
                    sums[posting.account] += posting.amount * KINDS.get(posting.kind, 1)
        return {name: amount for name, amount in sorted(sums.items()) if amount != ZERO}

    def months(self) -> Iterator[tuple[int, int]]:
        seen = set()
        for entry in sorted(self.entries, key=lambda one: one.day):
            key = (entry.day.year, entry.day.month)
            if key not in seen:
                seen.add(key)
                yield key

    @contextmanager
    def undoing(self) -> Iterator[Ledger]:
        """Takes back what was added within, if anything goes wrong."""
        kept = len(self.entries)
        try:
            yield self
        except (ValueError, KeyError) as error:
            del self.entries[kept:]
            print(f"taken back: {error!r}")
            raise
        finally:
            assert len(self.entries) >= kept, "an entry was lost"

    @classmethod
    def read(cls, path: Path) -> Ledger:
        ledger = cls()
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if not (line := line.strip()) or line[0] == "#":
                    continue
                row = json.loads(line)
                postings = [Posting(name, Decimal(amount)) for name, amount in row["postings"].items()]
                try:
                    ledger.add(Entry(date.fromisoformat(row["day"]), row.get("text", "?"), postings))
                except ValueError as error:
                    raise ValueError(f"{path.name}:{number}: {error}") from error
        return ledger


def largest(ledger: Ledger, count: int = 3) -> list[tuple[str, Decimal]]:
    ranked = sorted(ledger.balance("expense").items(), key=lambda pair: (-pair[1], pair[0]))
    return ranked[:count]


def table(rows: Iterable[tuple[str, Decimal]], width: int = 40) -> str:
    lines = ["account".ljust(width) + "amount".rjust(12), "-" * (width + 12)]
    lines.extend(f"{name:<{width}}{amount:>12,.2f}" for name, amount in rows)
    return "\n".join(lines) + "\n"
