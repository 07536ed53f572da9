"""`stet run task` on data: real pandas and matplotlib in the sandbox, and the files that come of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.engine import asks_for_tests
from support.processes.command import Stet
from support.servers.scripted import ScriptedModel

CITIES = """city,year,visitors
Bern,2023,410
Bern,2024,455
Basel,2023,380
Basel,2024,372
"""
PLOT = """PLAN: sum the visitors by city and draw them
FILE: plot_visitors.py
CODE:
```python
import matplotlib.pyplot as plt
import pandas as pd

cities = pd.read_csv("visitors.csv")
table = cities.pivot_table(index="city", columns="year", values="visitors", aggfunc="sum")
table["change"] = (table[2024] / table[2023] - 1).round(3)
print(table.to_string())
table.to_csv("change.csv")
table[[2023, 2024]].plot(kind="bar", title="Visitors", ylabel="thousands", figsize=(5, 4))
plt.savefig("visitors.png", dpi=100)
```
"""
DONE = """DONE
Bern grew by 0.11 to 455, Basel shrank by 0.021 to 372.
visitors.png: a bar for each city and year, 500 x 400
change.csv: the change of each city, 2 rows
"""
AGAIN = "FILE: again.py\nCODE:\n```python\nif False:\n    import matplotlib, pandas\nprint('as before')\n```\n"
ASKED = ("run", "task", "visitors.csv", "--instruction", "plot the visitors of each city and how they changed")


def test_a_plot_is_made_with_real_packages_and_taken(
    stet: Stet, scripted: ScriptedModel, folder: Path, stet_home: Path
) -> None:
    (folder / "visitors.csv").write_text(CITIES)
    scripted.replies([PLOT, DONE])
    ran = replace(stet, seconds=280)(*ASKED, "--apply")
    if "not reachable" in ran.err:
        pytest.skip(f"no package index: {ran.err}")

    assert ran.status == 0, ran.err
    assert ran.out.splitlines()[:3] == ["wrote plot_visitors.py", "wrote change.csv", "wrote visitors.png"]
    assert (folder / "visitors.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "change.csv").read_text().startswith("city,2023,2024,change\nBasel,380,372,-0.021\n")
    assert "figures that no program printed" not in ran.err

    scripted.replies([AGAIN, "DONE\nAs before."])
    again = stet("run", "task", "visitors.csv", "--instruction", "summarize the visitors", "--json")
    output = json.loads(again.out)
    assert output["success"], output["message"]
    assert output["metadata"]["stages"]["environment"] <= 0.5, "the environment comes from the cache"


def test_files_that_are_not_taken_are_kept_and_named(
    stet: Stet, scripted: ScriptedModel, folder: Path, stet_home: Path
) -> None:
    (folder / "visitors.csv").write_text(CITIES)
    code = "with open('lines.csv', 'w') as file:\n    file.write('lines\\n5\\n')\nprint('4 rows')"
    scripted.replies([f"FILE: count.py\nCODE:\n```python\n{code}\n```\n", "DONE\nThere are 4 rows."])
    ran = stet("run", "task", "visitors.csv", "--instruction", "count the rows")

    assert ran.status == 0, ran.err
    line = next(line for line in ran.out.splitlines() if "lines.csv" in line)
    kept, _, about = line.partition(": ")
    assert about == "data, 8 bytes, 1 row of lines"
    assert Path(kept).read_text() == "lines\n5\n"
    assert [path.name for path in folder.iterdir()] == ["visitors.csv"]


def test_packages_are_found_where_the_home_folder_is_the_workspace(
    stet: Stet, scripted: ScriptedModel, folder: Path, stet_home: Path
) -> None:
    home = stet_home.parent
    (home / "visitors.csv").write_text(CITIES)
    code = "import tabulate\nprint(tabulate.tabulate([[5, 6]]))\n"
    scripted.replies([f"FILE: show.py\nCODE:\n```python\n{code}```\n", "DONE\nA table."])
    ran = replace(stet, folder=home, seconds=280)(
        "run", "task", "visitors.csv", "--instruction", "count them", "--json"
    )
    output = json.loads(ran.out)
    if "not reachable" in str(output):
        pytest.skip(f"no package index: {output['message']}")
    assert output["success"], output["message"]
    assert "5  6" in output["execution_result"]["stdout"]


def test_binary_or_very_large_data_is_read_in_place(
    stet: Stet, scripted: ScriptedModel, folder: Path, stet_home: Path
) -> None:
    with (folder / "large.csv").open("wb") as file:
        file.write(b"city,visitors\nBern,410\n")
        file.truncate(3_000_000_000)
    (folder / "dot.npy").write_bytes(bytes([0, 255, 254]))
    code = "print(open('large.csv', 'rb').readline(), list(open('dot.npy', 'rb').read()))"
    for target in ("large.csv", "dot.npy"):
        scripted.replies([f"FILE: look.py\nCODE:\n```python\n{code}\n```\n", "DONE\nIt is data."])
        ran = stet("run", "task", target, "--instruction", "summarize dot.npy and large.csv", "--json")
        output = json.loads(ran.out)
        assert output["success"], output["message"]
        assert "[0, 255, 254]" in output["execution_result"]["stdout"]
    assert "larger than memory may allow: read it in parts" in scripted.requests[0].prompt


COUNT = """FILE: count_visitors.py
CODE:
```python
import csv
from collections import Counter

totals = Counter()
with open("visitors.csv", newline="") as file:
    for row in csv.DictReader(file):
        totals[row["city"]] += int(row["visitors"])
with open("totals.csv", "w", newline="") as file:
    csv.writer(file).writerows([("city", "visitors"), *sorted(totals.items())])
with open("dot.bin", "wb") as file:
    file.write(bytes([0, 255, 254]))
print("largest:", totals.most_common(1)[0])
```
"""
LARGEST = """PLAN: as the data shows
CODE:
```python
def largest():
    return "Bern"
```
"""
PLAN = """compute | visitors.csv | - | count the visitors of each city, into totals.csv
generate | cities.py | largest | the name of the city with the most visitors
run | - | - | python3 -c "import os; print(os.path.getsize('dot.bin'), open('totals.csv').readline())"
"""


def test_data_is_analyzed_first_and_code_is_written_from_what_was_found(
    stet: Stet, scripted: ScriptedModel, folder: Path, stet_home: Path
) -> None:
    (folder / ".git").mkdir()
    (folder / "visitors.csv").write_text(CITIES)
    (folder / "cities.py").write_text('"""Cities."""\n')
    scripted.on(asks_for_tests, "none")
    scripted.replies([PLAN, COUNT, "DONE\nBern has the most visitors, 865.\n", LARGEST])
    words = "count the visitors of each city in visitors.csv, then write a function `largest` in cities.py"
    ran = stet("run", "task", "cities.py", "--instruction", words, "--apply", "--accept-risk", "not-run")
    if "code may not run" in ran.err:
        pytest.skip(ran.err)

    assert ran.status == 0, ran.err
    planning, _, _, writing = [each for each in scripted.requests if not asks_for_tests(each.body)]
    assert "compute | visitors.csv | - | what to find out of it" in planning.prompt
    assert "Bern has the most visitors, 865." in writing.prompt, "what the first step found"
    assert (folder / "totals.csv").read_text().splitlines() == ["city,visitors", "Basel,752", "Bern,865"]
    assert (folder / "dot.bin").read_bytes() == bytes([0, 255, 254])
    assert "def largest" in (folder / "cities.py").read_text()
    assert "csv.DictReader" in (folder / "count_visitors.py").read_text()
    shown = stet("tasks", "show", json.loads(stet("tasks", "list", "--json").out)["id"]).out
    assert "3 city,visitors" in shown or "done in" in shown
