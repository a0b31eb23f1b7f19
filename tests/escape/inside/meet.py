# SPDX-License-Identifier: Apache-2.0
"""Serves or visits places with fixed names and numbers: sockets, a port, shared memory.

With WORD, gives the word to each visitor. Without, visits the places, and prints the words.
"""

import ctypes
import os
import socket
import sys
import threading

KEY, IPC_CREAT = 4242, 0o1000
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p


def doors() -> list[tuple[socket.socket, object]]:
    return [
        (socket.socket(socket.AF_UNIX), "\0meeting"),
        (socket.socket(socket.AF_UNIX), "/tmp/meeting"),
        (socket.socket(socket.AF_INET), ("127.0.0.1", KEY)),
    ]


def serve(door: socket.socket, word: str) -> None:
    while True:
        visit, _ = door.accept()
        visit.sendall(word.encode())
        visit.close()


def segment(size: int) -> int:
    return libc.shmat(libc.shmget(KEY, size, IPC_CREAT | 0o666), None, 0)


if len(sys.argv) > 1:
    word = sys.argv[1]
    ctypes.memmove(segment(64), word.encode() + b"\0", len(word) + 1)
    for door, place in doors():
        door.bind(place)
        door.listen()
        threading.Thread(target=serve, args=(door, word)).start()
    print("open", flush=True)
else:
    words = [ctypes.string_at(segment(64)).decode()]
    for _ in range(20):
        for door, place in doors():
            door.connect(place)
            words.append(door.recv(64).decode())
            door.close()
    print(len(words), *set(words))
    print(*(name for name in os.listdir("/proc") if name.isdigit()))
