"""Runs inside the sandbox: finds the edits of a function with which every check passes, each in its own fork.

Needs Python 3.8, for tests of a project also pytest, if that is installed, else unittest. The module and the tests are
loaded once; a fork puts the edited function's code in place of the old one, wherever a reference to it went, and runs
the checks. Reads one job (JSON, the path is its argument, see `search.py`) and writes one report to the descriptor
BOX_REPORT_FD.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import sys
import time
import types
from typing import Any, Callable, Iterable, Iterator  # noqa: UP035 - as Python 3.8 has them

# Both are next to this file in the sandbox.
from box_program import (  # type: ignore[import-not-found]
    Tracer,
    finish,
    received,
    send,
    serve,
    silence,
)
from inside_checks import examples, with_tests  # type: ignore[import-not-found]

del sys.modules["box_program"], sys.modules["inside_checks"]  # the tests may import their own modules of these names

LEAST, MOST = 0.05, 0.5
"""Seconds of the processor that an edited function gets, at least and at most."""
BRIEF = 0.2
"""Seconds of the processor for an example of the unchanged function; a test, which sets up more, gets MOST."""
WALL = 8.0
"""Times as many seconds of the clock: the machine may be busy."""
MEMORY = 512 << 20
FUTURE = 0x1FE0000
"""The flags of `from __future__ import`."""


def main() -> None:
    job, report = received()
    sys.stdin = open(os.devnull)
    silence()
    folder = os.getcwd()
    job["path"] = os.path.realpath(os.path.join(folder, job["path"]))
    sys.path[:0] = [os.path.normpath(os.path.join(folder, root)) for root in job["roots"]]
    result = {"problem": "the checks could not be loaded"}

    def searched(tests: list[Any]) -> None:
        result.clear()
        result.update(search(job, [*examples(job), *tests], report))

    try:
        if job["tests"]:
            with_tests(job, searched)
        else:
            searched([])
    except BaseException as error:
        result.setdefault("problem", f"the code could not be loaded ({type(error).__name__})")
    send(report, {**result, "nonce": job["nonce"]})
    os._exit(0)


def search(job: Any, checks: list[Callable[[], bool]], report: int) -> Any:
    """The edits with which all checks pass that can, among those whose lines run when a check fails."""
    began = time.monotonic()
    once = [attempt(job, report, [check], traced=True) for check in checks]
    # What does not end has not ended before either, when the failure was reproduced.
    again = [attempt(job, report, [check]) if result["done"] else result for check, result in zip(checks, once)]  # noqa: B905
    if any(one["passed"] != two["passed"] for one, two in zip(once, again)):  # noqa: B905
        return {"problem": "the failure varies from run to run"}
    failing = [n for n, result in enumerate(once) if not result["passed"]]
    if not failing:
        return {"problem": "the failure does not occur again"}
    lines = {line for n in failing for line in once[n]["lines"]}
    cut = any(not once[n]["done"] for n in failing)
    job["allowed"] = min(MOST, max(LEAST, 10 * sum(result["took"] for result in once if result["done"])))
    order = [checks[n] for n in failing], [check for n, check in enumerate(checks) if n not in failing]
    targets = EditTargets(job)
    wanted = [n for n, edit in enumerate(job["edits"])
              if cut or not lines or any(edit["first"] <= line <= edit["last"] for line in lines)]  # fmt: skip
    gc.freeze()  # forks copy less
    pool = ForkPool(job, report, targets, order)
    pool.run([(n,) for n in wanted])
    singles = pool.tried
    if not pool.good and pool.in_time:
        pool.run(pairs(job["edits"], wanted, pool.better))
    if not pool.good and pool.in_time:
        pool.run(likely_pairs(job["edits"], wanted))
    return {
        "checks": len(checks),
        "failing": failing,
        "good": pool.good,
        "tried": pool.tried,
        "singles": singles,
        "all": pool.in_time,
        "seconds": time.monotonic() - began,
    }


def pairs(edits: list[Any], wanted: list[int], better: dict[tuple[int, ...], int]) -> Iterator[tuple[int, ...]]:
    """Two edits at once: those that made more checks pass, the best of them first, each with every other edit."""
    for first in sorted(better, key=lambda each: -better[each]):
        for second in wanted:
            if together(edits, first[0], second):
                yield (first[0], second)


def likely_pairs(edits: list[Any], wanted: list[int]) -> Iterator[tuple[int, ...]]:
    """Two edits at once, the likeliest first: `edits` are in that order."""
    for both in range(1, 2 * len(wanted)):
        for first in range(max(0, both - len(wanted) + 1), (both + 1) // 2):
            if together(edits, wanted[first], wanted[both - first]):
                yield (wanted[first], wanted[both - first])


def together(edits: list[Any], first: int, second: int) -> bool:
    """Whether both change the same function in different places."""
    spans = [edits[n]["splices"] for n in (first, second)]
    disjoint = all(a[1] <= b[0] or b[1] <= a[0] for a in spans[0] for b in spans[1])
    return disjoint and edits[first]["function"] == edits[second]["function"]


class EditTargets:
    """The functions that edits change, as objects in memory; without any, the module is loaded again."""

    def __init__(self, job: Any) -> None:
        self.job = job
        self.data = job["text"].encode("utf-8", "surrogatepass")
        known = [each for each in gc.get_objects() if isinstance(each, types.FunctionType)]
        own = [each for each in known if os.path.realpath(each.__code__.co_filename) == job["path"]]
        self.live = [[each for each in own if each.__code__.co_firstlineno == row["line"]
                      and each.__code__.co_name == row["name"]] for row in job["functions"]]  # fmt: skip

    def place(self, numbers: tuple[int, ...]) -> None:
        """Puts edits in place. SyntaxError if they are no Python."""
        edits = [self.job["edits"][n] for n in numbers]
        row, live = self.job["functions"][edits[0]["function"]], self.live[edits[0]["function"]]
        splices = sorted((splice for edit in edits for splice in edit["splices"]), reverse=True)
        if not live:
            module = spliced(self.data, splices).decode("utf-8", "surrogatepass")
            compile(module, self.job["path"], "exec", dont_inherit=True)
            serve(self.job["path"], module)
            return
        start, end = row["start"], row["end"]
        text = spliced(self.data[start:end], [[a - start, b - start, new] for a, b, new in splices])
        whole = row["head"] + text.decode("utf-8", "surrogatepass")
        flags = live[0].__code__.co_flags & FUTURE
        code = named(compile(whole, live[0].__code__.co_filename, "exec", flags, True), row["path"])
        for each in live:
            each.__code__ = code
            for header in filter(None, (edit["header"] for edit in edits)):
                space = dict(each.__globals__)
                exec(header + " pass", space)
                each.__defaults__ = space[row["name"]].__defaults__
                each.__kwdefaults__ = space[row["name"]].__kwdefaults__


def spliced(data: bytes, splices: list[Any]) -> bytes:
    for start, end, new in splices:
        data = data[:start] + new.encode("utf-8", "surrogatepass") + data[end:]
    return data


def named(code: Any, path: list[str]) -> Any:
    """The code of a function by the names of what holds it, and its own."""
    for name in path:
        code = [each for each in code.co_consts if isinstance(each, types.CodeType) and each.co_name == name][-1]
    return code


def attempt(job: Any, report: int, checks: list[Any], traced: bool = False) -> Any:
    """One run of checks on the unchanged code: whether all passed, whether it finished, its seconds, its lines."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        tracer = Tracer(job["path"])
        try:
            os.close(report)
            bounded(MOST if job["tests"] else BRIEF)
            began = time.process_time()
            if traced:
                sys.settrace(tracer.call)
            passed = sum(check() for check in checks) == len(checks)
            sys.settrace(None)
            took = time.process_time() - began
            result = {"passed": passed, "done": True, "took": took, "lines": sorted(tracer.lines)}
            os.write(writer, json.dumps(result).encode())
        finally:
            os._exit(0)
    os.close(writer)
    data, chunk, latest = b"", b"-", time.monotonic() + WALL * MOST
    while chunk and select.select([reader], [], [], max(0.0, latest - time.monotonic()))[0]:
        chunk = os.read(reader, 1 << 16)
        data += chunk
    finish(child, reader)
    try:
        return json.loads(data)
    except ValueError:
        return {"passed": False, "done": False, "took": 0.0, "lines": []}


