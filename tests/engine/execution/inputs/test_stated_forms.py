"""Texts that documentation gives as examples of a form."""

from __future__ import annotations

from stet_ls.engine.execution.inputs.stated_forms import stated_forms


def test_words_with_digits_and_quoted_texts_are_forms_with_more_like_them() -> None:
    assert stated_forms("A version, as 1.10.")[0] == "1.10"
    found = stated_forms('The pages of a text like "1-3, 8, 10-12", ascending.')
    assert found[0] == "1-3, 8, 10-12"
    assert len(found) > 3
    assert all(each.count(",") == 2 and each.count("-") == 2 for each in found[:5])


def test_single_quoted_words_and_prose_are_none() -> None:
    assert stated_forms('Raises "KeyError" for `name`; it is not a form.') == []
