"""The record that each job leaves: what was asked, what models said, what judges found, and what it came to.

`tape` listens while a job runs, `writing` makes a record of it in which no secret is, `store` keeps the last ones, and
`playback` gives the recorded replies to another run of the engine. It knows no action and no judge.
"""
