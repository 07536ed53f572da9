"""The record of each job: its request, the models' replies, the judges' findings, and the result.

`recorder` records while a job runs, `serializer` makes a record of that without its secrets, `record_store` keeps the
last ones, and `playback` gives the recorded replies to another run of the engine. The package does not know actions or
judges.
"""
