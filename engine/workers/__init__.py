"""Supervised child processes: started at first use, kept as long as somebody needs them, never orphaned.

A child lives by leases. A lease is an open, authenticated connection to the child's control port on loopback; the
kernel closes it however its holder ends, `kill -9` included. The child leaves when the last lease is gone, or when it
was idle for too long. A child of a user is found by all of that user's processes through a file only they can read.

`host` is the child's side, `worker` the side of those who use it. This room never knows what a child works on.
"""
