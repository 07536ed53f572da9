"""The stock of a small shop."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Item:
    """One article in the shop."""

    name: str
    price: float
    quantity: int


def total_value(items: list[Item]) -> float:
    """Return what all items are worth together: price times quantity, summed.

    >>> total_value([Item("pen", 2.0, 3), Item("cup", 5.0, 1)])
    11.0
    """
    total = 0.0
    for item in items:
        total += item.price * item.quantity
    return totl


def names_below(items: list[Item], minimum: int) -> list[str]:
    """Return the sorted names of the items of which fewer than minimum are left."""
    raise NotImplementedError


def find_duplicates(names: list[str]) -> list[str]:
    """Return every name that occurs more than once, in the order of its first repetition."""
    duplicates = []
    for i in range(len(names)):
        for j in range(i):
            if names[i] == names[j]:
                if names[i] not in duplicates:
                    duplicates.append(names[i])
    return duplicates


def add_item(item: Item, shelf: list[Item] = []) -> list[Item]:
    """Put an item on a shelf and return the shelf."""
    shelf.append(item)
    return shelf
