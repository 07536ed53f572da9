"""Files have the columns, keys and separators that the code asks for."""

from __future__ import annotations

import ast

from stet_ls.engine.execution.python.inputs.values.resources.file_contents import contents_for


def test_tables_have_the_columns_that_are_read_and_one_begins_with_a_mark() -> None:
    code = 'def f(path):\n    for row in csv.DictReader(open(path)):\n        use(row["name"], row["amount"])\n'
    found = contents_for(ast.parse(code))
    assert all(text.lstrip("\ufeff").startswith("name,amount") for text in found)
    assert any(text.startswith("\ufeff") for text in found)


def test_lines_are_records_with_the_keys_that_are_read_and_one_is_broken() -> None:
    code = (
        'def f(path):\n    for line in open(path):\n        event = json.loads(line)\n        use(event.get("kind"))\n'
    )
    found = contents_for(ast.parse(code))
    assert any('{"kind": "a"}\n' in text for text in found)
    assert any("\n\n" in text for text in found)


def test_lines_have_the_separators_of_the_code() -> None:
    found = contents_for(ast.parse('def f(path):\n    return [line.split(";") for line in open(path)]\n'))
    assert any("a;1\n" in text for text in found)


def test_code_that_names_nothing_gets_nothing() -> None:
    assert contents_for(ast.parse("def f(path):\n    return open(path).read()\n")) == []
