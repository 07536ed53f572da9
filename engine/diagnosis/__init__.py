"""Finds out why tests failed: the environment, the code, or the tests; by a table of rules, without a model.

    report ──> symptoms ──> the first rule that fits ──> Diagnosis: class, sentence, what the next candidate must show

The rules use only what a runner reported (exception, frames, the sides of an assertion), never a guess about what a
test meant. Only a mismatch stays undetermined: models write the tests.

No model is asked for the cause there. The repair is requested anyway, with the failing test in the prompt, and its
answer decides: unchanged code means that the test is wrong, changed code is run. A separate question for the cause
would cost one call of the six in each such case, and nothing could check the answer: a quote of the specification
shows where the model looked, a run shows what its code does.
"""
