"""Judging tests that were just written: each alone, three times, and by what it notices.

`suite_split.py` takes a text of tests apart and together again, `mutant_trial.py` runs them against the code and its
mutants in one run of the sandbox (`inside.py` is the program there), `selection.py` leaves out tests that add nothing.
`engine/diagnosis` tells whose fault a failure is.
"""
