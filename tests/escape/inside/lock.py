# SPDX-License-Identifier: Apache-2.0
"""Holds the kernel's lock of a pipe or of a file for SECONDS: lock.py pipe FD|PATH | drain FD | file PATH SECONDS.

splice() from an empty socket keeps the lock of its pipe for as long as nothing comes, and into a full
one for as long as nothing is read. Taking a page away
from a file that is mapped there tens of thousands of times keeps the file's for seconds, again and again.
"""

import mmap
import os
import socket
import sys
import threading
import time

MAPS = 50000
MADV_REMOVE = 9


def hold_pipe(to: int) -> None:
    empty, other = socket.socketpair()
    os.splice(empty.fileno(), to, 1 << 16)
    other.close()


def hold_drain(fd: int) -> None:
    full, other = socket.socketpair()
    full.setblocking(False)
    try:
        while True:
            full.send(bytes(4096))
    except BlockingIOError:
        full.setblocking(True)
    os.set_blocking(fd, True)  # for whoever else has it, too
    os.splice(fd, full.fileno(), 1 << 16)
    other.close()


def hold_file(path: str) -> None:
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    os.truncate(fd, max(mmap.PAGESIZE, os.fstat(fd).st_size))
    maps = [mmap.mmap(fd, mmap.PAGESIZE) for _ in range(MAPS)]
    while True:
        for m in maps:
            m[0] = 1
        maps[0].madvise(MADV_REMOVE)


kind, target, seconds = sys.argv[1:]
if kind == "file":
    work, what = hold_file, target
elif kind == "drain":
    work, what = hold_drain, int(target)
elif target.isdigit():
    work, what = hold_pipe, int(target)
else:
    work, what = hold_pipe, os.open(target, os.O_WRONLY | os.O_NONBLOCK)
threading.Thread(target=work, args=(what,), daemon=True).start()
time.sleep(1 if kind == "file" else 0.1)
print("held", flush=True)
time.sleep(float(seconds))
os._exit(0)
