"""What a target uses of other files: the right one of several, as it is now, and nothing that is hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from support.markers import split_markers

from stet_ls.engine.api.request import Buffer, Request, Selection, Workspace
from stet_ls.engine.errors import UsageError
from stet_ls.engine.prompt.build import ModelTier, Prompt, RememberedItem, TaskSpec, build
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.workspace.symbol_index import NOT_READY, SymbolIndex
from stet_ls.validators.languages import language_of
from stet_ls.validators.source import Source

TASK = TaskSpec("Make it simpler.", "unit")
BY = "parsed by"


class Project:
    """Files on the disk, the index of them, and prompts about one of them."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        home.mkdir(mode=0o700)
        self.index = SymbolIndex(Paths(home / "config.toml", home / "data", home / "cache", home / "log", home / "run"))

    async def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        await self.index.read((self.root,), 30)

    def request(self, name: str, marked: str, *buffers: Buffer) -> Request:
        text, span = split_markers(marked)
        assert span is not None
        workspace = Workspace((self.root,), buffers)
        return Request(
            "refactor", language_of(name), Source(text), Selection(span), self.root / name, workspace=workspace
        )

    def prompt(
        self,
        request: Request,
        *,
        budget: int = 8000,
        tier: ModelTier = "strong",
        remembered: tuple[RememberedItem, ...] = (),
    ) -> Prompt:
        target = resolve_target(request)
        return build(
            request, target, find_instruction(request, target), TASK, budget_tokens=budget, tier=tier, index=self.index,
            remembered=remembered,
        )  # fmt: skip

    def sent(self, name: str, marked: str, *buffers: Buffer) -> str:
        return self.prompt(self.request(name, marked, *buffers)).messages[-1].content


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "project").mkdir()
    return Project(tmp_path / "project", tmp_path / "home")


def python(by: str) -> str:
    return f'def parse(text):\n    """Reads it."""\n    return "{BY} {by}", text\n'


PARSES = {
    "app/__init__.py": "",
    "app/dates.py": python("dates"),
    "app/urls.py": python("urls"),
    "lib/names.py": python("names"),
}
RULES = {"AGENTS.md": "# Code style\n\nShort names.\n", "pyproject.toml": "[tool.ruff]\nline-length = 99\n"}

CASES = {
    "from": ("app/use.py", "from app.dates import parse\n", "parse(x)", "dates"),
    "relative": ("app/use.py", "from .urls import parse\n", "parse(x)", "urls"),
    "above": ("app/deep/use.py", "from ..urls import parse\n", "parse(x)", "urls"),
    "renamed": ("use.py", "from lib.names import parse as read\n", "read(x)", "names"),
    "module": ("use.py", "from app import urls\n", "urls.parse(x)", "urls"),
    "dotted": ("use.py", "import lib.names\n", "lib.names.parse(x)", "names"),
    "in brackets": ("use.py", "from app.dates import (\n    other,\n    parse,\n)\n", "parse(x)", "dates"),
}


@pytest.mark.parametrize("case", CASES)
async def test_an_import_selects_among_definitions_of_the_same_name(project: Project, case: str) -> None:
    name, imports, call, by = CASES[case]
    await project.write(PARSES)
    sent = project.sent(name, f"{imports}\n\ndef use(x):\n    return {call}$0\n")
    assert f'return "{BY} {by}", text' in sent
    assert sent.count(BY) == 1


async def test_without_an_import_an_ambiguous_definition_is_not_shown(project: Project) -> None:
    await project.write(PARSES)
    assert BY not in project.sent("use.py", "def use(x):\n    return parse(x)$0\n")
    assert BY not in project.sent("use.py", "from elsewhere import parse\n\n\ndef use(x):\n    return parse(x)$0\n")


async def test_definitions_in_the_file_itself_take_precedence(project: Project) -> None:
    await project.write(PARSES)
    own = "from app.dates import *\n\n\ndef parse(x):\n    return 1\n\n\ndef use(x):\n    return parse(x)$0\n"
    assert BY not in project.sent("use.py", own)


