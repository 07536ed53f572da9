"""The specification of a Python unit."""

from __future__ import annotations

from stet_ls.engine.actions.generate_test_fix.languages.python import specification


def test_a_specification_contains_nothing_of_the_candidate() -> None:
    before = 'RATE = 2\n\n\nclass Cart:\n    """Things."""\n\n    def total(self): ...\n'
    after = (
        'import math\n\nRATE = 2\nTABLE = {1: "x"}\n\n\nclass Cart:\n    """Things."""\n    size: int = 0\n\n'
        '    def total(self) -> float:\n        """Made up."""\n        return math.pi\n\n\nprint(TABLE)\n'
    )
    text = specification(before, after, "Cart.total")
    assert text is not None
    assert "Things." in text
    assert "def total(self) -> float:" in text
    assert not {"TABLE", "Made up", "math.pi", "print"} & set(text.replace("(", " ").split())
    assert specification(before, "def f(:", "f") is None
