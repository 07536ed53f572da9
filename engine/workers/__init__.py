"""Supervised child processes: started at first use, kept while they are leased, never orphaned.

A child lives by leases. A lease is an open, authenticated connection to the child's control port on loopback; the
kernel closes it however its holder ends, `kill -9` included. The child exits after the last lease ends, or when it
was idle for too long. All of a user's processes find the child through a file that only they can read.

`host` is the child's side, `worker` the client's side. This package does not depend on the work of a child.
"""
