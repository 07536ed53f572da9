"""Code that continues after the requested unit, and code that only looks like it."""

from __future__ import annotations

import pytest

from stet_ls.engine.reply.parsing.overrun import continues_after_unit

UNIT = "def mean(xs):\n    return sum(xs) / len(xs)\n"
CALLS = "".join(f"assert mean([{number}]) == {number}\n" for number in range(60))
HELPER = "def helper_{}(xs):\n    total = 0\n    for x in xs:\n        total += x\n    return total\n"
OTHERS = "\n".join(HELPER.format(number) for number in range(20))
TYPED = "function f(x: string): void;\nfunction f(x: number): void;\nfunction f(x: any) {\n  use(x);\n}\n"


@pytest.mark.parametrize(
    ("reply", "language", "unit", "endless"),
    [
        (f"```python\n{UNIT}", "python", "mean", False),
        (f"```python\n{UNIT}\n\n{CALLS[:300]}", "python", "mean", False),
        (f"```python\n{UNIT}\n\n{CALLS}", "python", "mean", True),
        (f"```python\n{UNIT}\n\n{OTHERS}", "python", "mean", False),
        (f"```python\n{CALLS}", "python", "", False),
        (f"```python\n{UNIT}```\nOops, fixed:\n```python\n{UNIT}```\n", "python", "mean", False),
        (f"```python\n{UNIT}\n{UNIT}", "python", "mean", True),
        (f"```python\n{UNIT}```\n```python\n{UNIT}```\n```python\n{UNIT}", "python", "mean", True),
        (f"```typescript\n{TYPED}```\n", "typescript", "f", False),
        (f"{UNIT}{CALLS}", "python", "mean", False),
    ],
    ids=[
        "complete", "an example", "calls", "helpers", "a script", "a corrected version", "twice in a block",
        "three versions", "overloads", "no block",
    ],
)  # fmt: skip
def test_only_a_reply_that_runs_on_is_stopped(reply: str, language: str, unit: str, endless: bool) -> None:
    assert continues_after_unit(reply, language, unit) is endless
