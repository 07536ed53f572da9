"""Two forms of the same code are one; a near form that does something else for some input is not."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.python.equal_forms.same_code import is_same_code
from stet_ls.engine.execution.python.probes import probed

HEAD = """\
import decimal
import re
import sys
from numbers import Number

WORD = re.compile(r"\\w+", re.I)
OTHER = re.compile(r"\\d+")
NEW = sys.version_info >= (3,)
OLD = not NEW


"""


def one(body: str, parameters: str = "a, b, c=None", head: str = HEAD) -> str:
    """A module with one function; `body` may be its first line alone."""
    lines = body if body.startswith("    ") else "".join(f"    {line}\n" for line in body.splitlines())
    return f"{head}def f({parameters}):\n{lines}"


SAME = {
    "a lambda's parameter": ("return re.sub('x', lambda m: m[0], a)", "return re.sub('x', lambda match: match[0], a)"),
    "a key's parameter": ("return sorted(a, key=lambda x: x.y)", "return sorted(a, key=lambda row: row.y)"),
    "a local": ("x = a(b)\nx.go()\nreturn x + b", "y = a(b)\ny.go()\nreturn y + b"),
    "locals exchanged": ("x, y = a\nreturn y - x", "y, x = a\nreturn x - y"),
    "a local that a lambda reads": ("x = b + 1\nreturn a(lambda: x)", "y = b + 1\nreturn a(lambda: y)"),
    "a local of an inner function": (
        "def g(v):\n    w = v + b\n    return w * w\nreturn g(a)",
        "def g(v):\n    z = v + b\n    return z * z\nreturn g(a)",
    ),
    "a comprehension's variable": ("return [x + b for x in a if x]", "return [y + b for y in a if y]"),
    "a caught error's name": (
        "try:\n    a()\nexcept ValueError as e:\n    b(e)",
        "try:\n    a()\nexcept ValueError as error:\n    b(error)",
    ),
    "a captured value": (
        "match a:\n    case [x, *rest]:\n        return x, rest\nreturn b",
        "match a:\n    case [y, *more]:\n        return y, more\nreturn b",
    ),
    "numbered fields": ("return '{0}-{1!r:>{2}}'.format(a, b, 9)", "return '{}-{!r:>{}}'.format(a, b, 9)"),
    "nested conditions": ("if a:\n    if b:\n        c()\n", "if a and b:\n    c()\n"),
    "conditions in brackets": ("if a:\n    if b or c:\n        c()\n", "if a and (b or c):\n    c()\n"),
    "a dictionary": ("return {k: v for k, v in a}", "return dict((k, v) for k, v in a)"),
    "a list and a set": ("return [x for x in a], {x for x in b}", "return list(x for x in a), set(y for y in b)"),
    "kinds": ("return isinstance(a, int) or isinstance(a, Number) or b", "return isinstance(a, (int, Number)) or b"),
    "truth": ("if a:\n    return True\nreturn False", "return bool(a)"),
    "truth in a branch": ("if a:\n    return True\nelse:\n    return False", "return True if a else False"),
    "no truth": ("if a:\n    return False\nreturn True", "return not a"),
    "truth of a test": ("if a in b:\n    return True\nreturn False", "return a in b"),
    "a choice": ("if a:\n    return b\nreturn c", "return b if a else c"),
    "a chain": ("return 0 <= a < b", "return a >= 0 and a < b"),
    "a chain of three": ("return 0 <= a <= b <= 9", "return 0 <= a and a <= b and b <= 9"),
    "a constant first": ("return 'x' == a", "return a == 'x'"),
    "the default encoding": ("return a.encode('utf-8') + b().decode('UTF8')", "return a.encode() + b().decode()"),
    "the last return": ("a()\nif b:\n    c()\n    return\nreturn None", "a()\nif b:\n    c()\n"),
    "nothing returned": ("if a:\n    return None\nb()", "if a:\n    return\nb()"),
    "a set of a list": ("return set([a, b]), set([])", "return {a, b}, set()"),
    "empty collections": ("return list(), dict(), tuple()", "return [], {}, ()"),
    "not in": ("return not a in b, not a is b", "return a not in b, a is not b"),
    "else after return": (
        "if a:\n    return b()\nelif c:\n    raise c\nelse:\n    a()\nb()",
        "if a:\n    return b()\nif c:\n    raise c\na()\nb()",
    ),
    "else after continue": (
        "for x in a:\n    if x:\n        continue\n    else:\n        b(x)",
        "for x in a:\n    if x:\n        continue\n    b(x)",
    ),
    "a value at once": ("x = a(b)\nreturn x", "return a(b)"),
    "a value at once, twice": (
        "if a:\n    x = b()\n    return x\nx = c()\nreturn x",
        "if a:\n    return b()\nreturn c()",
    ),
    "hints and documentation": ("x = a + b\nreturn x * x", "'''Adds.'''\nx: int = a + b  # sum\nreturn x * x"),
    "prefixes": ("return u'x' + a", "return 'x' + a"),
    "named items": ("return dict(x=a, y=b)", "return {'x': a, 'y': b}"),
    "a compiled pattern": ("return re.search(r'\\w+', a, re.IGNORECASE)", "return WORD.search(a)"),
    "a compiled pattern replaces": ("return re.sub(r'\\d+', b, a)", "return OTHER.sub(b, a)"),
    "flags": ("return re.match('x', a, re.I | re.M)", "return re.match('x', a, flags=re.MULTILINE | re.IGNORECASE)"),
    "a version": ("if sys.version_info[0:2] < (3, 3):\n    return a\nreturn b", "return b"),
    "the version's name": ("if NEW:\n    return a.x()\nelse:\n    return a.y()", "return a.x()"),
    "the old version's name": ("x = b\nif OLD and a:\n    x = unicode(b)\nreturn x + x", "x = b\nreturn x + x"),
    "a value by version": ("return a(b, 'x' if sys.version_info.major == 3 else 'y')", "return a(b, 'x')"),
}


@pytest.mark.parametrize("name", SAME)
def test_other_forms_are_the_same_code(name: str) -> None:
    before, after = map(one, SAME[name])
    assert is_same_code(before, after, "f")
    assert is_same_code(after, before, "f")
    assert probed(before, after) is None, "no place of it is asked for"


OTHER = {
    "another lambda": ("return re.sub('x', lambda m: m[0], a)", "return re.sub('x', lambda m: a[0], a)"),
    "a lambda that may be called by name": ("return a(lambda x: x)", "return a(lambda y: y)"),
    "a default of a lambda": ("return map(lambda x, y=1: x, a)", "return map(lambda x, z=1: x, a)"),
    "a local as a global": ("x = a(b)\nx.go()\nreturn x", "x = a(b)\nx.go()\nreturn y"),
    "a local of a global's name": ("x = a(re)\nreturn x.y, re, x", "re = a(re)\nreturn re.y, re, re"),
    "a local of a builtin's name": ("x = len(a)\nreturn x, len", "len = len(a)\nreturn len, len"),
    "two locals as one": ("x = a()\ny = b()\nreturn x, y", "x = a()\nx = b()\nreturn x, x"),
    "locals that are shown": ("x = a\nreturn locals()", "y = a\nreturn locals()"),
    "locals for eval": ("x = a\nreturn eval(b)", "y = a\nreturn eval(b)"),
    "an inner function's name": ("def g(): pass\nreturn g", "def h(): pass\nreturn h"),
    "an inner parameter": ("def g(x): return x\nreturn g", "def g(y): return y\nreturn g"),
    "an inner variable as the outer one": (
        "x = a\ndef g():\n    y = b\n    return x\nreturn g()",
        "x = a\ndef g():\n    x = b\n    return x\nreturn g()",
    ),
    "a comprehension's variable as the outer one": (
        "x = a\nreturn [x for y in b], x",
        "x = a\nreturn [x for x in b], x",
    ),
    "a global": ("global x\nx = a\nreturn x", "global y\ny = a\nreturn y"),
    "a nonlocal": (
        "x = a\ndef g():\n    x = b\ng()\nreturn x",
        "x = a\ndef g():\n    nonlocal x\n    x = b\ng()\nreturn x",
    ),
    "a class's name": ("class A:\n    x = a\nreturn A", "class A:\n    y = a\nreturn A"),
    "a walrus out of a comprehension": (
        "x = a\nany(y := z for z in b)\nreturn x",
        "x = a\nany(x := z for z in b)\nreturn x",
    ),
    "exchanged fields": ("return '{0}{1}'.format(a, b)", "return '{1}{0}'.format(a, b)"),
    "fields of one number": ("return '{0}{0}'.format(a, b)", "return '{}{}'.format(a, b)"),
    "a field in a field": ("return '{:{}}{}'.format(a, b, c)", "return '{0:{2}}{1}'.format(a, b, c)"),
    "brackets": ("return '{{}}{}'.format(a)", "return '{}{}'.format(a)"),
    "a condition with another branch": (
        "if a:\n    if b:\n        c()\n    else:\n        a()",
        "if a and b:\n    c()\nelse:\n    a()",
    ),
    "a condition with more": ("if a:\n    if b:\n        c()\n    a()", "if a and b:\n    c()\n    a()"),
    "a looser or": ("if a:\n    if b or c:\n        c()", "if a and b or c:\n    c()"),
    "key and value": ("return {k: v for k, v in a}", "return dict((v, k) for k, v in a)"),
    "a dictionary of lists": ("return {k: v for k, v in a}", "return dict([(k, v) for k, v in a])"),
    "a generator that ends early": ("return {k: next(b) for k in a}", "return dict((k, next(b)) for k in a)"),
    "a generator": ("return [x for x in a]", "return (x for x in a)"),
    "a kind that may be missing": (
        "return isinstance(a, str) or isinstance(a, unicode)",
        "return isinstance(a, (str, unicode))",
    ),
    "a kind of a module": (
        "return isinstance(a, str) or isinstance(a, decimal.Decimal)",
        "return isinstance(a, (str, decimal.Decimal))",
    ),
    "kinds of two": ("return isinstance(a, int) or isinstance(b, str)", "return isinstance(a, (int, str))"),
    "kinds of a call": ("return isinstance(a(), int) or isinstance(a(), str)", "return isinstance(a(), (int, str))"),
    "both kinds": ("return isinstance(a, int) and isinstance(a, str)", "return isinstance(a, (int, str))"),
    "equal values": ("return a == 1 or a == 2", "return a in (1, 2)"),
    "a value for its truth": ("if a:\n    return True\nreturn False", "return a"),
    "the truth of a comparison": ("if a == b:\n    return True\nreturn False", "return a == b"),
    "truth turned": ("if a:\n    return False\nreturn True", "return bool(a)"),
    "one for truth": ("if a:\n    return 1\nreturn 0", "return bool(a)"),
    "a chain with a call": ("return a <= b() <= c", "return a <= b() and b() <= c"),
    "a chain of a global": ("return a <= X <= c", "return a <= X and X <= c"),
    "a chain of an attribute": ("return a <= b.x <= c", "return a <= b.x and b.x <= c"),
    "sides exchanged": ("return a <= b", "return b >= a"),
    "a stricter chain": ("return 0 <= a < 9", "return 0 <= a <= 9"),
    "another encoding": ("return a.encode('latin-1')", "return a.encode()"),
    "how errors are handled": ("return a.encode('utf-8', 'ignore')", "return a.encode()"),
    "an encoder": ("return decimal.encode('utf-8')", "return decimal.encode()"),
    "a column": ("return a.str.encode('utf-8')", "return a.str.encode()"),
    "an early return": ("if a:\n    b()\n    return\nc()", "if a:\n    b()\nc()"),
    "a return in a loop": ("for x in a:\n    b(x)\n    return", "for x in a:\n    b(x)"),
    "a return at the end of finally": (
        "try:\n    a()\nfinally:\n    b()\n    return",
        "try:\n    a()\nfinally:\n    b()",
    ),
    "a generator's return": ("if a:\n    yield b\n    return c\n", "if a:\n    yield b\n"),
    "a set of what is unpacked": ("return set([*a, b])", "return {*a, b}"),
    "a frozen set": ("return frozenset([a, b])", "return {a, b}"),
    "a set of one text": ("return set('ab')", "return {'ab'}"),
    "not equal": ("return not a == b", "return a != b"),
    "not less": ("return not a < b", "return a >= b"),
    "not both": ("return not a in b in c", "return a not in b in c"),
    "else after a branch that goes on": ("if a:\n    b()\nelse:\n    c()", "if a:\n    b()\nc()"),
    "a value in finally": (
        "try:\n    x = a()\n    return x\nfinally:\n    b(x)",
        "try:\n    return a()\nfinally:\n    b(x)",
    ),
    "a value used besides": ("x = a()\nreturn x\nx.y", "return a()\nx.y"),
    "a global value": ("global x\nx = a()\nreturn x", "return a()"),
    "a value of another name": ("x = a()\nreturn y", "return a()"),
    "a changed value": ("b += a()\nreturn b", "return a()"),
    "deleted": ("x = a()\ndel x\nreturn b", "y = a()\nreturn b"),
    "a hint that makes a name local": ("x: int\nreturn x", "return x"),
    "a named item of another name": ("return dict(x=a)", "return {'y': a}"),
    "named items in another order": ("return dict(x=a(), y=b())", "return {'y': b(), 'x': a()}"),
    "another pattern": ("return re.search(r'\\w+', a)", "return WORD.search(a)"),
    "a pattern's start": ("return re.search(r'\\w+', a, b)", "return WORD.search(a, b)"),
    "a pattern's other method": ("return re.search(r'\\w+', a, re.I)", "return WORD.match(a)"),
    "a count as flags": ("return re.sub(r'\\d+', b, a, 1)", "return OTHER.sub(b, a)"),
    "an operating system": ("if sys.platform == 'win32':\n    return a\nreturn b", "return b"),
    "a later version": ("if sys.version_info >= (3, 11):\n    return a\nreturn b", "return a"),
    "a version that only binds": ("if OLD:\n    input = a\nreturn input(b)", "return input(b)"),
    "a version that only yields": ("if OLD:\n    yield a\nreturn b", "return b"),
    "a version's name that is a local": ("NEW = a\nif NEW:\n    return b\nreturn c", "return b"),
    "operands exchanged": ("return a() or b()", "return b() or a()"),
    "an assignment as another": ("a += b\nreturn a", "a = a + b\nreturn a"),
    "a default": ("return a.get(b, None)", "return a.get(b, 0)"),
    "a generator in a method": ("return list(super().x for y in a)", "return [super().x for y in a]"),
    "rebound": ("list = a\nreturn list()", "list = a\nreturn []"),
}


@pytest.mark.parametrize("name", OTHER)
def test_near_forms_are_not_the_same_code(name: str) -> None:
    before, after = map(one, OTHER[name])
    assert not is_same_code(before, after, "f")
    assert not is_same_code(after, before, "f")


@pytest.mark.parametrize(
    ("head", "before", "after"),
    [
        (
            "def isinstance(x, kind): return x",
            "return isinstance(a, int) or isinstance(a, str)",
            "return isinstance(a, (int, str))",
        ),
        ("from collections import OrderedDict as dict", "return dict(x=a)", "return {'x': a}"),
        ("from sets import *", "return set([a])", "return {a}"),
        ("bool = int", "if a:\n    return True\nreturn False", "return bool(a)"),
        ("def g():\n    global list\n    list = 1", "return list()", "return []"),
        ("import sys\nNEW = sys.version_info > (3,)\nNEW = False", "if NEW:\n    return a\nreturn b", "return a"),
        ("import sys\nif sys.argv:\n    NEW = sys.version_info > (3,)", "if NEW:\n    return a\nreturn b", "return a"),
        ("import other as sys", "if sys.version_info > (3,):\n    return a\nreturn b", "return a"),
        ("import regex as re\nX = re.compile('x')", "return re.match('x', a)", "return X.match(a)"),
        ("import re\nX = re.compile('x')\nX = re.compile('y')", "return re.match('x', a)", "return X.match(a)"),
    ],
)  # fmt: skip
def test_a_name_that_the_module_rebinds_is_not_pythons_own(head: str, before: str, after: str) -> None:
    assert not is_same_code(*(one(each, head=f"{head}\n\n\n") for each in (before, after)), "f")


def test_parameters_and_defaults_are_seen_by_callers() -> None:
    assert not is_same_code("def f(a):\n    return a\n", "def f(b):\n    return b\n", "f")
    assert not is_same_code("def f(a=1):\n    return a\n", "def f(a=2):\n    return a\n", "f")
    assert is_same_code("def f(a):\n    return a\n", "def f(a: int) -> int:\n    return a\n", "f")
    hinted = "@register\ndef f(a: int):\n    return a\n"
    assert not is_same_code(hinted, hinted.replace(": int", ": str"), "f"), "what decorates it may read its hints"


def test_documentation_counts_where_it_is_read() -> None:
    code = "def f(a):\n    'One.'\n    return f.__doc__\n"
    assert not is_same_code(code, code.replace("One", "Two"), "f")


def test_what_a_unit_uses_has_to_be_the_same_too() -> None:
    code = "LIMIT = 3\n\n\ndef f(a):\n    if g(a):\n        return True\n    return False\n\n\n"
    code += "def g(a):\n    return a < LIMIT\n"
    after = code.replace("if g(a):\n        return True\n    return False", "return bool(g(a))")
    assert is_same_code(code, after, "f")
    assert is_same_code(code, after.replace("return a < LIMIT", "small = a < LIMIT\n    return small"), "f")
    assert not is_same_code(code, after.replace("a < LIMIT", "a <= LIMIT"), "f")
    assert not is_same_code(code, after.replace("= 3", "= 4"), "f")
    assert not is_same_code(code, after + "\n\ng = len\n", "f")
    assert is_same_code(code, after + "\n\ndef h(a):\n    return a\n", "f"), "what it does not use may be anything"
    assert not is_same_code(code, after.replace("LIMIT = 3", "LIMIT = 3\nother = (LIMIT := 4)"), "f")
    by_name = code.replace("if g(a):", "if globals()['g'](a):")
    after = by_name.replace(
        "if globals()['g'](a):\n        return True\n    return False", "return bool(globals()['g'](a))"
    )
    assert is_same_code(by_name, after, "f")
    assert not is_same_code(by_name, after.replace("a < LIMIT", "a <= LIMIT"), "f")
    table = "TABLE = {}\n" + code.replace("< LIMIT", "in TABLE")
    assert not is_same_code(table, table + "\nTABLE['x'] = 1\n", "f")
    assert not is_same_code(table, table + "\nFILLED = TABLE.update(x=1)\n", "f")


def test_a_module_that_is_changed_when_the_file_is_loaded_counts() -> None:
    before = "import json\n\n\ndef f(x):\n    return json.dumps(x)\n"
    assert not is_same_code(before, before.replace("json\n", "json\njson.dumps = str\n", 1), "f")


def test_a_method_and_its_class() -> None:
    code = (
        "class A:\n    limit = 3\n\n    def f(self, a):\n        x = self.g(a)\n        return x\n\n"
        "    def g(self, a):\n        return a < self.limit\n"
    )
    after = code.replace("x = self.g(a)\n        return x", "return self.g(a)")
    assert is_same_code(code, after, "A.f")
    assert is_same_code(code, after, "A")
    assert not is_same_code(code, after.replace("a <", "a <="), "A.f")
    assert not is_same_code(code, after.replace("limit = 3", "limit: int = 3"), "A"), (
        "fields may be read by their hints"
    )
    assert not is_same_code(code, after + "\n    f = None\n", "B.f")


def test_only_what_differs_in_any_form_has_to_run() -> None:
    before = one("x = '{0}'.format(a)\nif b:\n    if c:\n        x += u'y'\nreturn x, 1")
    after = one("x = '{}'.format(a)\nif b and c:\n    x += 'y'\nreturn x, 2")
    both = probed(before, after)
    assert both is not None
    assert [[each.text for each in side.probes] for side in both] == [["return x, 1"], ["return x, 2"]]


def test_the_version_of_python_is_no_place() -> None:
    before = one("if NEW:\n    x = a\nelse:\n    x = unicode(a)\nreturn x, x")
    both = probed(before, one("return [a, a]"))
    assert both is not None
    assert [each.text for each in both[0].probes] == ["x = a", "return x, x"]
    choice = one("return a(1, b if NEW else c)")
    both = probed(choice, choice.replace("1,", "2,"))
    assert both is not None
    assert {str(each.need) for side in both for each in side.probes} == {"ran"}


def test_a_method_in_another_form_is_no_place() -> None:
    code = (
        "class A:\n    def f(self, a):\n        x = a + 1\n        return x * x\n\n    def g(self):\n        return 1\n"
    )
    after = code.replace("x = a + 1\n        return x * x", "y = a + 1\n        return y * y").replace(
        "return 1", "return 2"
    )
    both = probed(code, after)
    assert both is not None
    assert [each.text for each in both[1].probes] == ["return 2"]
