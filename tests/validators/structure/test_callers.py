"""Who calls whom."""

from __future__ import annotations

import pytest

from stet_ls.validators.source import Source
from stet_ls.validators.structure import callers, units

CALLED = {
    "python": "def used(): pass\ndef one():\n    used()\nclass A:\n    def two(self): return self.used()\nx = used()\n",
    "javascript": "function used() {}\nfunction one() { used(); }\nclass A { two() { this.used(); } }\nused();\n",
    "typescript": "function used(): void {}\nconst one = () => used();\nclass A {\n  two() { this.used<T>(); }\n}\n",
    "go": "package p\nfunc used() {}\nfunc one() { used() }\nfunc (a A) two() { a.used() }\n",
    "rust": "fn used() {}\nfn one() { used(); }\nimpl A { fn two(&self) { Self::used(); } }\n",
    "java": "class B { void used() {} void one() { used(); } void two() { this.used(); } }\n",
    "cpp": "void used() {}\nvoid one() { used(); }\nvoid two() { a.used(); }\n",
    "csharp": "class B { void used() {} void one() { used(); } void two() { this.used(); } }\n",
}


@pytest.mark.parametrize("language", CALLED)
def test_callers_are_the_units_around_the_calls(language: str) -> None:
    source = Source(CALLED[language])
    used = next(unit for unit in units(source, language) if unit.name == "used")
    found = callers(source, language, used)
    assert [unit.name for unit in found] == ["one", "two"]
    assert all(unit.signature for unit in found)


def test_a_constructors_callers_name_its_class() -> None:
    source = Source("class A:\n    def __init__(self): pass\ndef make():\n    return A()\n")
    made = next(unit for unit in units(source, "python") if unit.name == "__init__")
    assert [unit.name for unit in callers(source, "python", made)] == ["make"]
