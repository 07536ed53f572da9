"""The inputs of a comparison of Python: from tests, examples, hints, names and the texts of both versions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.repeated_calls import with_repeats
from stet_ls.engine.execution.inputs.secret_calls import secret_calls_marked
from stet_ls.engine.execution.python.inputs.calls import calls_for, new_literals
from stet_ls.engine.execution.python.inputs.captured_calls import CapturedInputs, captured_inputs
from stet_ls.engine.execution.python.inputs.documented.contract import within_contract
from stet_ls.engine.execution.python.inputs.dunder_calls import with_protocol
from stet_ls.engine.execution.python.inputs.edge_cases import with_edge_cases
from stet_ls.engine.execution.python.inputs.examples import test_texts
from stet_ls.engine.execution.python.inputs.generators import with_first_values, with_iterators
from stet_ls.engine.execution.python.inputs.module_state import with_neighbor_calls
from stet_ls.engine.execution.python.inputs.private_names import comparable_unit
from stet_ls.engine.execution.python.inputs.values.databases import with_databases
from stet_ls.engine.execution.python.inputs.values.files import with_files
from stet_ls.engine.execution.python.inputs.values.sizes import with_sizes
from stet_ls.engine.execution.python.inputs.values.twins import with_equal_lists
from stet_ls.engine.execution.python.module_location import ModuleLocation, place_of
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case

_AGAIN = "earlier = {0}\nif hasattr(earlier, 'clear'): earlier.clear()\n"


@dataclass(frozen=True, slots=True)
class Inputs:
    """Where the texts of a comparison are loaded, the calls, and what the project's tests called."""

    place: ModuleLocation
    calls: tuple[Call, ...]
    of_tests: CapturedInputs


def comparable(case: Case, runtime: Runtime, unit: str) -> str:
    """The unit, or the class that it has to be compared with: a method whose private attributes have other names."""
    tests = test_texts(case.path, runtime.root_of(case.path))
    return comparable_unit((case.before.text, case.after.text), unit, tests)


def prepare(case: Case, runtime: Runtime, unit: str) -> Inputs:
    """The first inputs of a unit, the likeliest first. Takes tenths of a second: not for the event loop."""
    texts = before, after = case.before.text, case.after.text
    new = new_literals(before, after, unit)
    known = runtime.captured.get((case.path, before)) if case.path is not None else None
    of_tests = captured_inputs(known, before, after, unit) if known is not None else CapturedInputs()
    place = place_of(case.path, texts, runtime, in_project=bool(of_tests.data.files))
    if place.overlay is not None:
        root = place.overlay.root
        former = {path.relative_to(root).as_posix(): text for path, text in case.former.items()}
        place = replace(place, former=former)
    tests = test_texts(case.path, runtime.root_of(case.path))
    tests = (of_tests.written, *tests) if of_tests.written else tests
    calls = with_edge_cases(calls_for(before, unit, tests, new), before, unit, new, tests)
    calls = with_databases(completed(calls, texts, unit), texts, unit)
    known_inputs = {(each.setup, each.body) for each in of_tests.calls}
    calls = (*of_tests.calls, *(each for each in calls if (each.setup, each.body) not in known_inputs))
    calls = with_first_values(with_repeats(secret_calls_marked(calls), _AGAIN), before, unit)
    return Inputs(place, with_neighbor_calls(with_iterators(calls, before, unit), before, unit), of_tests)


def completed(calls: tuple[Call, ...], texts: tuple[str, str], unit: str) -> tuple[Call, ...]:
    """The calls with sizes, ties, uses of objects and files, as far as the documentation allows them."""
    calls = within_contract(with_equal_lists(with_sizes(calls, texts, unit), texts, unit), texts[0], unit)
    return with_files(with_protocol(calls, texts[0], unit), texts[0], unit)
