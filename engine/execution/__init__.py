"""Running a text's functions on given calls, in the box and in the user's own interpreter.

`inside/` is what goes into the box, as one text: it needs Python 3.8 and nothing else, reads one job and writes one
report. `trial.py` says what goes in and what comes out, `run.py` is the only door through which a judge runs code. What
the code does is decided nowhere here: the judges compare.
"""