OTHERS = {
    "typescript": """
//- src/a.ts
export function load(x: string) { return 'right' + x }
//- src/b.ts
export function load() { return 'wrong' }
//- src/use.ts
import { load } from './a'

function use(x: string) { return load(x)$0 }
""",
    "javascript": """
//- a.js
exports.load = function load(x) { return 'wrong' }
//- b/index.js
function load(x) { return 'right' }
//- use.js
const { load } = require('./b')

function use(x) { return load(x)$0 }
""",
    "go": """
//- here/more.go
package here

func load(x int) string { return "right" }
//- there/more.go
package there

func load(x int) string { return "wrong" }
//- here/use.go
package here

func run() string { return load(1)$0 }
""",
    "rust": """
//- src/dates.rs
pub fn load(x: i32) -> &str { "wrong" }
//- src/urls.rs
pub fn load(x: i32) -> &str { "right" }
//- src/main.rs
use crate::urls::load;

fn run() -> &str { load(1)$0 }
""",
    "java": """
//- a/Dates.java
package a;
class Dates { static String load(int x) { return "wrong"; } }
//- b/Dates.java
package b;
class Dates {
  static String load(int x) { return "right"; }
}
//- c/Use.java
package c;
import b.Dates;
class Use {
  String run() { return Dates.load(1);$0 }
}
""",
    "cpp": """
//- dates.h
int load(int x);
//- dates.cpp
int load(int x) { return size("right"); }
//- urls.cpp
int load(int x) { return size("wrong"); }
//- use.cpp
#include "dates.h"

int run() { return load(1);$0 }
""",
    "csharp": """
//- Dates.cs
namespace A;
class Dates {
  public static string Load(int x) { return "right"; }
}
//- Use.cs
using A;
class Use {
  string Run() { return Dates.Load(1);$0 }
}
""",
}


@pytest.mark.parametrize("name", OTHERS)
async def test_other_languages_select_by_their_own_rules(project: Project, name: str) -> None:
    files = dict(part.split("\n", 1) for part in OTHERS[name].split("//- ")[1:])
    path, marked = files.popitem()
    await project.write(files)
    sent = project.sent(path, marked)
    assert "right" in sent
    assert "wrong" not in sent


async def test_a_class_is_shown_by_its_members(project: Project) -> None:
    await project.write(
        {"clock.py": 'class Clock:\n    """Tells it."""\n\n    def now(self) -> int:\n        return 7\n'}
    )
    sent = project.sent("use.py", "from clock import Clock\n\n\ndef use(clock: Clock):\n    return clock.tick()$0\n")
    assert "From clock.py, which is not to be changed:\n```python\nclass Clock" in sent
    assert "    def now(self) -> int" in sent
    assert "return 7" not in sent


USE = "from app.dates import parse\n\n\ndef use(x):\n    return parse(x)$0\n"


async def test_an_unsaved_buffer_is_shown_with_its_current_text(project: Project) -> None:
    await project.write(PARSES)
    buffer = Buffer(project.root / "app" / "dates.py", 3, python("the editor"))
    assert f"{BY} the editor" in project.sent("use.py", USE, buffer)


async def test_a_small_model_sees_only_the_header(project: Project) -> None:
    await project.write(PARSES)
    sent = project.prompt(project.request("use.py", USE), tier="tiny").messages[-1].content
    assert "def parse(text)  # Reads it." in sent
    assert BY not in sent


async def test_hidden_files_and_secrets_are_not_sent(project: Project) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3
    await project.write({**PARSES, "app/dates.py": f"def parse(text):\n    return get(token={secret!r})\n"})
    prompt = project.prompt(project.request("use.py", USE))
    assert "return get(token='STET_SECRET_1')" in prompt.messages[-1].content
    assert secret not in repr(prompt.messages)
    assert not prompt.secrets, "another file's secret is put back into no code"
    (project.root / ".stetignore").write_text("dates.py\n")
    assert "From app" not in project.sent("use.py", USE)


