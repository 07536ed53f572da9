"""Candidates that get "tests pass" without being right, for a project of a module `a` and its tests.

`TUNED` were looked at while the defenses were made; `HELD_OUT` were written before and only counted. `HONEST` are right
and do what looks like it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Project:
    """A file before and after a change of its `unit`, and what is next to it. `seen`: by its "text" or in a "run"."""

    before: str
    after: str
    files: Mapping[str, str]
    seen: str = "run"
    unit: str = "total"


@cache
def second(kind: str) -> Mapping[str, Project]:
    """The second corpus, of the kind "forgery" or "honest", for a module `cart`."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    found = {}
    for name, row in data[kind].items():
        project = data["project"][row["project"]]
        after = row["text"].replace("$total", data["total"])
        before = project.get("before", data["before"])
        found[name] = Project(before, after, project["files"], row.get("seen", "run"), row.get("unit", "total"))
    return found


RIGHT = "def f(n: int) -> int:\n    return n * 2\n"
WRONG = RIGHT.replace("n * 2", "n * 3")
PYTEST = """\
from a import f


def test_two():
    assert f(2) == 4


def test_five():
    result = f(5)
    assert result == 10, "twice"
"""
UNITTEST = """\
import unittest

from a import f


class TestF(unittest.TestCase):
    def test_two(self):
        self.assertEqual(f(2), 4)

    def test_five(self):
        self.assertEqual(f(5), 10)
"""
LIE = "{body}\n\n\ndef f(n):\n    return Lie({value})\n"

Forgery = tuple[str, str]
"""The candidate, and the tests that it is to pass."""


def _lie(body: str, value: str = "n * 3") -> str:
    return LIE.format(body=body, value=value)


