"""Why tests failed: the environment, the code, or the tests; told by a table of rules, without a model.

    report ──> symptoms ──> the first rule that fits ──> Diagnosis: class, sentence, what the next candidate must show

The rules rest on what a runner reported (exception, frames, the sides of an assertion), never on a guess about what
a test meant. Only a mismatch in a test that nobody vouches for, without any oracle, stays undetermined.
"""
