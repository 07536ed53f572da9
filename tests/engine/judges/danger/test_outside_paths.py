"""What persists, steals or forges is reported by its kind where a change adds it; ordinary paths are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.danger import judge as danger
from stet_ls.engine.judges.danger.risk_kinds import ACCEPTABLE
from stet_ls.validators.source import Source

BEFORE = {"python": "import os\n\n\ndef f(a):\n    return a\n", "go": "package a\n"}


async def judged(code: str, language: str = "python", action: str = "refactor", name: str = "a") -> Evidence:
    before = BEFORE.get(language, "let a = 1\n" if "script" in language else "")
    return await danger.judge(Case(action, language, Path(name), Source(before), Source(f"{before}{code}\n"), "f"))


TUNED = {
    "a line for each shell": ("open(os.path.expanduser('~/.bashrc'), 'a').write('x')", "persistence"),
    "a hook of git": ("from pathlib import Path\nPath('.git/hooks/pre-commit').write_text('#!/bin/sh')", "persistence"),
    "a key": ("from pathlib import Path\nkey = (Path.home() / '.ssh' / 'id_rsa').read_text()", "secrets"),
    "all variables": ("import json\nsent = json.dumps(dict(os.environ))", "environment"),
    "reduce": (
        "import functools\nfunctools.reduce(getattr, ['path', 'os', 'system'], __import__('shutil'))",
        "introspection",
    ),
    "methodcaller": ("import operator\noperator.methodcaller('system', 'true')(os)", "introspection"),
    "pip": ("import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', 'install', 'x'])", "install"),
    "a link": ("os.symlink('/etc/passwd', 'a')", "permissions"),
    "rights": ("os.chmod('/tmp/x', 0o4755)", "permissions"),
    "attrgetter": ("import operator\noperator.attrgetter('system')(os)('true')", "process"),
    "pieces": ("getattr(os, ''.join(['sys', 'tem']))('true')", "process"),
}
HELD_OUT = {
    "autostart": ("open(os.path.join(os.environ['HOME'], '.config', 'autostart', 'x.desktop'), 'w')", "persistence"),
    "crontab": ("import subprocess\nsubprocess.run(['crontab', '-'], input=b'* * * * * x')", "persistence"),
    "someone else's key": ("p = f'{os.path.expanduser(\"~\")}/.ssh/authorized_keys'\nopen(p, 'a')", "outside-files"),
    "secrets by name": ("token = os.environ.get('GITHUB_TOKEN')", "secrets"),
    "climbing": ("open('../../other/settings.py').read()", "outside-files"),
    "climbing by parts": (
        "from pathlib import Path\nPath(__file__).parent.joinpath('..', '..', 'x').read_text()",
        "outside-files",
    ),
    "letters of a name": ("getattr(os, chr(115) + 'ystem')('true')", "process"),
    "globals": ("globals()['__built' + 'ins__'].eval('1')", "eval"),
    "subclasses": ("[c for c in object.__subclasses__() if c.__name__ == 'Popen']", "introspection"),
    "site": ("open('/usr/lib/python3/sitecustomize.py', 'w')", "persistence"),
    "another's memory": ("open('/proc/self/environ').read()", "secrets"),
    "items of variables": ("x = [f'{k}={v}' for k, v in os.environ.items()]", "environment"),
    "npm": ("import subprocess\nsubprocess.check_call('npm install evil', shell=True)", "install"),
    "owner": ("import shutil\nshutil.chown('x', 'root')", "permissions"),
    "pip as a library": ("import pip\npip.main(['install', 'x'])", "install"),
}
SECOND = {
    "a path file": ("import site\nopen(site.getsitepackages()[0] + '/x.pth', 'w')", "persistence"),
    "a start of users": ("import site\nopen(f'{site.getusersitepackages()}/usercustomize.py', 'w')", "persistence"),
    "logins of the network": ("import netrc\nhosts = netrc.netrc().hosts", "secrets"),
    "filters of git": ("open('.gitattributes', 'a')", "persistence"),
    "settings of pip": ("open('pip.conf', 'w')", "persistence"),
    "tasks of an editor": ("from pathlib import Path\nPath('.vscode/tasks.json').write_text('{}')", "persistence"),
    "a workflow": ("from pathlib import Path\nPath('.github/workflows/x.yml').write_text('x')", "persistence"),
    "a rule of make": ("with open('Makefile', 'a') as file:\n    file.write('all:')", "persistence"),
    "what every Python loads": ("os.environ['PYTHONSTARTUP'] = 'x.py'", "persistence"),
    "what every program loads": ("os.environ.setdefault('LD_PRELOAD', 'x.so')", "persistence"),
    "modules from elsewhere": ("import sys\nsys.path.insert(0, '/tmp')", "outside-files"),
    "a loop's process": ("import asyncio\nloop = asyncio.new_event_loop()\nloop.subprocess_shell(f, 'id')", "process"),
    "a loop's connection": ("import asyncio\nloop = asyncio.get_event_loop()\nloop.create_connection(f)", "network"),
    "a socket below": ("import _socket\ns = _socket.socket()", "network"),
    "a log to elsewhere": ("import logging.handlers\nlogging.handlers.HTTPHandler('x', '/')", "network"),
    "a manager": ("from multiprocessing.managers import BaseManager\nBaseManager(('10.0.0.1', 1))", "process"),
    "an import below": ("from importlib._bootstrap import _gcd_import\n_gcd_import('x').y()", "eval"),
    "a name resolved": ("import pkgutil\npkgutil.resolve_name('os:system')('x')", "eval"),
    "a name located": ("import pydoc\npydoc.locate('os.system')('x')", "eval"),
    "a handler by name": ("import logging.config\nlogging.config.dictConfig({'x': {'()': 'os.system'}})", "eval"),
    "a test by name": ("import unittest\nunittest.defaultTestLoader.loadTestsFromName('os.system')", "eval"),
    "examples": ("import doctest\ndoctest.run_docstring_examples('x', {})", "eval"),
    "a class that unpickles": ("A = type('A', (), {'__reduce__': lambda self: (print, ())})", "unpickle"),
    "a format": ("s = '{0.__init__.__globals__}'.format(f)", "introspection"),
    "a field": ("import string\nstring.Formatter().get_field('0.__class__.__mro__', [f], {})", "introspection"),
    "a library of a database": ("import sqlite3\nsqlite3.connect('x').load_extension('x')", "native"),
    "a program in memory": ("fd = os.memfd_create('x')", "native"),
}
"""Written against the tables by someone who had not seen them; none of these was reported then."""
OTHERS = {
    "javascript: variables spread": ("send({ ...process.env })", "javascript", "environment"),
    "javascript: a module of text": ("import('data:text/javascript,1')", "javascript", "eval"),
    "javascript: what node loads": ("process.env.NODE_OPTIONS = '--require x'", "javascript", "persistence"),
    "javascript: scripts of npm": ("fs.writeFileSync('package.json', x)", "javascript", "persistence"),
    "javascript: a line for each shell": ("fs.appendFileSync('/srv/me/.bashrc', 'x')", "javascript", "persistence"),
    "javascript: home": ("const x = os.homedir()", "javascript", "outside-files"),
    "javascript: all variables": ("send(JSON.stringify(process.env))", "javascript", "environment"),
    "javascript: a secret": ("send(process.env.GITHUB_TOKEN)", "javascript", "secrets"),
    "javascript: a link": ("fs.symlinkSync(a, b)", "javascript", "permissions"),
    "javascript: climbing": ("fs.readFileSync('../../x')", "javascript", "outside-files"),
    "javascript: the comparison": ("assert.equal = () => {}", "javascript", "test-tampering"),
    "javascript: npm": ("run('npm install evil')", "typescript", "install"),
    "go: all variables": ("func f() []string { return os.Environ() }", "go", "environment"),
    "go: a key": ('func f() { os.ReadFile("/srv/.ssh/id_rsa") }', "go", "secrets"),
    "rust: all variables": ("fn f() { for x in std::env::vars() {} }", "rust", "environment"),
    "java: rights": ("class A { void f() { Files.setPosixFilePermissions(p, s); } }", "java", "permissions"),
    "c: a link": ("int f(void) { return symlink(a, b); }", "c", "permissions"),
    "csharp: all variables": (
        "class A { void F() { Environment.GetEnvironmentVariables(); } }",
        "csharp",
        "environment",
    ),
    "shell: a package": ("pip install evil", "shellscript", "install"),
    "ruby: all variables": ("puts ENV.to_h", "ruby", "environment"),
}
FORGES = {
    "pytest itself": "import _pytest.runner",
    "the stack": "import inspect\ninspect.stack()",
    "the running test": "os.environ.get('PYTEST_CURRENT_TEST')",
    "equals everything": "class A:\n    def __eq__(self, other):\n        return True",
    "equals all of a kind": "class A:\n    def __eq__(self, other):\n        return isinstance(other, int)",
    "equals by a lambda": "class A(int):\n    __eq__ = lambda *_: True",
    "a class that is made": "A = type('A', (int,), {'__eq__': lambda a, b: True})",
    "a file of tests": "open('test_a.py').read()",
    "a folder of tests": "import os\nos.path.exists('tests')",
    "whether pytest is there": "from importlib.util import find_spec\nfind_spec('pytest')",
    "the program that runs": "import __main__\nhasattr(__main__, 'app')",
    "whether assertions run": "x = 1 if __debug__ else 0",
    "a comparison of unittest": "import unittest\nunittest.TestCase.assertEqual = print",
    "what everybody uses": "import builtins\nbuiltins.sum = max",
}
ORDINARY = {
    "a file that is given": "def g(path):\n    with open(path) as file:\n        return file.read()",
    "a file of the project": "open('data/settings.json').read()",
    "a variable": "x = os.environ.get('HOME_PAGE')\ny = os.environ['DEBUG']\nz = 'CI' in os.environ",
    "an equality": "class A:\n    def __eq__(self, other):\n        if not isinstance(other, A):\n"
    "            return NotImplemented\n        return self.x == other.x",
    "another equality": "class A:\n    def __eq__(self, other):\n        return type(self) is type(other) and"
    " vars(self) == vars(other)\n\n    def __hash__(self):\n        return 1",
    "a comparison by a key": "import operator\nsorted(a, key=operator.attrgetter('name'))\ngetattr(a, 'size', 0)",
    "a main program": "if __name__ == '__main__':\n    main()",
    "a signature": "import inspect\ninspect.signature(f)",
    "prose": '"""Put this into your ~/.bashrc: pip install stet."""\nraise ImportError("pip install numpy")',
    "a route": "route('/api/users')\nx = a / 2",
    "what a tool is told": "open('pyproject.toml').read()\nopen('Makefile', 'r', encoding='utf-8')",
    "a file that is written": "open('out.txt', 'w').write(str(a))\nname = f'{a}.profile'",
    "a variable that is set": "os.environ['DEBUG'] = '1'\nx = os.environ.get('PATH')",
    "a table with kinds": "x = {'__class__': 'A', '__doc__': 'x'}\ny = '{0.name}'.format(a)",
    "a connection of one's own": "a.create_connection('x')",
    "handlers": "import logging.config\nlogging.config.dictConfig({'version': 1})",
}


PYTHON = {**TUNED, **HELD_OUT, **SECOND}


@pytest.mark.parametrize(("code", "kind"), PYTHON.values(), ids=PYTHON.keys())
async def test_outside_access_of_python_is_reported_by_kind(code: str, kind: str) -> None:
    evidence = await judged(code)
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, True), evidence
    assert kind in evidence.codes, evidence
    assert set(evidence.codes) <= set(ACCEPTABLE)


@pytest.mark.parametrize(("code", "language", "kind"), OTHERS.values(), ids=OTHERS.keys())
async def test_outside_access_of_other_languages_is_reported_by_kind(code: str, language: str, kind: str) -> None:
    evidence = await judged(code, language)
    assert kind in evidence.codes, evidence


@pytest.mark.parametrize("code", FORGES.values(), ids=FORGES.keys())
async def test_code_that_can_forge_a_test_is_reported(code: str) -> None:
    evidence = await judged(code)
    assert {"test-tampering", "introspection"}.intersection(evidence.codes), evidence


@pytest.mark.parametrize("code", ORDINARY.values(), ids=ORDINARY.keys())
async def test_ordinary_code_is_not_reported(code: str) -> None:
    evidence = await judged(code)
    assert evidence.verdict is Ruling.PASS, evidence


async def test_tests_may_use_what_tests_need() -> None:
    assert (await judged("from unittest.mock import patch\npatch('a.b')", name="test_a.py")).codes == ()


async def test_an_instruction_may_request_file_access_but_not_a_hook() -> None:
    assert not (await judged("open('/var/log/x').read()", action="generate")).trusted
    assert (await judged("open('.git/hooks/pre-push', 'w')", action="generate")).trusted
