# SPDX-License-Identifier: Apache-2.0
"""Holds the kernel's lock of a pipe, file or folder for SECONDS.

lock.py pipe FD|PATH | drain FD | file PATH | folder PATH SECONDS

splice() holds the lock of a pipe while it waits for an empty socket, or for a full one (drain).

Freeing a page of a file that is mapped 50,000 times holds the file's lock for seconds. The program
does it again and again. A folder that is listed into such a page stays locked meanwhile. A waiting
mkdir then keeps out all other processes.
"""

import contextlib
import ctypes
import mmap
import os
import socket
import sys
import threading
import time

MAPS = 50000
MADV_REMOVE = 9
MADV_POPULATE_WRITE = 23
MAP_FIXED = 0x10
GETDENTS64 = 217
PAGE = mmap.PAGESIZE

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
MAP_FAILED = ctypes.c_void_p(-1).value


def hold_pipe(to: int) -> None:
    empty, other = socket.socketpair()
    os.set_blocking(to, True)  # splice() does not wait for a non-blocking pipe
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
    os.set_blocking(fd, True)  # this changes the flags for all holders of the pipe's end
    os.splice(fd, full.fileno(), 1 << 16)
    other.close()


def map_page(fd: int) -> int:
    """Maps a page with the C library, because each mmap of Python keeps a descriptor."""
    address = libc.mmap(0, PAGE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
    assert address != MAP_FAILED, os.strerror(ctypes.get_errno())
    return address


def hold_file(path: str) -> None:
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    os.truncate(fd, max(PAGE, os.fstat(fd).st_size))
    maps = [map_page(fd) for _ in range(MAPS)]
    while True:
        for address in maps:
            ctypes.memset(address, 1, 1)
        assert libc.madvise(maps[0], PAGE, MADV_REMOVE) == 0, os.strerror(ctypes.get_errno())


def make(path: str) -> None:
    while True:
        with contextlib.suppress(OSError):
            os.mkdir(path + "/self")


def hold_folder(path: str) -> None:
    fd = os.open("/dev/shm/page", os.O_RDWR | os.O_CREAT, 0o644)
    os.truncate(fd, PAGE)
    rights = mmap.PROT_READ | mmap.PROT_WRITE
    begin = libc.mmap(0, MAPS * PAGE, rights, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    for i in range(MAPS):
        address = libc.mmap(begin + i * PAGE, PAGE, rights, mmap.MAP_SHARED | MAP_FIXED, fd, 0)
        assert address == begin + i * PAGE, os.strerror(ctypes.get_errno())
    for _ in range(4):
        if os.fork() == 0:
            while True:
                libc.madvise(begin, MAPS * PAGE, MADV_POPULATE_WRITE)
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def read() -> None:
        while True:
            os.lseek(folder, 0, os.SEEK_SET)
            libc.syscall(GETDENTS64, folder, ctypes.c_void_p(begin + 16), 4000)

    for work in (read, read, lambda: make(path)):
        threading.Thread(target=work, daemon=True).start()
    while True:
        libc.madvise(begin, PAGE, MADV_REMOVE)


kind, target, seconds = sys.argv[1:]
if kind == "file":
    work, what = hold_file, target
elif kind == "folder":
    work, what = hold_folder, target
elif kind == "drain":
    work, what = hold_drain, int(target)
elif target.isdigit():
    work, what = hold_pipe, int(target)
else:
    work, what = hold_pipe, os.open(target, os.O_WRONLY | os.O_NONBLOCK)
holder = threading.Thread(target=work, args=(what,), daemon=True)
holder.start()
time.sleep(1 if kind in ("file", "folder") else 0.1)
if holder.is_alive():
    print("held", flush=True)
time.sleep(float(seconds))
os._exit(0)
