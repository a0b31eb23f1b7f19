# SPDX-License-Identifier: Apache-2.0
"""Takes as much as it gets of a kind of resource, prints `KIND ERRNO COUNT`, and holds it.

With `one`, takes one of each of twelve kinds and holds nothing. A neighbour needs these meanwhile.
"""

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import resource
import select
import signal
import socket
import sys
import threading

libc = ctypes.CDLL(None, use_errno=True)
CHUNK = 1 << 20
PR_SET_PDEATHSIG = 1
IPC_CREAT, IPC_PRIVATE, IPC_RMID = 0o1000, 0, 0
hold = []
one = sys.argv[1] == "one"


def check(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def anonymous():
    hold.append(b"x" * CHUNK)


def shared():
    hold.append(mmap.mmap(-1, CHUNK))
    hold[-1].write(b"x" * CHUNK)


def memory_file():
    hold.append(os.memfd_create("x"))
    os.write(hold[-1], b"x" * CHUNK)


def segment():
    part = check(libc.shmget(IPC_PRIVATE, CHUNK, IPC_CREAT | 0o600))
    libc.shmat.restype = ctypes.c_void_p
    ctypes.memset(libc.shmat(part, None, 0), 1, CHUNK)


def page_table():
    hold.append(mmap.mmap(-1, 1 << 30))
    for at in range(0, 1 << 30, 1 << 21):
        hold[-1][at] = 1


def written(folder):
    path = f"{folder}/{len(hold)}"
    hold.append(path)
    with open(path, "wb", buffering=0) as f:
        if f.write(b"x" * CHUNK) < CHUNK:
            raise OSError(errno.ENOSPC, "cut")


def empty_file():
    hold.append(f"/tmp/{len(hold)}")
    os.close(os.open(hold[-1], os.O_CREAT))


def hard_link():
    if not hold:
        empty_file()
    hold.append(f"/tmp/{len(hold)}")
    os.link(hold[0], hold[-1])


def attribute():
    hold.append(f"user.{len(hold) % 100}")
    if len(hold) % 100 == 1:
        os.close(os.open(f"/tmp/a{len(hold) // 100}", os.O_CREAT))
    os.setxattr(f"/tmp/a{(len(hold) - 1) // 100}", hold[-1], b"x" * 60000)


def descriptor():
    hold.append(os.open("/dev/null", os.O_RDONLY))


def pipe():
    hold.append(os.pipe())
    os.set_blocking(hold[-1][1], False)
    os.write(hold[-1][1], b"x" * 65536)


def unix_socket():
    pair = socket.socketpair()
    hold.append(pair)
    pair[0].setblocking(False)
    pair[0].send(b"x" * 100000)


def tcp_socket():
    with socket.create_server(("127.0.0.1", 0)) as door:
        hold.append((socket.create_connection(door.getsockname()), door.accept()))
    hold[-1][0].setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            hold[-1][0].send(b"x" * 1000000)
    if len(hold) == 300:
        raise OSError(errno.E2BIG, "enough to see")


def udp_socket():
    hold.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    hold[-1].bind(("127.0.0.1", 0))
    hold[-1].setblocking(False)
    for _ in range(8):
        hold[-1].sendto(b"x" * 60000, hold[-1].getsockname())
    if len(hold) == 3000:
        raise OSError(errno.E2BIG, "enough to see")


def terminal():
    hold.append(os.openpty())


def pending_signal():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
    check(libc.sigqueue(os.getpid(), signal.SIGRTMIN, ctypes.c_void_p(1)))
    hold.append(1)


def timer():
    made = ctypes.c_void_p()
    hold.append(check(libc.timer_create(1, None, ctypes.byref(made))))


def semaphores():
    made = check(libc.semget(IPC_PRIVATE, 250, IPC_CREAT | 0o600))
    if one:
        libc.semctl(made, 0, IPC_RMID)


def message_queue():
    queue = check(libc.msgget(IPC_PRIVATE, IPC_CREAT | 0o600))
    text = ctypes.create_string_buffer(b"\1\0\0\0\0\0\0\0" + b"x" * 8000)
    check(libc.msgsnd(queue, text, 8000, 0o4000))
    if one:
        libc.msgctl(queue, IPC_RMID, None)


def lock():
    if not hold:
        hold.append(os.memfd_create("lock"))
    hold.append(1)
    fcntl.lockf(hold[0], fcntl.LOCK_EX, 1, 2 * len(hold))


def watch():
    if not hold:
        hold.append(os.pipe())
    chosen = select.epoll()
    chosen.register(hold[0][0], select.EPOLLIN)
    hold.append(chosen)


def thread():
    threading.Thread(target=signal.pause, daemon=True).start()


def process():
    pid = os.fork()
    if pid == 0:
        signal.pause()
    hold.append(pid)


KINDS = {
    f.__name__: f
    for f in (anonymous, shared, memory_file, segment, page_table, empty_file, hard_link, attribute)
    + (
        descriptor,
        pipe,
        unix_socket,
        tcp_socket,
        udp_socket,
        terminal,
        pending_signal,
        timer,
        semaphores,
    )
    + (message_queue, lock, watch, thread, process)
}
KINDS |= {f"disk:{d}": lambda d=d: written(d) for d in (".", "/tmp", "/dev/shm")}


def take(act) -> str:
    try:
        act()
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))
    except (MemoryError, RuntimeError) as e:
        return type(e).__name__
    return "done"


DESCRIPTORS = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
if one:
    ONE = (
        descriptor,
        unix_socket,
        terminal,
        pending_signal,
        timer,
        semaphores,
        message_queue,
        lock,
    )
    for act in (*ONE, watch, thread, anonymous, memory_file):
        hold.clear()
        print(act.__name__, take(act), flush=True)
    os._exit(0)


def go_on_in_a_child():
    """Continues in a child when this process can hold no more descriptors, and keeps its own.

    If one of the processes is killed, all end.
    """
    if child := os.fork():
        os.closerange(0, 2)  # the reader gets the end of file from the last child
        os.waitpid(child, 0)
        os.kill(os.getpid(), signal.SIGKILL)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    hold.clear()
    os.closerange(3, DESCRIPTORS)


taken = 0
for _ in range(200000):
    if (result := take(KINDS[sys.argv[1]])) == "EMFILE":
        taken += len(hold)
        go_on_in_a_child()
    elif result != "done":
        break
print(sys.argv[1], result, taken + len(hold), flush=True)
signal.pause()
