"""Reports of every kind, made by the tools themselves where they are here; old, foreign and hostile ones."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from stet_ls.validators.metrics import coverage
from stet_ls.validators.metrics.coverage import Coverage, find_coverage
from stet_ls.validators.source import Source

TEXT = "def f(a):\n    if a:\n        return 1\n    return 2\n"
LATER = 4_000_000_000
"""A time to come: a report of then is younger than any file."""


def project(folder: Path, name: str, report: str | bytes, *, source: str = "pkg/a.py", text: str = TEXT) -> Path:
    """A source file and a report about it, the report being the younger one."""
    file, place = folder / source, folder / name
    for path in (file, place):
        path.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    place.write_bytes(report if isinstance(report, bytes) else report.encode())
    os.utime(place, (LATER, LATER))
    return file


def found(file: Path, root: Path, **limits: float) -> Coverage | str:
    folders = [folder for folder in file.parents if folder.is_relative_to(root)]
    return find_coverage(Source(file.read_text("utf-8")), file, folders, **limits)


def covered(file: Path, root: Path) -> Coverage:
    result = found(file, root)
    assert isinstance(result, Coverage), result
    return result


COBERTURA = """\
<?xml version="1.0" ?>
<!DOCTYPE coverage SYSTEM 'http://cobertura.sourceforge.net/xml/coverage-04.dtd'>
<coverage><sources><source>{root}</source></sources><packages><package name="pkg"><classes>
<class name="b.py" filename="pkg/b.py"><methods/><lines><line number="1" hits="0"/></lines></class>
<class name="a.py" filename="pkg/a.py"><methods/><lines>
<line number="1" hits="1"/><line number="2" hits="3"/><line number="3" hits="0"/><line number="4" hits="1"/>
</lines></class></classes></package></packages></coverage>
"""
JACOCO = """\
<?xml version="1.0"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">
<report name="x"><package name="com/foo"><sourcefile name="A.java">
<line nr="1" mi="0" ci="2" mb="0" cb="0"/><line nr="2" mi="0" ci="1" mb="0" cb="0"/>
<line nr="3" mi="2" ci="0" mb="0" cb="0"/><line nr="4" mi="0" ci="1" mb="0" cb="0"/>
</sourcefile></package></report>
"""
CLOVER = """\
<coverage><project><file name="a.php" path="{root}/pkg/a.php"><line num="1" type="stmt" count="1"/>
<line num="2" type="stmt" count="1"/><line num="3" type="stmt" count="0"/><line num="4" type="stmt" count="2"/>
</file></project></coverage>
"""
LCOV = "TN:\nSF:pkg/a.py\nDA:1,1\nDA:2,1\nDA:3,0\nend_of_record\nSF:pkg/a.py\nDA:3,0\nDA:4,2\nend_of_record\n"
GO = (
    "mode: set\nexample.com/m/pkg/b.go:1.1,2.2 1 1\nexample.com/m/pkg/a.go:1.10,2.8 2 1\n"
    "example.com/m/pkg/a.go:3.3,3.10 1 0\nexample.com/m/pkg/a.go:4.2,4.9 1 1\n"
)
ISTANBUL = json.dumps({
    "/other/a.js": {"statementMap": {"0": {"start": {"line": 1}, "end": {"line": 1}}}, "s": {"0": 0}},
    "{root}/pkg/a.js": {
        "statementMap": {str(n): {"start": {"line": n}, "end": {"line": n}} for n in (1, 2, 3, 4)},
        "s": {"1": 1, "2": 1, "3": 0, "4": 5},
    },
})  # fmt: skip
COVERAGE_PY = json.dumps({"files": {"pkg/b.py": {"executed_lines": [], "missing_lines": [1]},
                                    "pkg/a.py": {"executed_lines": [1, 2, 4], "missing_lines": [3]}}})  # fmt: skip


@pytest.mark.parametrize(
    ("name", "report", "source"),
    [
        ("coverage.json", COVERAGE_PY, "pkg/a.py"),
        ("coverage.xml", COBERTURA, "pkg/a.py"),
        ("target/site/jacoco/jacoco.xml", JACOCO, "src/main/java/com/foo/A.java"),
        ("coverage/clover.xml", CLOVER, "pkg/a.php"),
        ("lcov.info", LCOV, "pkg/a.py"),
        ("cover.out", GO, "pkg/a.go"),
        ("coverage/coverage-final.json", ISTANBUL, "pkg/a.js"),
    ],
)
def test_every_form_tells_the_same(tmp_path: Path, name: str, report: str, source: str) -> None:
    file = project(tmp_path, name, report.replace("{root}", str(tmp_path)), source=source)
    result = covered(file, tmp_path)
    assert result.source == name.rsplit("/", 1)[-1]
    assert result.stale == ""
    assert result.count(range(0, 4)) == (3, 4)
    assert result.count(range(2, 3)) == (0, 1)
    assert result.missed(range(0, 4)) == (range(2, 3),)


def test_the_report_of_go_itself(tmp_path: Path) -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is not installed")
    (tmp_path / "go.mod").write_text("module example.com/m\n\ngo 1.18\n")
    (tmp_path / "pkg").mkdir()
    file = tmp_path / "pkg" / "a.go"
    file.write_text("package pkg\n\nfunc F(a int) int {\n\tif a > 0 {\n\t\treturn 1\n\t}\n\treturn 2\n}\n")
    test = 'package pkg\n\nimport "testing"\n\nfunc TestF(t *testing.T) {\n\tF(1)\n}\n'
    (tmp_path / "pkg" / "a_test.go").write_text(test)
    environment = {**os.environ, "GOCACHE": str(tmp_path / "cache"), "GOFLAGS": "-mod=mod", "GO111MODULE": "on"}
    subprocess.run(
        [go, "test", "-coverprofile=cover.out", "./..."], cwd=tmp_path, check=True, capture_output=True, env=environment
    )
    output = subprocess.run(
        [go, "tool", "cover", "-func=cover.out"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    hit, total = covered(file, tmp_path).count(range(0, 8))
    assert f"{100 * hit / total:.1f}%" in output.splitlines()[-1]


def test_the_nearest_report_that_names_the_file_wins(tmp_path: Path) -> None:
    file = project(tmp_path, "coverage.json", COVERAGE_PY)
    (tmp_path / "pkg" / "lcov.info").write_text("SF:b.py\nDA:1,1\nend_of_record\n")
    assert covered(file, tmp_path).source == "coverage.json"
    (tmp_path / "pkg" / "lcov.info").write_text("SF:a.py\nDA:1,1\nend_of_record\n")
    assert covered(file, tmp_path).source == "lcov.info"


def test_a_file_of_the_same_name_elsewhere_is_another_file(tmp_path: Path) -> None:
    file = project(tmp_path, "lcov.info", "SF:other/a.py\nDA:1,1\nend_of_record\n")
    assert found(file, tmp_path) == "Coverage: lcov.info does not name this file."
    (tmp_path / "lcov.info").unlink()
    report = COBERTURA.replace("{root}", str(tmp_path / "one")).replace("pkg/a.py", "x/a.py")
    file = project(tmp_path, "coverage.xml", report, source="two/x/a.py")
    (tmp_path / "one" / "x").mkdir(parents=True)
    (tmp_path / "one" / "x" / "a.py").write_text(TEXT)
    assert found(file, tmp_path) == "Coverage: coverage.xml does not name this file."


def test_an_old_report_is_reported_as_stale(tmp_path: Path) -> None:
    file = project(tmp_path, "coverage.json", COVERAGE_PY)
    os.utime(tmp_path / "coverage.json", (1000, 1000))
    assert covered(file, tmp_path).stale == "the file was changed after the tests ran"


def test_unsaved_changes_make_it_stale(tmp_path: Path) -> None:
    file = project(tmp_path, "coverage.json", COVERAGE_PY)
    result = find_coverage(Source(TEXT + "x = 1\n"), file, [file.parent, tmp_path])
    assert isinstance(result, Coverage)
    assert result.stale == "the text has changes that are not saved"


def test_lines_that_are_not_there_make_it_stale(tmp_path: Path) -> None:
    file = project(tmp_path, "lcov.info", "SF:pkg/a.py\nDA:99,1\nend_of_record\n")
    assert covered(file, tmp_path).stale == "it lists lines that do not exist"


def test_without_a_report_the_command_for_one_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(TEXT)
    assert found(file, tmp_path) == "Coverage: no report in the workspace."
    (tmp_path / ".coverage").write_bytes(b"SQLite format 3\0")
    assert "`coverage json`" in str(found(file, tmp_path))


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE c [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "]><coverage><sources><source>&i;</source></sources>"
    + '<class filename="pkg/a.py"><line number="1" hits="1"/></class></coverage>'
)
EXTERNAL = (
    '<!DOCTYPE c [<!ENTITY a SYSTEM "file:///etc/passwd">]><coverage><class filename="pkg/a.py">'
    '<line number="1" hits="1"/>&a;</class></coverage>'
)


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("coverage.xml", BOMB),
        ("coverage.xml", EXTERNAL),
        ("coverage.xml", "<a>" * 200_000),
        ("coverage.xml", b"\0\xff\xfe" * 1000),
        ("coverage.xml", '<coverage><class filename="pkg/a.py"><line number="9999999999999" hits="x"/>'),
        ("coverage.json", '{"files": {"pkg/a.py": ' + '{"a":' * 100_000),
        ("coverage.json", '{"files": {"pkg/a.py": {"executed_lines": "no", "missing_lines": {}}}}'),
        ("coverage.json", '{"pkg/a.py"' * 50_000),
        ("coverage.json", b"\xff" * 1000),
        ("coverage/coverage-final.json", '{"pkg/a.py": {"statementMap": {"0": [], "1": {}}, "s": {"0": "x"}}}'),
        ("cover.out", "mode: set\n" + "a.py:" * 100_000),
        ("cover.out", "no profile"),
        ("lcov.info", "SF:" * 100_000),
    ],
)
def test_hostile_reports_cost_little_and_say_nothing(tmp_path: Path, name: str, report: str | bytes) -> None:
    file = project(tmp_path, name, report)
    started = time.process_time()
    result = found(file, tmp_path)
    assert time.process_time() - started < 10
    assert isinstance(result, str) or result.count(range(0, 4)) == (0, 0)


def test_pipes_links_to_devices_and_giants_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(TEXT)
    os.mkfifo(tmp_path / "coverage.json")
    (tmp_path / "coverage.xml").symlink_to("/dev/zero")
    with (tmp_path / "lcov.info").open("wb") as giant:
        giant.truncate(coverage.LARGEST + 1)
    said = str(found(file, tmp_path))
    assert said.count("not a regular file") == 2
    assert "larger than" in said


def test_the_deadline_holds_for_a_large_report(tmp_path: Path) -> None:
    rows = '<line number="1" hits="1"/>' * 400_000
    file = project(tmp_path, "coverage.xml", f'<coverage><class filename="pkg/a.py">{rows}</class></coverage>')
    started = time.process_time()
    assert found(file, tmp_path, deadline=0.01) is not None
    assert time.process_time() - started < 5
