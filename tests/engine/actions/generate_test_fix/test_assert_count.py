"""Tests and asserts are counted; what is always true is none."""

from __future__ import annotations

from stet_ls.engine.actions.generate_test_fix.assert_count import AssertCount, count


async def test_tests_without_assertions_do_not_count() -> None:
    assert count("def test_a():\n    assert True\n\n\ndef test_b():\n    assert 1 == 1\n") == AssertCount(2, 0, 0)
    unit = "class TestA(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n"
    assert count(unit) == AssertCount(1, 1, 0)
    assert count('def f():\n    """A.\n\n    >>> f()\n    1\n    """\n') == AssertCount(0, 0, 1)
