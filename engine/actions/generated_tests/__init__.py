"""Judges new tests: each test alone, three times, and by the mutants it detects.

`suite_split.py` splits a text of tests and rejoins it, `mutant_trial.py` runs them against the code and its
mutants in one run of the sandbox (`inside.py` is the program there).
`engine/diagnosis` finds the cause of a failure.
"""
