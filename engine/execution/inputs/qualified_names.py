"""Qualified names: `Box.open` is the method `open` of `Box`."""

from __future__ import annotations


class QualifiedName:
    """What has a qualified `name`."""

    __slots__ = ()
    name: str

    @property
    def callee(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]


def is_of(name: str, unit: str) -> bool:
    """Whether a function is the unit, or a method of it."""
    return name == unit or name.rpartition(".")[0] == unit
