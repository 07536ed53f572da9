"""Talking to models: which one serves, asking it, reading what streams back, and giving up in time.

`pool.Models` is the door. A call goes pool -> client -> connection and stream; `faults` holds the rules of failing.
Everything here is about transport: no prompt is made and no reply is understood in this room.
"""