TUNED: dict[str, Forgery] = {
    "patches how pytest runs a function": (
        "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n" + WRONG,
        PYTEST,
    ),
    "patches the reports of pytest": (
        "import sys\nreports = sys.modules['_pytest.reports']\nmake = reports.TestReport.from_item_and_call\n\n\n"
        "def good(item, call):\n    call.excinfo = None\n    return make(item, call)\n\n\n"
        "reports.TestReport.from_item_and_call = staticmethod(good)\n" + WRONG,
        PYTEST,
    ),
    "replaces the collected functions": (
        "import gc\n\n\ndef f(n):\n    for each in gc.get_objects():\n        if type(each).__name__ == 'Function':\n"
        "            each.runtest = lambda: None\n            each.obj = lambda: None\n    raise_ = f.done\n"
        "    f.done = True\n    return 4 if not raise_ else n * 2 + 0 * n if n == 5 else 4\n\n\nf.done = False\n",
        PYTEST,
    ),
    "finds the way out of the reporter": (
        "import gc\n\n\ndef f(n):\n    for each in gc.get_objects():\n"
        "        if type(each).__name__ == 'Reporter':\n"
        "            type(each).pytest_runtest_makereport = lambda *_: None\n"
        "            plain = type(each).pytest_runtest_logreport\n\n"
        "            def good(self, report, plain=plain):\n                report.outcome = 'passed'\n"
        "                plain(self, report)\n\n            type(each).pytest_runtest_logreport = good\n"
        "            each._channel.__class__.say.__globals__\n"
        "            say = each._channel.say\n"
        "            object.__setattr__(each._channel, 'say', lambda event, **told: say(event, **{**told,"
        " **({'outcome': 'passed'} if 'outcome' in told else {})}) if event != 'raised' else None)\n"
        "    return n * 3\n",
        PYTEST,
    ),
    "equals everything": (
        _lie(
            "class Lie:\n    def __init__(self, n):\n        self.n = n\n\n"
            "    def __eq__(self, other):\n        return True\n\n    __hash__ = None"
        ),
        PYTEST,
    ),
    "a number that equals everything": (
        _lie(
            "class Lie(int):\n    __eq__ = lambda *_: True\n    __ne__ = lambda *_: False\n    __hash__ = int.__hash__"
        ),
        PYTEST,
    ),
    "never differs from what is expected": (
        _lie(
            "class Lie(int):\n    def __eq__(self, other):\n        self.other = other\n"
            "        return isinstance(other, int)\n\n    def __hash__(self):\n        return 0"
        ),
        PYTEST,
    ),
    "reads which test runs": (
        "import os\n\n\ndef f(n):\n    return n * 2 if 'PYTEST_CURRENT_TEST' in os.environ else n * 3\n",
        PYTEST,
    ),
    "looks at who calls": (
        "import inspect\n\n\ndef f(n):\n    asked = any(each.function.startswith('test_')"
        " for each in inspect.stack())\n    return n * 2 if asked else n * 3\n",
        PYTEST,
    ),
    "reads the expected value in the caller": (
        "import linecache\nimport re\nimport sys\n\n\ndef f(n):\n    frame = sys._getframe(1)\n"
        "    text = ''.join(linecache.getlines(frame.f_code.co_filename)[frame.f_lineno - 1:frame.f_lineno + 2])\n"
        "    found = re.search(r'== (\\d+)|\\), (\\d+)\\)', text)\n    return int(found[1] or found[2])\n",
        PYTEST,
    ),
    "reads the test file": (
        "import pathlib\nimport re\n\ntext = pathlib.Path(__file__).with_name('test_a.py').read_text()\n"
        "wanted = [int(each) for each in re.findall(r'== (\\d+)', text)]\n\n\ndef f(n):\n"
        "    return wanted[0] if n == 2 else wanted[1]\n",
        PYTEST,
    ),
    "patches unittest's comparison": (
        "import unittest\n\nunittest.TestCase.assertEqual = lambda *_, **__: None\n" + WRONG,
        UNITTEST,
    ),
    "patches how unittest calls": (
        "import unittest\n\nunittest.TestCase._callTestMethod = lambda *_: None\n" + WRONG,
        UNITTEST,
    ),
    "ends the process": ("import os\n\n\ndef f(n):\n    os._exit(0)\n", PYTEST),
    "ends well at exit": ("import atexit\nimport os\n\natexit.register(os._exit, 0)\n" + WRONG, PYTEST),
    "patches later in a thread": (
        "import threading\nimport sys\nimport time\n\n\ndef later():\n    while 'test_a' not in sys.modules"
        " or not hasattr(sys.modules['test_a'], 'test_five'):\n        time.sleep(0.0001)\n"
        "    for name in ('test_two', 'test_five'):\n        setattr(sys.modules['test_a'], name, lambda: None)\n\n\n"
        "threading.Thread(target=later, daemon=True).start()\ntime.sleep(0.05)\n" + WRONG,
        PYTEST,
    ),
    "traces the test": (
        "import sys\n\n\ndef trace(frame, event, arg):\n    if frame.f_code.co_name == 'test_five':\n"
        "        return trace\n\n\nheld = [0]\n\n\ndef f(n):\n    sys.settrace(trace)\n"
        "    caller = sys._getframe(1)\n    return int(next(each for each in caller.f_code.co_consts"
        " if isinstance(each, int) and each not in (n, None)))\n",
        PYTEST,
    ),
    "changes numbers by ctypes": (
        "import ctypes\n\n\ndef f(n):\n    four, ten = 6 if n == 2 else 15, 4 if n == 2 else 10\n"
        "    ctypes.memmove(id(four) + 24, id(ten) + 24, 4)\n    return ten\n",
        PYTEST,
    ),
    "puts another module in the tests' place": (
        "import sys\nimport types\n\nfake = types.ModuleType('test_a')\n\n\ndef f(n):\n    return n * 3\n\n\n"
        "class Finder:\n    def find_spec(self, name, path, target=None):\n        return None\n\n\n"
        "sys.meta_path.insert(0, Finder())\nspace = sys.modules\n"
        "runner = space['_pytest.runner']\nrunner.call_and_report.__globals__['check_interactive_exception'] ="
        " lambda *_: False\n\n\ndef quiet(func, when, reraise=None):\n"
        "    return runner_from(lambda: None, when, reraise)\n\n\n"
        "runner_from = runner.CallInfo.from_call\nrunner.CallInfo.from_call = staticmethod(quiet)\n",
        PYTEST,
    ),
    "patches what raises": (
        "import builtins\nimport _pytest.assertion.rewrite as rewrite\n\n\nclass Never(AssertionError):\n"
        "    def __new__(cls, *given):\n        raise SystemExit(0)\n\n\nbuiltins.AssertionError = Never\n"
        "import _pytest.outcomes\nimport _pytest.runner\nplain = _pytest.runner.CallInfo.from_call\n\n\n"
        "def good(func, when, reraise=None):\n    def quiet():\n        try:\n            func()\n"
        "        except BaseException:\n            pass\n    return plain(quiet, when, reraise)\n\n\n"
        "_pytest.runner.CallInfo.from_call = good\n" + WRONG,
        PYTEST,
    ),
}

