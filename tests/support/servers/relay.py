"""Stands for a `stet` that the fork server forks (`support/servers/fork_server.py`); imports only what is built in."""

import _signal
import _socket
import marshal
import os
import sys

link = _socket.socket(_socket.AF_UNIX)
link.connect("\0" + sys.argv[1])
asked = marshal.dumps((sys.argv[2:], dict(os.environb), os.getcwdb()))  # noqa: PTH109 - pathlib is not built in
streams = b"".join(fd.to_bytes(4, sys.byteorder) for fd in (0, 1, 2))
link.sendmsg([len(asked).to_bytes(4, "little")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
link.sendall(asked)
for fd in (0, 1, 2):  # who reads them sees them closed when the other process closes them
    os.close(fd)
pid = int.from_bytes(link.recv(4), "little")
for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
    _signal.signal(number, lambda number, _: os.kill(pid, number))
status = int.from_bytes(link.recv(4), "little", signed=True)
if status < 0:
    _signal.signal(-status, _signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
