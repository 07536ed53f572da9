"""The output formats of `stet verify`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.errors import PolicyError
from stet_ls.engine.verify.render import fitted_line, lines, summary
from stet_ls.engine.verify.report import Conclusion, Report, UnitReport, VerifyFinding
from stet_ls.server.cli.terminal.machine_output import (
    command_data,
    print_json,
    print_sarif,
    property_value,
    sarif_result,
)
from stet_ls.validators.invisible_chars import escape_invisible

if TYPE_CHECKING:  # a kept conclusion takes less time than importing what one format needs
    from xml.etree import ElementTree

MOST_ANNOTATIONS = 10
"""GitHub shows ten errors and ten warnings of a step (actions/toolkit#734)."""
MOST_RESULTS = 5_000
"""Results of a SARIF run that GitHub reads."""


def text(report: Report) -> None:
    """Prints a line for each finding, then the conclusion."""
    for line in lines(report):
        print(line)


def as_json(report: Report) -> None:
    """Prints one object, `stet.verify/1`."""
    print_json(report.to_json())


def github(report: Report) -> None:
    """Prints workflow commands for the worst findings, and the conclusion as a plain line."""
    for refutes, word in ((True, "error"), (False, "warning")):
        for each in [one for one in report.findings if one.refutes is refutes][:MOST_ANNOTATIONS]:
            path, line = report.edited_place(each)
            where = "" if path == each.path else f"{each.path}: "
            properties = {"title": f"stet {each.check}: {each.unit}", "file": path, "line": line}
            listed = ",".join(f"{key}={property_value(str(value))}" for key, value in properties.items())
            print(escape_invisible(f"::{word} {listed}::{command_data(where + each.detail)}"))
    print(fitted_line(summary(report)))


def sarif(report: Report) -> None:
    """Prints SARIF 2.1.0. Fingerprints are those of the findings, so that a repeated run adds none."""
    print_sarif("stet verify", [result(each, report) for each in report.findings[:MOST_RESULTS]])


def result(finding: VerifyFinding, report: Report) -> dict[str, Any]:
    """A result at an added or edited line: code scanning hides results of a pull request at any other."""
    from urllib.parse import quote

    path, line = report.edited_place(finding)
    where = "" if path == finding.path else f"{finding.path}: "
    words = escape_invisible(f"{where}{finding.unit}: {finding.detail}")
    level, uri = "error" if finding.refutes else "warning", quote(os.fsencode(path))
    return sarif_result(finding.check, level, words, uri, {"startLine": line}, finding.fingerprint)


def junit(report: Report) -> None:
    """Prints JUnit XML: a case for each unit and check. What did not run is skipped, so that it is not counted."""
    from xml.etree import ElementTree

    suite = ElementTree.Element("testsuite", name="stet verify", time=f"{report.seconds:.3f}")
    for unit in report.units:
        _cases(suite, unit)
    for test in report.tests:
        case = ElementTree.SubElement(suite, "testcase", classname="tests", name=_safe(test.id))
        if test.refutes:
            ElementTree.SubElement(case, "failure", message=_safe(test.detail))
    cases = list(suite)
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    print('<?xml version="1.0" encoding="utf-8"?>')
    print(ElementTree.tostring(suite, encoding="unicode"))


def _cases(suite: ElementTree.Element, unit: UnitReport) -> None:
    from xml.etree import ElementTree

    for check in unit.checks:
        name = f"{check.check}: {unit.unit.label}"
        case = ElementTree.SubElement(
            suite, "testcase", classname=_safe(unit.unit.path), name=_safe(name), time=f"{check.seconds:.3f}"
        )
        if check.refutes:
            ElementTree.SubElement(case, "failure", message=_safe(check.detail))
        elif check.status is not Ruling.PASS:
            ElementTree.SubElement(case, "skipped", message=_safe(check.detail))
    case = ElementTree.SubElement(suite, "testcase", classname=_safe(unit.unit.path), name=_safe(unit.unit.label))
    if unit.conclusion is Conclusion.REFUTED:
        ElementTree.SubElement(case, "failure", message="refuted")
    elif unit.conclusion is Conclusion.UNPROVEN:
        ElementTree.SubElement(case, "skipped", message=_safe(f"unproven: {unit.why}"))


def _safe(value: str) -> str:
    """A text that XML can hold."""
    return "".join(each for each in escape_invisible(value) if each.isprintable())


FORMATS: Mapping[str, Callable[[Report], None]] = {
    "text": text, "json": as_json, "github": github, "sarif": sarif, "junit": junit,
}  # fmt: skip
"""By the name that `--format` takes."""


def exit_status(report: Report, fail_on: str) -> int:
    """The exit status for a conclusion."""
    if report.refused and report.conclusion is not Conclusion.REFUTED:
        return PolicyError.exit_code
    failing = (Conclusion.REFUTED, Conclusion.UNPROVEN) if fail_on == "unproven" else (Conclusion.REFUTED,)
    return int(report.conclusion in failing)
