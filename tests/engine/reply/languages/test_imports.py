"""Imports of replies, language by language: read one by one, known by what they bind, and written in one statement."""

from __future__ import annotations

import pytest

from stet_ls.engine.reply.languages.language_table import for_language

STATEMENTS = {
    "from a.b import c, d as e": ("python", ["c", "e"], ["from a.b import c, d as e"]),
    "import os.path, json as j": ("python", ["os", "j"], ["import os.path", "import json as j"]),
    "from __future__ import annotations": ("python", [""], ["from __future__ import annotations"]),
    "import React, { useState as use } from 'react';": (
        "javascript",
        ["React", "use"],
        ["import React from 'react';", "import { useState as use } from 'react';"],
    ),
    "import * as fs from 'fs'": ("typescript", ["fs"], ["import * as fs from 'fs'"]),
    "const path = require('path');": ("javascript", ["path"], ["const path = require('path');"]),
    'import (\n\t"os"\n\tyaml "gopkg.in/yaml.v3"\n)': (
        "go", ["os", "yaml"], ['import "os"', 'import yaml "gopkg.in/yaml.v3"'],
    ),
    'import "example.com/go-shop/v2"': ("go", ["shop"], ['import "example.com/go-shop/v2"']),
    "use std::fmt::{Display, write};": ("rust", ["", "write"], ["use std::fmt::{Display, write};"]),
    "use a::b as c;": ("rust", ["c"], ["use a::b as c;"]),
    "import static java.util.List.of;": ("java", ["of"], ["import static java.util.List.of;"]),
    "import java.util.*;": ("java", [""], ["import java.util.*;"]),
    "#include <stdio.h>": ("c", [""], ["#include <stdio.h>"]),
}  # fmt: skip


@pytest.mark.parametrize("statement", STATEMENTS)
def test_an_import_is_known_by_what_it_binds_and_written_again(statement: str) -> None:
    language, bound, written = STATEMENTS[statement]
    form = for_language(language).imports
    assert form is not None
    found = form.imports([statement])
    assert [one.bound for one in found] == bound
    assert form.statements(found) == written


@pytest.mark.parametrize(
    ("language", "statements", "written"),
    [
        ("python", ["from a import b", "from a import c, b"], ["from a import b, c"]),
        ("javascript", ["import { a } from 'm';", "import { b, a } from 'm';"], ["import { a, b } from 'm';"]),
        ("rust", ["use a::b;", "use a::{b, c};"], ["use a::{b, c};"]),
        ("go", ['import "os"', 'import (\n\t"os"\n)'], ['import "os"']),
    ],
)
def test_imports_that_are_there_twice_are_written_once(
    language: str, statements: list[str], written: list[str]
) -> None:
    form = for_language(language).imports
    assert form is not None
    assert form.statements(form.imports(statements)) == written


def test_a_dialect_has_the_row_of_its_family_and_an_unknown_language_the_defaults() -> None:
    assert for_language("typescriptreact") is for_language("javascript")
    assert for_language("cobol").imports is None
    assert for_language("cobol").frames == (("", ""),)