async def test_an_index_that_is_not_ready_is_reported(project: Project) -> None:
    project.index.watch((project.root,), after=60)
    assert project.prompt(project.request("use.py", USE)).left_out == (NOT_READY,)
    await project.index.close()


# Order and cuts.

NOTES = "# Code style\n\n" + "Short names. " * 20


async def test_the_parts_of_a_prompt_are_in_order(project: Project) -> None:
    await project.write({**PARSES, **RULES})
    text = """from app.dates import parse


def near():
    return 1


def use(x):
    return parse(x) + near()$0


def caller():
    return use(1)
"""
    request = replace(
        project.request("use.py", text),
        context={"log": "it failed"},
        constraints=("No regex.",),
        instruction="Be brief.",
    )
    prompt = project.prompt(request, remembered=(RememberedItem("def solved(): pass", "kept in March"),))
    whole = "\n".join(message.content for message in prompt.messages)
    order = [
        "Language: Python", "lines of at most 99", "Short names.", "from app.dates import parse", "def near():",
        "def caller", "From app/dates.py", "kept in March", "it failed", "The code of `use`",
        "Instruction: Be brief.", "- No regex.",
    ]  # fmt: skip
    at = [whole.index(words) for words in order]
    assert at == sorted(at)
    assert prompt.messages[-1].content.endswith(prompt.form)
    assert sum(part.tokens for part in prompt.parts) == prompt.tokens
    names = [part.name for part in prompt.parts]
    assert names[:3] == ["the rules", "the project's conventions", "the project's notes"]
    assert "the body of parse of app/dates.py" in names


async def test_a_prompt_lists_the_ids_of_its_solutions(project: Project) -> None:
    """Not by its text: the user's own words may be those that a solution is introduced with."""
    await project.write(PARSES)
    solution = RememberedItem("def solved():\n    pass\n" * 20, "kept in March")
    request = replace(project.request("use.py", USE), context={"log": "It was solved, kept in March:\npass"})
    whole = project.prompt(request, remembered=(solution,))
    tight = project.prompt(request, remembered=(solution,), budget=whole.tokens - 30)

    assert whole.remembered == (solution,)
    assert tight.remembered == ()
    assert any("kept in March:\n" in message.content for message in tight.messages)


async def test_context_is_dropped_in_a_fixed_order(project: Project) -> None:
    long = python("dates") + "".join(f"    # line {number} of it\n" for number in range(20))
    await project.write({**PARSES, **RULES, "app/dates.py": long.replace("return", "x ="), "AGENTS.md": NOTES})
    text = USE.replace("$0", "$0\n\n\ndef caller():\n    return use(1)")
    request = replace(project.request("use.py", text), context={"log": "it failed"})
    remembered = (RememberedItem("def solved(): pass", "kept in March"),)
    order: list[str] = []
    for budget in range(project.prompt(request, remembered=remembered).tokens, 150, -3):
        try:
            left_out = project.prompt(request, budget=budget, remembered=remembered).left_out
        except UsageError:
            break
        order += [one for one in left_out if one not in order]
    expected = (
        "the project's notes", "the project's conventions", "a remembered solution", "the caller", "the body of parse",
        "parse of", "imports", "context 'log'",
    )  # fmt: skip
    at = [next(i for i, one in enumerate(order) if one.startswith(words)) for words in expected]
    assert at == sorted(at), order
    assert all("no room for" in one for one in order)


async def test_two_jobs_of_a_project_share_a_prompt_prefix(project: Project) -> None:
    await project.write({**PARSES, **RULES})
    one = project.prompt(project.request("use.py", USE))
    two = project.prompt(project.request("app/urls.py", "def other(y):\n    return y$0\n"))
    assert one.messages[0] == two.messages[0]
    assert "lines of at most 99" in one.messages[0].content
    first, second = (prompt.messages[1].content for prompt in (one, two))
    shared = first[: first.index("<data-" + one.ident)]
    assert "Short names." in shared
    assert second.startswith(shared)
    assert one.ident != two.ident
