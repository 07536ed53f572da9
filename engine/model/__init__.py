"""Model calls: choosing the model, asking it, reading its stream, and timeouts.

`pool.ModelPool` is the entry point. A call goes pool -> failover -> `endpoint/`, whose `faults` holds the rules of
failing. This package is about transport: it makes no prompt and parses no reply.
"""
