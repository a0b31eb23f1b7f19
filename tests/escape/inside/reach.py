# SPDX-License-Identifier: Apache-2.0
"""Connects to sockets: PORT, HOST:PORT, @NAME (abstract) or /PATH. Prints `TARGET ERRNO` each."""

import errno
import socket
import sys


def reach(target: str) -> None:
    if target[0] in "@/":
        address, family = target.replace("@", "\0"), socket.AF_UNIX
    else:
        host, _, port = target.rpartition(":")
        address, family = (host or "127.0.0.1", int(port)), socket.AF_INET
    with socket.socket(family) as s:
        s.settimeout(5)
        s.connect(address)


for target in sys.argv[1:]:
    try:
        reach(target)
        print(target, "done")
    except OSError as e:
        print(target, errno.errorcode.get(e.errno, e))
