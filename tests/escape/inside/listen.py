# SPDX-License-Identifier: Apache-2.0
"""Listens on an abstract socket and on a free port. Prints the port, and a line for each visit."""

import selectors
import socket
import sys

named = socket.socket(socket.AF_UNIX)
named.bind("\0" + sys.argv[1])
port = socket.create_server(("127.0.0.1", 0))
named.listen()
print(port.getsockname()[1], flush=True)
chosen = selectors.DefaultSelector()
for door in (named, port):
    chosen.register(door, selectors.EVENT_READ)
while True:
    for key, _ in chosen.select():
        key.fileobj.accept()
        print("a visit", flush=True)
