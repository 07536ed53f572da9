"""Runs Rust tests: one file by `rustc --test`, a crate by `cargo test --offline`; both print libtest's output."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from stet_ls.engine.runners import box_steps, toolchain
from stet_ls.engine.runners.box_steps import BoxStep
from stet_ls.engine.runners.languages.compiler_output import build_errors
from stet_ls.engine.runners.languages.libtest import listed, read
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report_channel import Event
from stet_ls.engine.runners.reporter_events import ReporterEvents
from stet_ls.engine.runners.toolchain import BoxProgram
from stet_ls.engine.sandbox.spec import COMPILE, RunSpec

_INSTALL = "rust (https://rustup.rs)"
_BUILD_SECONDS = 50.0
_TEST_SECONDS = 20.0
_ERROR = re.compile(
    r"^error(?:\[\w+\])?: (?P<what>.*)\n\s*--> (?P<path>[^\n:]+):(?P<line>\d+):(?P<column>\d+)", re.MULTILINE
)
_HERE, _MANIFEST = PurePosixPath(), "Cargo.toml"
_WORKSPACE = re.compile(r"^[ \t]*\[[ \t]*workspace[ \t]*[].]", re.MULTILINE)
_MIB = 1 << 20
LIMITS = replace(COMPILE, scratch=512 * _MIB)
"""The limits of a run."""


def _linker(program: BoxProgram) -> tuple[Path, ...]:
    return (*program.binds, *toolchain.find("cc", install="a linker (apt install build-essential)").binds)


class Rustc:
    """Compiles each test file by itself, with libtest's harness; it may include others by `mod`."""

    name = "rustc"
    install = _INSTALL

    def fits(self, plan: TestPlan) -> bool:
        """Files without a crate around them."""
        return _crate(plan) is None

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """Builds, lists, runs: all listed tests must have run."""
        program = toolchain.rust("rustc", _INSTALL)
        return box_steps.spec(
            nonce,
            list(self._steps(plan, str(program.path))),
            files={},
            binds=_linker(program),
            env={"RUST_BACKTRACE": "0"},
            limits=LIMITS,
        )

    def _steps(self, plan: TestPlan, compiler: str) -> Iterator[BoxStep]:
        for number, test in enumerate(plan.tests):
            built = f"@TMP@/test{number}"
            argv = (compiler, "--test", "--edition", "2021", "-A", "warnings", "-o", built, test)
            yield BoxStep(f"build {test}", argv, _BUILD_SECONDS)
        for number, test in enumerate(plan.tests):
            built = f"@TMP@/test{number}"
            names = tuple(each.partition("::")[2] for each in plan.select if each.startswith(f"{test}::"))
            chosen = ("--exact", *names) if names else ()
            yield BoxStep(f"list {test}", (built, "--list", "--format=terse", *chosen), _TEST_SECONDS)
            yield BoxStep(f"run {test}", (built, "--test-threads=1", *chosen), _TEST_SECONDS)

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """Reads what each harness listed, and what it reported for each test."""
        steps = box_steps.outputs(events)
        found = box_steps.ended(events, steps)
        for test in plan.tests:
            build, ran = steps.get(f"build {test}"), steps.get(f"run {test}")
            if build is not None and build.code is not None and not build.well:
                found.collection += build_errors(test, build, plan, _ERROR)
            elif ran is not None:
                found.known += tuple(f"{test}::{name}" for name in listed(steps[f"list {test}"].out, ""))
                read(found, ran, plan, test)
        # A harness that failed to build cannot be started: its build error is reported already.
        found.absent = "" if found.collection else found.absent
        return found


class Cargo:
    """Runs a crate's own tests. Its build scripts and macros run in the sandbox as well; nothing is fetched.

    The crate is the one around the first test. Cargo names its tests by paths in the crate; paths in errors of
    compilers and in panics are relative to the workspace that the crate may be a member of.
    """

    name = "cargo"
    install = _INSTALL

    def fits(self, plan: TestPlan) -> bool:
        """There is a crate."""
        return _crate(plan) is not None

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """Builds, lists, runs. Of cargo's home, only the registry is shown: credentials are next to it."""
        program = toolchain.rust("cargo", _INSTALL)
        home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
        shown = (*toolchain.cache(home / "registry"), *toolchain.cache(home / "git"))
        crate = _crate(plan) or _HERE
        member = () if crate == _HERE else ("--manifest-path", str(crate / _MANIFEST))
        argv = (str(program.path), "test", "--offline", "--color=never", *member)
        names = tuple(identifier.partition("::")[2] for identifier in plan.select)
        chosen = ("--exact", *names) if names else ()
        return box_steps.spec(
            nonce,
            [
                BoxStep("build", (*argv, "--no-run"), _BUILD_SECONDS, needed=True),
                BoxStep("list", (*argv, "--", "--list", "--format=terse", *chosen), _TEST_SECONDS, merge=True),
                BoxStep("run", (*argv, "--no-fail-fast", "--", "--test-threads=1", *chosen), _TEST_SECONDS, merge=True),
            ],
            files={},
            binds=(*_linker(program), *shown),
            env={
                "CARGO_HOME": str(home) if shown else "@TMP@/cargo",
                "CARGO_TARGET_DIR": "@TMP@/target",
                "CARGO_NET_OFFLINE": "true",
                "RUST_BACKTRACE": "0",
            },
            limits=LIMITS,
        )

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """Reads the output of all harnesses, each under the source that cargo names before it."""
        steps = box_steps.outputs(events)
        found = box_steps.ended(events, steps)
        build, ran = steps.get("build"), steps.get("run")
        crate = _crate(plan) or _HERE
        root = str(PurePosixPath(plan.root) / _workspace(plan, crate))
        if build is not None and build.code is not None and not build.well and not found.absent:
            found.collection += build_errors(str(crate / _MANIFEST), build, plan, _ERROR, root)
        elif ran is not None:
            found.known = tuple(listed(steps["list"].out, _MANIFEST, crate))
            read(found, ran, plan, "", crate, root)
        return found


def _crate(plan: TestPlan) -> PurePosixPath | None:
    """The innermost folder with a manifest around the first test, relative to the working folder."""
    folders = PurePosixPath(plan.tests[0]).parents if plan.tests else (_HERE,)
    return next((each for each in folders if plan.text(str(each / _MANIFEST)) is not None), None)


def _workspace(plan: TestPlan, crate: PurePosixPath) -> PurePosixPath:
    """The folder of the workspace that a crate belongs to; its own if it belongs to none."""
    folders = (crate, *crate.parents)
    return next((each for each in folders if is_workspace(plan.text(str(each / _MANIFEST)) or "")), crate)


def is_workspace(manifest: str) -> bool:
    """True for a manifest that other crates may be members of."""
    return _WORKSPACE.search(manifest) is not None
