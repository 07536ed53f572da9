"""The loop of generate, test and fix, at the budgets `thorough` and `task`: a second opinion that can be run.

    plan ──> tests from the specification ──> run ──> diagnosis ──> one repair ──> the best candidate, with evidence
             (their writer never sees the code)        environment, logic or test error

Tests that a model wrote vouch for nothing: what fails in one leads to one repair and one reclassification at most, and
what passes is untrusted evidence. What the user's own tests say is settled before the loop begins; examples
alone settle nothing, but no repair may break them.
"""
