"""The loop of generate, test and fix, at the budgets `thorough` and `task`: a check by tests that the model writes.

    plan ──> tests from the specification ──> run ──> diagnosis ──> one repair ──> the best candidate, with evidence
             (their writer never sees the code)        environment, logic or test error

Tests that a model wrote prove nothing: a failure leads to at most one repair, and if it survives that, to one question
to the other side: to those who wrote the tests about code that was repaired, to the code about rewritten tests.
A pass is untrusted evidence. The user's own tests decide before the loop begins; examples alone do not decide,
but no repair may break them.
"""
