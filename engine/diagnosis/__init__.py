"""Why tests failed: the environment, the code, or the tests; by a table of rules, without a model.

    report ──> symptoms ──> the first rule that fits ──> Diagnosis: class, sentence, what the next candidate must show

The rules rest on what a runner reported (exception, frames, the sides of an assertion), never on a guess about what
a test meant. Only a mismatch in a test that nobody vouches for stays undetermined.

No model is asked for a label there. The repair is asked for anyway, with the failing test before the model's eyes, and
its answer is the label: code that stays as it is says that the test is wrong, code that changes is run. A label asked
for before would cost one call of the six in each such case, and nothing could check it: a quote of the specification
shows where the model looked, a run shows what its code does.
"""
