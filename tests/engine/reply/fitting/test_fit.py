"""Which part of a reply's code replaces the target, and what of it goes elsewhere. Marks as in `support.fitting`."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.corpora.sections import read
from support.fitting import MARKS, check, fitted

from stet_ls.engine.api.request import Target, TargetKind
from stet_ls.engine.reply.fitting.fit import Fitted, fit_code
from stet_ls.validators.source import Source, Span

FITS = sorted((Path(__file__).parent / "fits").glob("*.txt"))


BASKET = """\
    import os


    class Basket:
        def add(self, price):
            self.prices.append(price)

        def total(self):
            return 0


    def main():
        pass
    """


def test_a_method_gets_the_indentation_of_its_class() -> None:
    check(
        BASKET,
        """\
        def total(self):
            if not self.prices:
                return 0
            return sum(self.prices)
        """,
        BASKET.replace(
            "            return 0\n",
            "            if not self.prices:\n                return 0\n            return sum(self.prices)\n",
        ),
        name="Basket.total",
    )


def test_a_whole_file_is_reduced_to_the_unit() -> None:
    reply = BASKET.replace("return 0", "return sum(self.prices)").replace("pass", "print('other change')")
    check(BASKET, reply, BASKET.replace("return 0", "return sum(self.prices)"), name="Basket.total")


def test_a_whole_class_is_reduced_to_the_method_and_the_new_one_it_calls() -> None:
    check(
        BASKET,
        """\
        class Basket:
            def add(self, price):
                raise ValueError

            def _whole(self):
                return [p for p in self.prices if p]

            def _unused(self):
                return 1

            def total(self):
                return sum(self._whole())
        """,
        BASKET.replace(
            "        def total(self):\n            return 0\n",
            "        def _whole(self):\n            return [p for p in self.prices if p]\n\n"
            "        def total(self):\n            return sum(self._whole())\n",
        ),
        name="Basket.total",
    )


def test_new_helpers_are_placed_above_the_unit_and_usage_is_dropped() -> None:
    check(
        """\
        x = 1


        def total(prices):
            return 0
        """,
        """\
        RATE = 2


        def _clean(prices):
            return [p * RATE for p in prices]


        def _unused():
            return 1


        def total(prices):
            return sum(_clean(prices))


        print(total([1]))
        """,
        """\
        x = 1


        RATE = 2


        def _clean(prices):
            return [p * RATE for p in prices]


        def total(prices):
            return sum(_clean(prices))
        """,
        name="total",
    )


def test_a_helper_of_a_method_is_placed_above_its_class() -> None:
    check(
        BASKET,
        """\
        def clean(prices):
            return [p for p in prices if p]

        def total(self):
            return sum(clean(self.prices))
        """,
        BASKET.replace("return 0", "return sum(clean(self.prices))").replace(
            "    class Basket", "    def clean(prices):\n        return [p for p in prices if p]\n\n\n    class Basket"
        ),
        name="Basket.total",
    )


def test_one_differently_named_unit_is_accepted_and_several_are_refused() -> None:
    assert fitted("def total():\n    return 0\n", "def add():\n    return 1", name="total")[0].startswith("def add()")
    text, result = fitted("def total():\n    return 0\n", "def a():\n    pass\n\ndef b():\n    pass", name="total")
    assert result == Fitted(problem='The reply does not define "total".')
    assert text == "def total():\n    return 0\n"


PROPERTY = """\
    class A:
        @property
        def x(self):
            return 1

    «    @x.setter
        def x(self, value):
            pass»
    """


def test_a_setter_is_not_replaced_by_the_getter_of_the_same_name() -> None:
    document = dedent(PROPERTY)
    reply = re.sub(MARKS, "", document).replace("return 1", "return 2").replace("pass", "self.y = value")
    assert fitted(document, reply, name="A.x")[0] == re.sub(MARKS, "", document).replace("pass", "self.y = value")


def test_a_method_without_its_class_is_fitted() -> None:
    check(
        """\
        public class Shop {
            public int total() {
                return 0;
            }
        }
        """,
        """\
        import java.util.List;

        public class Shop {
          private int rate() {
            return 2;
          }

          public int total() {
            List<Integer> all = prices();
            return rate() * all.size();
          }
        }
        """,
        """\
        import java.util.List;

        public class Shop {
            private int rate() {
                return 2;
            }

            public int total() {
                List<Integer> all = prices();
                return rate() * all.size();
            }
        }
        """,
        "java",
        "Shop.total",
    )


@pytest.mark.parametrize("path", FITS, ids=lambda path: path.stem)
def test_each_shape_of_reply_is_fitted(path: Path) -> None:
    case = read(path)
    text, result = fitted(case.sections["document"], case.sections["reply"], case.keys["language"], case.keys["unit"])
    assert result.problem is None
    assert text == case.sections["becomes"]


def test_a_reply_without_code_is_a_problem_without_an_edit() -> None:
    assert fitted("def f():\n    return 0\n", " \n\u200b\n", name="f")[1] == Fitted(
        problem="The reply contains no code."
    )


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet="ab=(){}\"'#:\n\r\t .é\u2028\x0c", max_size=60),
    st.text(alphabet="ab=(){}\"'#:\n\r\t .é\u2028\u201c", max_size=60),
    st.sampled_from(["python", "javascript", "go", "rust", "java", "cpp", "csharp", "yaml", "cobol", "php"]),
    st.sampled_from(list(TargetKind)),
    st.data(),
)
def test_fitting_never_raises_and_changes_only_the_target(
    before: str, code: str, language: str, kind: TargetKind, data: st.DataObject
) -> None:
    source = Source(before)
    first = data.draw(st.integers(0, source.line_count - 1))
    last = data.draw(st.integers(first, source.line_count - 1))
    start, end = source.line_span(first).start, source.line_span(last).end
    span = Span(start, start) if kind is TargetKind.INSERTION else Span(start, end)
    target = Target(kind, source.whole if kind is TargetKind.DOCUMENT else span, "a")
    result = fit_code(code, source=source, target=target, language=language)
    after = source.splice(result.splices).data
    assert after.startswith(source.data[: target.span.start].rstrip(b"\r\n"))
    assert after.rstrip(b"\r\n").endswith(source.data[target.span.end :].rstrip(b"\r\n"))
