# SPDX-License-Identifier: Apache-2.0
"""Leaves connections without a process that never end: they are full, and drop all packets.

Prints the number of their sockets.
"""

import contextlib
import os
import socket

IP_MINTTL = 21  # packets of the loopback device have 64, so that 255 drops them all

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
