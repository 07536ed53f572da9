"""A reviewer reads code with the judges' evidence and the tools' measures; its findings are tried, and drive repairs.

It is the reviewer's model if one is configured, else the generator's with another prompt. Nothing it says counts by
itself: a finding needs a line of the code as its quote, a call that it claims to fail is run, and a refinement that
a judge likes less than what it refines is dropped.
"""
