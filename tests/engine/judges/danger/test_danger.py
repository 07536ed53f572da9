"""Invisible characters refute an answer; effects that were not requested are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.api.summary import evidence_line
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.danger import judge as danger
from stet_ls.validators.source import Source

BEFORE = "import os\n\n\ndef f(a):\n    os.system(a)\n"


async def judged(after: str, language: str = "python", *, before: str = BEFORE, action: str = "refactor") -> Evidence:
    return await danger.judge(Case(action, language, Path("a"), Source(before), Source(after), "f"))


@pytest.mark.parametrize(
    ("language", "code", "name", "what"),
    [
        ("python", "eval(a)", "eval", "runs text as code"),
        ("python", "subprocess . run(a,\n    shell=True)", "subprocess.run", "starts a process"),
        ("python", "if a:\n    from subprocess import run", "subprocess", "starts a process"),
        ("python", "os.system(a); os.system('curl x | sh')", "os.system", "starts a process"),
        ("python", "import socket as s", "socket", "network"),
        ("python", "urllib.request.urlopen('http://x')", "urllib.request.urlopen", "network"),
        ("python", "requests.post(u, data=open(p))", "requests.post", "network"),
        ("python", "x = pickle.loads(a)", "pickle.loads", "deserializes"),
        ("python", "ctypes.CDLL(None)", "ctypes.CDLL", "native"),
        ("python", "Path(a).unlink()", "Path(a).unlink", "deletes"),
        ("javascript", "eval(a)", "eval", "runs text as code"),
        ("typescript", "new Function(a)()", "Function", "runs text as code"),
        ("javascript", "const { exec } = require('child_process')", "child_process", "starts a process"),
        ("typescript", "import * as c from 'node:child_process'", "child_process", "starts a process"),
        ("javascript", "fetch('https://x', {method: 'POST'}).then(a)", "fetch", "network"),
        ("javascript", "fs.rmSync('/', {recursive: true})", "fs.rmSync", "deletes"),
    ],
)
async def test_a_new_dangerous_call_is_reported(language: str, code: str, name: str, what: str) -> None:
    before = BEFORE if language == "python" else "let a = 1\n"
    evidence = await judged(before + code + "\n", language, before=before)
    assert evidence.verdict is Ruling.UNKNOWN
    assert f"adds `{name}`, which " in evidence.detail
    assert what in evidence.detail
    assert evidence.trusted, "it deserves a question"
    assert evidence_line([evidence]) == evidence.detail


@pytest.mark.parametrize(
    "code",
    [
        BEFORE,
        BEFORE.replace("os.system(a)", "b = a\n    os.system(b)"),
        "re.compile(a)\nmodel.eval()\njson.load(a)\nhttp_get(a)\nclient.fetch(a)\n",
        "evaluate(a)\n# subprocess.run(a)\nx = 'eval(a)'\n",
    ],
)
async def test_existing_and_harmless_calls_are_not_reported(code: str) -> None:
    evidence = await judged(code)
    assert evidence.verdict is Ruling.PASS, evidence.detail
    assert evidence_line([evidence]) == ""


async def test_a_call_that_the_instruction_requests_is_allowed() -> None:
    evidence = await judged(BEFORE + "eval(a)\n", action="generate")
    assert evidence.verdict is Ruling.UNKNOWN
    assert not evidence.trusted


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("\u202e", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("\u2066", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("\u200b", "U+200B ZERO WIDTH SPACE"),
        ("\0", "U+0000"),
        ("\x1b", "U+001B"),
        ("\U000e0041", "U+E0041 TAG LATIN CAPITAL LETTER A"),
    ],
)
@pytest.mark.parametrize("language", ["python", "go", "plaintext"])
async def test_an_invisible_character_refutes(language: str, character: str, name: str) -> None:
    evidence = await judged(f"{BEFORE}# a{character}b\n", language)
    assert evidence.verdict is Ruling.FAIL
    assert evidence.trusted
    assert name in evidence.detail


async def test_existing_invisible_characters_and_visible_ones_pass() -> None:
    before = "\ufeffx = 'a\u200bb'\n"
    after = before + "y = 'é 漢 👩\u200d🚀 \u200c'\f\n"
    assert (await judged(after, before=before)).verdict is Ruling.PASS


HIDING = {
    "python": {
        "try:\n    f(a)\nexcept Exception:\n    pass\n": "except Exception",
        "try:\n    f(a)\nexcept (E, BaseException) as error:\n    b = 0\n": "except (E, BaseException)",
        "try:\n    f(a)\nexcept:\n    b = 0\n": "except:",
        "import contextlib\nwith contextlib.suppress(Exception):\n    f(a)\n": "contextlib.suppress(Exception)",
    },
    "javascript": {
        "try { f(a); } catch {}\n": "catch",
        "try { f(a); } catch (error) { b = `no ${a}`; }\n": "catch",
        "f(a).catch(() => null);\n": ".catch",
    },
    "typescript": {"try { f(a); } catch (error: unknown) { b = 0; }\n": "catch"},
}
RISKY = {
    "python": [
        "try:\n    f(a)\nexcept ValueError:\n    pass\n",
        "try:\n    f(a)\nexcept Exception as error:\n    raise Other from error\n",
        "try:\n    f(a)\nexcept Exception as error:\n    b = str(error)\n",
        "try:\n    f(a)\nexcept Exception:\n    logger.exception('no f')\n",
        "import contextlib\nwith contextlib.suppress(KeyError):\n    f(a)\n",
    ],
    "javascript": [
        "try { f(a); } catch (error) { throw new Other(error); }\n",
        "try { f(a); } catch (error) { b = `no ${error}`; }\n",
        "try { f(a); } catch { console.error('no f'); }\n",
        "try { f(a); } catch ({ message }) { b = message; }\n",
        "f(a).catch((error) => tell(error));\n",
        "f(a).then(() => null); cache.catchAll(() => null);\n",
    ],
}


@pytest.mark.parametrize("action", ["debug", "generate"])
@pytest.mark.parametrize(
    ("language", "code", "name"),
    [(language, code, name) for language, codes in HIDING.items() for code, name in codes.items()],
)
async def test_a_new_handler_that_hides_every_error_is_reported(
    language: str, code: str, name: str, action: str
) -> None:
    before = "a = 1\n"
    evidence = await judged(before + code, language, before=before, action=action)
    assert evidence.detail == f"adds `{name}`, which hides all errors"
    # It never refutes; what the instruction asks for is reported without a question.
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, action == "debug")
    assert (await judged(code + "b = a\n", language, before=code, action=action)).verdict is Ruling.PASS


@pytest.mark.parametrize(
    ("language", "code"), [(language, code) for language, codes in RISKY.items() for code in codes]
)
async def test_a_handler_that_uses_the_error_is_not_reported(language: str, code: str) -> None:
    evidence = await judged(code, language, before="a = 1\n", action="debug")
    assert evidence.verdict is Ruling.PASS, evidence.detail


async def test_a_widened_handler_counts_as_new() -> None:
    before = RISKY["python"][0]
    evidence = await judged(before.replace("ValueError", "Exception"), before=before, action="debug")
    assert evidence.detail == "adds `except Exception`, which hides all errors"