def bounded(seconds: float) -> None:
    """Limits this process: the kernel ends it after some seconds of the processor, whatever it catches."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    except (OSError, ValueError):
        pass  # the sandbox limits it too


def children() -> float:
    """The seconds of the processor that ended children took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class ForkPool:
    """Tries edits in forks, as many at once as there are cores. `order` are the checks that fail, and the others."""

    def __init__(self, job: Any, report: int, targets: EditTargets, order: Any) -> None:
        self.job, self.report, self.targets, self.order = job, report, targets, order
        self.slots = min(os.cpu_count() or 1, job["slots"])
        self.spent, self.began = children(), time.monotonic()
        self.good: list[tuple[int, ...]] = []
        self.better: dict[tuple[int, ...], int] = {}
        self.tried = 0

    @property
    def in_time(self) -> bool:
        """The time is the processor's: on a busy machine as much is tried, in up to three times as long."""
        spent, took = (children() - self.spent) / self.slots, time.monotonic() - self.began
        return bool(spent < self.job["seconds"] and took < 3 * self.job["seconds"])

    def run(self, queue: Iterable[tuple[int, ...]]) -> None:
        """Tries each until the time is over, or enough are good."""
        running: dict[int, Any] = {}
        left = iter(queue)
        over = False
        while True:
            while not over and len(running) < self.slots:
                each = next(left, None)
                over = each is None or not self.in_time or len(self.good) >= self.job["most"]
                if each is not None and not over:
                    reader, child = self.start(each)
                    running[reader] = each, child, time.monotonic() + WALL * self.job["allowed"]
            if not running:
                return
            ready = select.select(list(running), [], [], 0.05)[0]
            now = time.monotonic()
            for reader in [each for each in running if each in ready or running[each][2] < now]:
                each, child, _ = running.pop(reader)
                mark = os.read(reader, 8) if reader in ready else b""
                finish(child, reader)
                self.count(each, mark)

    def start(self, each: tuple[int, ...]) -> Any:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(self.report)
                os.close(reader)
                bounded(self.job["allowed"])
                self.targets.place(each)
                passed = sum([check() for check in self.order[0]])
                fine = passed == len(self.order[0]) and all(check() for check in self.order[1])
                os.write(writer, bytes([min(passed, 254), fine]))
            finally:
                os._exit(0)
        os.close(writer)
        return reader, child

    def count(self, each: tuple[int, ...], mark: bytes) -> None:
        self.tried += 1
        if len(mark) == 2 and mark[1]:
            self.good.append(each)
        elif len(mark) == 2 and mark[0]:
            self.better[each] = mark[0]


if __name__ == "__main__":
    main()
