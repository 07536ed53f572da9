"""Names that import statements bind, language by language: they lead to the files that a prompt shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.engine.prompt.languages.import_binding import Binding
from stet_ls.engine.prompt.languages.language_table import for_language

HERE = Path("/w/shop/cart.py")


@pytest.mark.parametrize(
    ("language", "statement", "expected"),
    [
        ("python", "import os.path, json", [Binding(("os", "path")), Binding(("json",))]),
        ("python", "from a.b import c as d  # of it", [Binding(("a", "b"), {"d": "c"})]),
        ("python", "from ..tax import rate", [Binding(("/", "w", "tax"), {"rate": "rate"}, exact=True)]),
        ("go", 'import "example.com/shop/tax"', [Binding(("tax",))]),
        ("rust", "use crate::tax::{rate, Table as T};", [Binding(("tax",), {"rate": "rate", "T": "Table"})]),
        ("rust", "use tax::rate;", [Binding(("tax",), {"rate": "rate"}), Binding(("tax", "rate"))]),
        ("java", "import shop.Tax;", [Binding(("shop", "Tax")), Binding(("shop",), {"Tax": "Tax"})]),
        ("cpp", '#include "../tax/rates.hpp"', [Binding(("tax", "rates"))]),
        ("c", "#include <stdio.h>", []),
        ("ruby", "require_relative 'tax/rates'", [Binding(("tax", "rates"))]),
        ("lua", 'local tax = require("shop.tax")', [Binding(("shop", "tax"))]),
        ("cobol", "COPY TAX.", []),
    ],
)
def test_an_import_binds_names_of_a_module(language: str, statement: str, expected: list[Binding]) -> None:
    assert list(for_language(language).bindings(statement, HERE)) == expected


@pytest.mark.parametrize("language", ["javascript", "typescriptreact"])
def test_a_script_binds_what_it_takes_from_a_path(language: str) -> None:
    (found,) = for_language(language).bindings("import { rate as r } from '../tax/rates';", Path("/w/shop/cart.ts"))
    assert (found.parts[-3:], found.names, found.exact) == (("w", "tax", "rates"), {"r": "rate"}, True)


def test_without_a_path_a_relative_module_is_unknown() -> None:
    assert list(for_language("python").bindings("from . import tax", None)) == [Binding((), {"tax": "tax"}, exact=True)]