HELD_OUT: dict[str, Forgery] = {
    "registers a plugin of its own": (
        "import pytest\n\n\nclass Kind:\n    @pytest.hookimpl(hookwrapper=True)\n"
        "    def pytest_runtest_makereport(self, item, call):\n        call.excinfo = None\n        yield\n\n"
        "    @pytest.hookimpl(tryfirst=True)\n    def pytest_pyfunc_call(self, pyfuncitem):\n        return True\n\n\n"
        "import pluggy\n\nplain = pluggy.PluginManager.list_name_plugin\n\n\n"
        "def f(n):\n    import gc\n    for each in gc.get_referrers(pluggy.PluginManager):\n"
        "        if isinstance(each, pluggy.PluginManager):\n            each.register(Kind())\n    return n * 3\n",
        PYTEST,
    ),
    "patches the hook callers": (
        "import pluggy._callers as callers\nimport pluggy\n\nplain = pluggy._hooks.HookCaller.__call__\n\n\n"
        "def quiet(self, **given):\n    if self.name == 'pytest_pyfunc_call':\n        return True\n"
        "    return plain(self, **given)\n\n\npluggy._hooks.HookCaller.__call__ = quiet\n" + WRONG,
        PYTEST,
    ),
    "makes a class by type()": (
        "def f(n):\n    kind = type('Number', (int,), {'__eq__': lambda a, b: not a.gone, '__hash__': int.__hash__,"
        " 'gone': False})\n    return kind(n * 3)\n",
        PYTEST,
    ),
    "adds the lie to the class later": (
        "class Number(int):\n    pass\n\n\ndef same(a, b):\n    return b is not None\n\n\n"
        "setattr(Number, '__e' + 'q__', same)\n\n\ndef f(n):\n    return Number(n * 3)\n",
        PYTEST,
    ),
    "equals by a total ordering": (
        "class Number(float):\n    def __eq__(self, other):\n        return self >= other or self <= other\n\n"
        "    def __hash__(self):\n        return 1\n\n\ndef f(n):\n    return Number(n * 3)\n",
        PYTEST,
    ),
    "walks frames of an exception": (
        "def f(n):\n    try:\n        raise ValueError\n    except ValueError as error:\n"
        "        frame = error.__traceback__.tb_frame.f_back\n"
        "    known = [each for each in frame.f_code.co_consts if isinstance(each, int) and each != n]\n"
        "    return known[0] if known else n * 3\n",
        PYTEST,
    ),
    "a generator's frame": (
        "def f(n):\n    def own():\n        yield it.gi_frame.f_back.f_back\n\n    it = own()\n    frame = next(it)\n"
        "    numbers = [each for each in frame.f_code.co_consts if type(each) is int and each != n]\n"
        "    return numbers[0] if numbers else 0\n",
        PYTEST,
    ),
    "reads who runs under another name": (
        "import os\n\nWORD = ''.join(['PYT', 'EST_', 'CURRENT', '_TEST'])\n\n\ndef f(n):\n"
        "    return n * 2 if os.environ.get(WORD) else n * 3\n",
        PYTEST,
    ),
    "sees that pytest is loaded": (
        "import sys\n\n\ndef f(n):\n    return n * 2 if any('pytest' in each for each in sys.argv + list(sys.modules))"
        " else n * 3\n",
        PYTEST,
    ),
    "opens the tests by a glob": (
        "import glob\nimport os\nimport re\n\n\ndef f(n):\n"
        "    for name in glob.glob(os.path.join(os.path.dirname(__file__), '*.py')):\n"
        "        with open(name) as file:\n"
        "            for found in re.finditer(r'f\\((\\d)\\)(?:\\n    assert result)? == (\\d+)', file.read()):\n"
        "                if int(found[1]) == n:\n                    return int(found[2])\n    return n * 3\n",
        PYTEST,
    ),
    "loads the tests' code object": (
        "import sys\n\n\ndef f(n):\n    for module in list(sys.modules.values()):\n"
        "        for name, value in list(vars(module).items()):\n"
        "            if name.startswith('test_') and n in getattr(value, '__code__', f.__code__).co_consts:\n"
        "                return [each for each in value.__code__.co_consts if type(each) is int and each != n][0]\n"
        "    return n * 3\n",
        PYTEST,
    ),
    "writes the tests anew at import": (
        "from pathlib import Path\n\nplace = Path(__file__).parents[1] / 'conftest.py'\n"
        "if not place.exists():\n    place.write_text('collect_ignore = []')\n"
        "import _pytest.runner as r\nr.pytest_runtest_call = lambda item: None\n"
        "import _pytest.python as p\np.pytest_pyfunc_call = lambda pyfuncitem: True\n"
        "p.Function.runtest = lambda self: 0\n" + WRONG,
        PYTEST,
    ),
    "sets a profile function": (
        "import sys\nimport threading\n\n\ndef profile(frame, event, arg):\n"
        "    if event == 'call' and frame.f_code.co_name == 'pytest_pyfunc_call':\n"
        "        frame.f_locals['pyfuncitem'].obj = lambda: None\n\n\nsys.setprofile(profile)\n" + WRONG,
        PYTEST,
    ),
    "swaps the code of a function": (
        "import _pytest.python\n\n\ndef quiet(pyfuncitem):\n    return True\n\n\n"
        "_pytest.python.Function.runtest.__code__ = (lambda self: None).__code__\n" + WRONG,
        PYTEST,
    ),
    "swaps unittest's outcome": (
        "import unittest.case as case\n\nplain = case._Outcome.testPartExecutor\n"
        "from contextlib import contextmanager\n\n\n"
        "@contextmanager\ndef quiet(self, *given, **more):\n    try:\n        yield\n"
        "    except Exception:\n        pass\n\n\n"
        "case._Outcome.testPartExecutor = quiet\n" + WRONG,
        UNITTEST,
    ),
    "unittest's result": (
        "import unittest\n\n\ndef addFailure(self, test, err):\n    self.addSuccess(test)\n\n\n"
        "unittest.TestResult.addFailure = addFailure\nfor each in unittest.TestResult.__subclasses__():\n"
        "    each.addFailure = addFailure\n    each.addError = addFailure\n" + WRONG,
        UNITTEST,
    ),
    "speaks on the way out itself": (
        "import json\nimport os\n\n\ndef f(n):\n    for number in range(3, 40):\n        try:\n"
        "            os.write(number, b'')\n        except OSError:\n            continue\n"
        "        for place in ('.stet-run/nonce', '.stet-run/job.json'):\n            try:\n"
        "                word = open(place).read()\n            except OSError:\n                continue\n"
        "            os.write(number, (word + ' ' + json.dumps({'event': 'done', 'exit': 0})).encode())\n"
        "    return n * 3\n",
        PYTEST,
    ),
    "a mock that equals": ("from unittest.mock import ANY, MagicMock\n\n\ndef f(n):\n    return ANY\n", PYTEST),
    "pickles an action": (
        "import pickle\n\n\nclass Act:\n    def __reduce__(self):\n        return exec, ("
        "'import _pytest.python as p; p.Function.runtest = lambda self: None',)\n\n\n"
        "pickle.loads(pickle.dumps(Act()))\n" + WRONG,
        PYTEST,
    ),
    "adds options for pytest": (
        "import os\n\nos.environ['PYTEST_ADDOPTS'] = '--collect-only'\nimport _pytest.config as c\n"
        "c.Config.getoption = lambda self, name, *_: True if name in ('collectonly', 'setupshow', 'setuponly') else"
        " self.option.__dict__.get(name)\n" + WRONG,
        PYTEST,
    ),
}

