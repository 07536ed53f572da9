"""Talking to models: which one serves, asking it, reading what streams back, and giving up in time.

`pool.ModelPool` is the entry point. A call goes pool -> failover -> `endpoint/`, whose `faults` holds the rules of
failing. Everything here is about transport: no prompt is made and no reply is understood in this room.
"""
