"""What customers pay."""

from __future__ import annotations


def discount(total: float, member: bool, coupon: str | None) -> float:
    """Return the share of the total that a customer saves, from 0 to 0.3."""
    if member:
        if total > 100:
            if coupon is not None:
                return 0.3
            else:
                return 0.2
        else:
            if coupon is not None:
                return 0.15
            else:
                return 0.1
    else:
        if coupon is not None:
            return 0.05
        else:
            return 0.0


def split_bill(total: float, people: int) -> list[float]:
    """Split a total among people; the first of them pays the cents that are left over."""
    cents = round(total * 100)
    share, rest = divmod(cents, people)
    return [(share + rest) / 100] + [share / 100] * (people - 1)