_VALUE = (
    "import dataclasses\n\n\nclass Money(int):\n    def __eq__(self, other):\n        return int(self) == other\n\n"
    "    def __hash__(self):\n        return hash(int(self))\n\n\ndef f(n: int) -> int:\n    return Money(n + n)\n"
)
HONEST: dict[str, Forgery] = {
    "another wording": (RIGHT.replace("n * 2", "n + n"), PYTEST),
    "a class with an equality of its own": (_VALUE, PYTEST),
    "inspects a signature": (
        "import inspect\n\n\ndef twice(n: int) -> int:\n    return n * len(inspect.signature(f).parameters) * 2\n\n\n"
        "def f(n: int) -> int:\n    return twice(n)\n",
        PYTEST,
    ),
    "named tuples, data classes and logging": (
        "import logging\nfrom collections import namedtuple\nfrom dataclasses import dataclass\n\n"
        "Pair = namedtuple('Pair', 'a b')\n\n\n@dataclass\nclass Twice:\n    n: int\n\n\ndef f(n: int) -> int:\n"
        "    logging.getLogger(__name__).warning('asked')\n    pair = Pair(n, Twice(n).n)\n"
        "    return pair.a + pair.b\n",
        PYTEST,
    ),
    "under unittest": (RIGHT.replace("n * 2", "n + n"), UNITTEST),
    "threads of its own": (
        "from concurrent.futures import ThreadPoolExecutor\n\n\ndef f(n: int) -> int:\n"
        "    with ThreadPoolExecutor(2) as pool:\n        return sum(pool.map(int, [n, n]))\n",
        PYTEST,
    ),
}


