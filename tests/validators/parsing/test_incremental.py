"""A text that differs a little from one that is known is parsed from its tree, and gives the tree of the whole text.

The texts are the samples of the mutation corpus; the edits are what hands, clients and models do.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter
from hypothesis import given, settings
from hypothesis import strategies as st

from stet_ls.validators.parsing import grammars, tree_cache
from stet_ls.validators.parsing.incremental_edits import edits
from stet_ls.validators.parsing.parse import clean, parse
from stet_ls.validators.source import Source, Span, Splice

_CORPUS = Path(__file__).parents[1] / "corpus" / "samples"
LANGUAGES = {"python", "javascript", "typescript", "typescriptreact", "go", "rust", "java", "cpp", "csharp"}
SAMPLES = [min((_CORPUS / language).iterdir()) for language in sorted(LANGUAGES)]
FRAGMENTS = [
    *("(", ")", "{", "}", "[", "]", '"', "'", "`", ";", ",", ":", "=", "<", ">", "/*", "*/", "//", "#", "\\", "'''"),
    *("x", " ", "    ", "\t", "\n", "\r", "\r\n", "if ", "return ", "class ", "case ", "else", "é", "中", "😀", "\0"),
    *("\ud83d", "\udc00", "\ud55c", "\ufeff", "x" * 300, "f(a, b);\n" * 30),
]


@st.composite
def splices(draw: st.DrawFn, source: Source) -> list[Splice]:
    """One to four changes of a text, some at its very end, some of a kilobyte, away from each other."""
    size = len(source.text)
    places = sorted(draw(st.lists(st.one_of(st.integers(0, size), st.just(size)), min_size=1, max_size=4)))
    found = []
    last = 0
    for place in places:
        start = max(place, last)
        last = min(size, start + draw(st.sampled_from([0, 0, 0, 1, 1, 2, 7, 40, 1000])))
        at = [len(source.text[:index].encode("utf-8", "surrogatepass")) for index in (start, last)]
        found.append(Splice(Span(*at), "".join(draw(st.lists(st.sampled_from(FRAGMENTS), max_size=3)))))
    return found


def shape(tree: tree_sitter.Tree) -> Iterator[tuple[object, ...]]:
    """All that can be seen of a tree."""
    cursor = tree.walk()
    while True:
        node = cursor.node
        assert node
        flags = node.is_missing, node.is_error, node.has_error, node.is_extra
        yield node.type, node.start_byte, node.end_byte, node.start_point, node.end_point, cursor.field_name, *flags
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_the_tree_is_that_of_the_whole_text(path: Path, data: st.DataObject) -> None:
    """Along a chain of versions with undo, at the level that everybody uses."""
    language = path.parent.name
    versions = [Source(path.read_text(encoding="utf-8"))]
    parser = tree_sitter.Parser(grammars.grammar(language))
    for _ in range(4):
        before = versions[-1]
        parse(before, language, deadline=60)
        after = (
            versions[-2]
            if len(versions) > 1 and data.draw(st.booleans())
            else before.splice(data.draw(splices(before)))
        )
        parsed = parse(Source(after.text), language, deadline=60)
        assert parsed.data == clean(after)
        assert list(shape(parsed.tree)) == list(shape(parser.parse(clean(after))))
        versions.append(after)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_the_verdict_is_that_of_the_whole_text_even_where_recovery_differs(path: Path, data: st.DataObject) -> None:
    """For texts that are too large to be parsed again once they are broken: the parser alone, tree upon tree."""
    language = path.parent.name
    source = Source(path.read_text(encoding="utf-8"))
    parser = tree_sitter.Parser(grammars.grammar(language))
    tree = parser.parse(clean(source))
    for _ in range(5):
        after = source.splice(data.draw(splices(source)))
        made = edits(clean(source), clean(after))
        tree = parser.parse(clean(after), tree_cache.edited(tree, clean(source), made))
        whole = parser.parse(clean(after))
        assert tree.root_node.has_error == whole.root_node.has_error
        if not whole.root_node.has_error:
            assert list(shape(tree)) == list(shape(whole))
        source = after


def test_a_broken_text_does_not_show_what_it_was_made_from() -> None:
    """Here the parser alone recovers differently with the old tree: a reused `case` stays a keyword."""
    cases = "".join(f'      case "{n}": {{\n        return {n};\n      }}\n' for n in range(2))
    method = f"  b(): number {{\n    switch (this.c) {{\n{cases}    }}\n  }}\n"
    before, after = (f"{start} A {{\n{method}}}\n".encode() for start in ("class", "c(lass"))
    parser = tree_sitter.Parser(grammars.grammar("typescript"))
    whole = list(shape(parser.parse(after)))
    reused = parser.parse(after, tree_cache.edited(parser.parse(before), before, edits(before, after)))
    assert list(shape(reused)) != whole, "the parser does it right by now: a broken text need not be parsed again"
    parse(Source(before.decode()), "typescript")
    assert list(shape(parse(Source(after.decode()), "typescript").tree)) == whole


def big(functions: int = 2000) -> Source:
    """A text that is like no other: the tree of a known one must not help."""
    one = "def f{n}_{noise}(a, b=1):\n    if a > b:\n        return [a, {n}]\n\n"
    return Source(
        '"""A module."""\n' + "".join(one.format(n=n, noise=random.randbytes(8).hex()) for n in range(functions))
    )


def seconds_of(source: Source) -> float:
    started = time.process_time()
    parse(source, "python", deadline=60)
    return time.process_time() - started


CHANGES = {
    "a keystroke": lambda text: text.replace("f700_", "f700_x"),
    "a keystroke that breaks it": lambda text: text.replace("f700_", "f700(_"),
    "a word at a block's end": lambda text: text.replace("[a, 700]", "[a, 700] or a"),
    "a line end": lambda text: text + "\n",
    "words above and a function below": lambda text: text.replace("e.", "e.\n\nMore.", 1).replace("1999]", "1999, os]"),
    "many cursors": lambda text: text.replace("00_", "00_x"),
    "a function moved": lambda text: text.replace("def f10_", "\ndef g(): pass\n\ndef f10_") + "x = 1\n",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_text_costs_a_fraction_from_any_source(change: object) -> None:
    """Also a client that sends whole texts, as here: the text comes as a new string, with no history."""
    assert callable(change)
    fractions = []
    for _ in range(3):  # the machine may be busy once
        before = big()
        whole = seconds_of(before)
        fractions.append(seconds_of(Source(change(before.text))) / whole)
    assert min(fractions) < 0.5


def test_versions_of_one_document_leave_other_documents_their_trees() -> None:
    other = Source("other = True\n" * 50)
    kept = parse(other, "python")
    text = big(30)
    for n in range(40):
        text = text.splice([Splice(Span(0, 0), f"# {n}\n")])
        parse(text, "python")
    assert parse(Source(other.text), "python") is kept


def test_old_trees_are_dropped() -> None:
    """No version holds on to those before it."""
    import weakref

    text = big(30)
    first = weakref.ref(parse(text, "python").source)
    for n in range(10):
        text = text.splice([Splice(Span(0, 0), f"# {n}\n")])
        parse(text, "python")
    gc.collect()
    assert first() is None


@given(st.text(st.sampled_from("aé中😀\n"), max_size=80), st.integers(1, 60), st.data())
def test_edits_make_the_new_text_of_the_old_and_cut_no_character(text: str, times: int, data: st.DataObject) -> None:
    old = text * times
    new = old
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(new)))
        end = min(len(new), at + data.draw(st.sampled_from([0, 1, 30])))
        new = new[:at] + data.draw(st.sampled_from(["", "è", "b", "c" * 70, "\n\n"])) + new[end:]
    made = edits(old.encode(), new.encode())
    rebuilt, last = [], 0
    for edit in made:
        assert last <= edit.start <= edit.end
        assert not rebuilt or last < edit.start
        rebuilt += [old.encode()[last : edit.start].decode(), edit.new.decode()]
        last = edit.end
    assert "".join([*rebuilt, old.encode()[last:].decode()]) == new
    assert len(made) <= 32
    assert bool(made) == (old != new)
