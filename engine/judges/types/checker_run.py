"""Runs a type checker in the sandbox on versions of one file, and reads what it found in each."""

from __future__ import annotations

import asyncio
import hashlib
import posixpath
import secrets
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.errors import StetError
from stet_ls.engine.judges.types.programs import CheckedFile, CheckerStart
from stet_ls.engine.judges.types.type_checkers import TypeChecker
from stet_ls.engine.sandbox.spec import Overlay, RunResult, RunSpec, RunStatus
from stet_ls.validators.project_files import entries, read_regular

_CACHE = ".stet-types"
"""The folder of a checker's cache in the working folder of a run."""
_TEXTS = ".stet-texts"
_MOST_CACHED = 48 * 1024 * 1024
"""Bytes of a project's own cache that a run is given."""
_MOST_KEPT = 4
_SHOWN = 200

_KEPT: dict[tuple[Path, str], Mapping[str, bytes]] = {}
"""The caches of the last runs, by project and checker. Untrusted: only the next run of the same kind reads them."""


@dataclass(frozen=True, slots=True)
class TypeFinding:
    """One finding. `path` is relative to the project, "" for a file outside of it; `line` counts from 1."""

    path: str
    line: int
    severity: str
    code: str
    message: str


class CheckerProblem(Exception):
    """A checker gave no result. The text is a clause for the user; `is_slow`: it did not finish in time."""

    def __init__(self, reason: str, *, is_slow: bool = False) -> None:
        super().__init__(reason)
        self.is_slow = is_slow


async def findings(
    checker: TypeChecker, started: CheckerStart, target: CheckedFile, texts: Sequence[str]
) -> list[tuple[TypeFinding, ...]]:
    """What the checker finds with each text in place of the file. Raises CheckerProblem.

    All texts are checked in one sandbox, so that the later ones take a fraction of the first one's time.
    """
    mark = secrets.token_hex(16)
    spec = await asyncio.to_thread(_spec, checker, started, target, texts, mark)
    left = target.runtime.left()
    try:
        async with asyncio.timeout(spec.limits.within(left).wall):
            result = await target.runtime.sandbox.run(spec)
    except TimeoutError:
        raise CheckerProblem("the job is out of time") from None
    except (StetError, ValueError, OSError) as error:
        raise CheckerProblem(f"cannot run it here: {error}") from None
    if result.status in (RunStatus.TIMEOUT, RunStatus.STARVED):
        raise CheckerProblem(f"too slow: not finished after {spec.limits.seconds:.0f} s", is_slow=True)
    if checker.keeps_cache and result.artifacts:
        _keep((target.root, checker.name), result.artifacts)
    return list(_read(checker, result, target, mark, len(texts)))


def _spec(checker: TypeChecker, started: CheckerStart, target: CheckedFile, texts: Sequence[str], mark: str) -> RunSpec:
    buffers = {
        buffer.path.relative_to(target.root).as_posix(): buffer.text.encode("utf-8", "surrogatepass")
        for buffer in target.runtime.workspace.buffers
        if buffer.path.is_relative_to(target.root)
    }
    own = {f"{_TEXTS}/{number}": text.encode("utf-8", "surrogatepass") for number, text in enumerate(texts)}
    return RunSpec(
        ("sh", "-c", "\n".join(_script(checker, started, target, texts, mark))),
        files={**_cache(checker, target), **own},
        binds=started.binds,
        overlay=Overlay(target.root, buffers),
        limits=checker.limits,
        artifacts=(_CACHE,) if checker.keeps_cache else (),
    )


def _script(
    checker: TypeChecker, started: CheckerStart, target: CheckedFile, texts: Sequence[str], mark: str
) -> Iterator[str]:  # fmt: skip
    """Puts one text after the other in place of the file, and runs the checker on it."""
    work = shlex.quote(target.folder.relative_to(target.root).as_posix())
    yield f'work=$PWD; mkdir -p {_CACHE}; temporary=${{TMPDIR:-/tmp}}; echo "{mark} $work"'
    for name, value in started.env.items():
        yield f"export {name}={_filled(value)}"
    file = shlex.quote(target.path.relative_to(target.root).as_posix())
    command = " ".join(_filled(each) for each in started.argv)
    for number, text in enumerate(texts):
        yield f"cat {_TEXTS}/{number} > {file}"
        if checker.by_date:
            yield f"touch -t {_date(text)} {file}"
        yield f'(cd {work} && {command}) 2>&1; status=$?; echo; echo "{mark} $status"'


def _filled(word: str) -> str:
    quoted = shlex.quote(word)  # an `@` needs no quotes
    return quoted.replace("@TMP@", '"$temporary"').replace("@CACHE@", f'"$work/{_CACHE}"')


def _date(text: str) -> str:
    """A date of this text's own."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    seconds = int.from_bytes(digest[:4], "big") % (364 * 24 * 3600)
    return time.strftime("%Y%m%d%H%M.%S", time.gmtime(1_000_000_000 + seconds))


def _cache(checker: TypeChecker, target: CheckedFile) -> Mapping[str, bytes]:
    """The cache of the last run, else the project's own."""
    kept = _KEPT.get((target.root, checker.name))
    if kept is not None or not checker.own_cache:
        return kept or {}
    found: dict[str, bytes] = {}
    left = _MOST_CACHED
    own = target.folder / checker.own_cache
    for folder in (own, *(Path(each.path) for each in entries(own) if each.is_dir(follow_symlinks=False))):
        for entry in entries(folder):
            if not entry.is_file(follow_symlinks=False):
                continue
            try:
                data = read_regular(Path(entry.path), most=left)
            except OSError:  # too large, or gone
                return {}
            left -= len(data)
            found[f"{_CACHE}/{Path(entry.path).relative_to(own).as_posix()}"] = data
    return found


def _keep(key: tuple[Path, str], files: Mapping[str, bytes]) -> None:
    _KEPT.pop(key, None)
    _KEPT[key] = files
    if len(_KEPT) > _MOST_KEPT:
        del _KEPT[next(iter(_KEPT))]


def _read(
    checker: TypeChecker, result: RunResult, target: CheckedFile, mark: str, number: int
) -> Iterator[tuple[TypeFinding, ...]]:
    _, *parts = result.stdout.decode("utf-8", "replace").split(f"{mark} ")
    if result.truncated:
        raise CheckerProblem("it prints too much")
    if len(parts) != number + 1:
        raise CheckerProblem(f"it did not finish ({result.detail or result.status})")
    work, _, output = parts[0].partition("\n")
    for part in parts[1:]:
        status, _, rest = part.partition("\n")
        found = tuple(_found(checker, output, target, work))
        if (int(status) not in checker.ends) or (int(status) and not found):
            last_line = next((line for line in reversed(output.splitlines()) if line.strip()), f"exit status {status}")
            raise CheckerProblem(f"it failed: {last_line.strip()[:_SHOWN]}")
        yield found
        output = rest


def _found(checker: TypeChecker, output: str, target: CheckedFile, work: str) -> Iterator[TypeFinding]:
    folder = posixpath.join(work, target.folder.relative_to(target.root).as_posix())
    for match in checker.pattern.finditer(output):
        groups = match.groupdict()
        path = posixpath.relpath(posixpath.normpath(posixpath.join(folder, groups["path"])), work)
        message = " ".join(groups["message"].split())
        outside = path.startswith("..")
        severity = groups.get("severity") or "error"
        yield TypeFinding("" if outside else path, int(groups["line"]), severity, groups.get("code") or "", message)
