"""Judging tests that were just written: each alone, three times, and by what it notices.

`split.py` takes a text of tests apart and together again, `trial.py` runs them against the code and against its mutants
in one run of the box (`inside.py` is what goes in), `choose.py` leaves out those that add nothing. Whose fault a
failure is, is said above: `engine/diagnosis` stands on the judges.
"""
