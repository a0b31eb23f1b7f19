# SPDX-License-Identifier: Apache-2.0
"""Connections that nobody has any more and that never end: full of bytes, both ends deaf. Prints how many."""

import contextlib
import os
import socket

IP_MINTTL = 21  # what comes over the loopback device has 64

hold = []
for _ in range(20):
    with socket.create_server(("127.0.0.1", 0)) as door:
        hold += [socket.create_connection(door.getsockname()), door.accept()[0]]
    for end in hold[-2:]:
        end.setsockopt(socket.IPPROTO_IP, IP_MINTTL, 255)
    hold[-2].setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            hold[-2].send(b"x" * 1000000)
print(len(hold), flush=True)
os._exit(0)
