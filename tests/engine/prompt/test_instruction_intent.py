"""What an instruction wants done with the code that is there, in the words that people use."""

from __future__ import annotations

import pytest

from stet_ls.engine.prompt.instruction_intent import GenerateIntent, intent_of, permits_removal

ADDS = (
    "add a function words",
    "add a function words(text) that returns the number of words",
    "Add a `words` function",
    "please add two small helper functions",
    "add words(text)",
    "add another method to Basket that removes an item",
    "add a class for parsing dates",
    "write a function that replaces tabs",
    "create a new class Basket",
    "implement a function that sorts by key",
    "generate a helper to convert bytes to text",
    "a function that returns the median",
    "a function words; it must not count blanks",
    "function words",
    "new method total",
    "the middle value of a list",
    "add a constant LIMIT",
    "add unit tests",
    "insert a decorator that caches",
    "write a generator of primes",
    "add a validation function",
    "I need a helper that rounds",
    "below this, the same for lists",
    "define an enum of colors",
    "words counter",
)
CHANGES = (
    "rewrite this as a loop",
    "rewrite the class with dataclasses",
    "replace the loop by a comprehension",
    "change the return type to a list",
    "convert this to async",
    "make it shorter",
    "make this function faster",
    "shorter",
    "simplify",
    "faster, please",
    "use a set instead",
    "add type hints",
    "add a docstring to words",
    "add a check for empty input",
    "add an optional parameter limit",
    "add error handling",
    "add logging to the function",
    "add a default value for b",
    "implement the function",
    "implement this",
    "fix the off by one",
    "rename foo to bar",
    "remove foo",
    "it should return a list",
    "this function must accept None",
    "handle empty lists",
    "Please refactor the selected code",
    "write it as a generator",
    "complete the body",
    "now also accept a path",
)


@pytest.mark.parametrize("instruction", ADDS)
def test_instructions_that_add_are_recognized(instruction: str) -> None:
    assert intent_of(instruction) is GenerateIntent.ADD


@pytest.mark.parametrize("instruction", CHANGES)
def test_instructions_that_change_are_recognized(instruction: str) -> None:
    assert intent_of(instruction) is GenerateIntent.CHANGE


@pytest.mark.parametrize(
    ("instruction", "name"),
    [
        ("remove foo", "foo"),
        ("Remove the function `foo`.", "foo"),
        ("rename foo to bar", "foo"),
        ("inline foo into its callers", "foo"),
        ("delete Basket.total", "Basket.total"),
        ("drop the method total", "Basket.total"),
        ("get rid of foo and baz", "baz"),
        ("foo is dead code, remove it", "foo"),
        ("replace foo by a lambda", "foo"),
        ("merge foo and bar into one function", "bar"),
        ("turn foo into a class", "foo"),
        ("foo is no longer needed", "foo"),
        ("remove Basket", "Basket.total"),
        ("foo can be removed", "foo"),
        ("clean up by removing `foo`", "foo"),
        ("simplify, and please delete foo()", "foo"),
        ("I want you to remove foo", "foo"),
        ("remove foo, bar and baz", "baz"),
        ("add a function words and remove foo", "foo"),
    ],
)
def test_instructions_that_remove_a_definition_are_recognized(instruction: str, name: str) -> None:
    assert permits_removal(instruction, name)


@pytest.mark.parametrize(
    ("instruction", "name"),
    [
        ("", "foo"),
        ("add a function words", "Basket"),
        ("make foo faster", "foo"),
        ("remove foo, keep bar", "bar"),
        ("remove foo but not bar", "bar"),
        ("add caching to foo without removing foo", "foo"),
        ("do not rename foo", "foo"),
        ("remove food", "foo"),
        ("use foo", "foo"),
        ("remove this", "other"),
        ("simplify foo", "foo"),
        ("remove the comments. foo stays", "foo"),
        # what the new code is to do
        ("add a function that removes words", "words"),
        ("add a function to remove words", "words"),
        ("a helper to split text and drop words", "words"),
        ("count the words and remove them from the text", "words"),
        ("strip the punctuation and remove it", "foo"),
        # a word that is no name
        ("remove duplicate words", "words"),
        ("remove words of one letter", "words"),
        ("remove the loop in foo", "foo"),
        ("call foo only once", "foo"),
        ("never remove foo", "foo"),
        ("if foo is redundant, say so", "foo"),
        ("use better names", "foo.inner"),
    ],
)
def test_instructions_that_do_not_remove_are_recognized(instruction: str, name: str) -> None:
    assert not permits_removal(instruction, name, target="foo.inner")


@pytest.mark.parametrize(
    "instruction", ["rename it to bar", "remove this function", "give it a better name", "inline it"]
)
def test_this_refers_to_the_target(instruction: str) -> None:
    assert permits_removal(instruction, "foo", target="foo")
    assert not permits_removal(instruction, "other", target="foo")
