"""The record that each job leaves: what was asked, what models said, what judges found, and what it came to.

`recorder` listens while a job runs, `serializer` makes a record of it without its secrets, `record_store` keeps the
last ones, and `playback` gives the recorded replies to another run of the engine. It knows no action and no judge.
"""