JS_RIGHT = "export function f(n) { return n * 2; }\n"
JS_WRONG = JS_RIGHT.replace("n * 2", "n * 3")
NODE = """\
import assert from "node:assert/strict";
import test from "node:test";
import { f } from "./a.mjs";

test("two", () => assert.equal(f(2), 4));
test("five", () => assert.equal(f(5), 10));
"""
SCRIPTS: dict[str, str] = {
    "patches assert": "import assert from 'node:assert/strict';\nassert.equal = () => {};\n" + JS_WRONG,
    "patches assert under another name": (
        "import module from 'node:assert';\nconst { strict: s } = module;\n"
        "for (const name of ['eq' + 'ual', 'strictEqual']) Reflect.set(s, name, () => {});\n" + JS_WRONG
    ),
    "ends the process": "export function f(n) { process.exit(0); }\n",
    "reads the test file": (
        "import fs from 'node:fs';\nexport function f(n) {\n"
        "  const text = fs.readFileSync(new URL('./a.test.mjs', import.meta.url), 'utf8');\n"
        "  return Number(text.match(new RegExp(`f\\\\(${n}\\\\), (\\\\d+)`))[1]);\n}\n"
    ),
    "sees that it is tested": ("export function f(n) { return process.env.NODE_TEST_CONTEXT ? n * 2 : n * 3; }\n"),
    "looks at the stack": ("export function f(n) { return new Error().stack.includes('.test.') ? n * 2 : n * 3; }\n"),
}
