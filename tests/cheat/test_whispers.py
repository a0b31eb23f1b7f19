# SPDX-License-Identifier: Apache-2.0
"""Channels by which judged code could pass information, such as the judge's moves, to others."""

import textwrap

from conftest import BY_TASK

# Makes system calls on a file that all sandboxes share, to find ways to send messages. It ends with
# an error, so that the agent sees the output.
SIGNS = """
    import ctypes, errno, fcntl, os, socket, sys

    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open("/usr/bin/env", os.O_RDONLY)

    def told(name, call):
        try:
            result = call()
        except OSError as e:
            result = errno.errorcode[e.errno]
        print(name, result, flush=True)

    def libc_call(name, *args):
        ctypes.set_errno(0)
        function = getattr(libc, name)
        if function(*args) < 0:
            raise OSError(ctypes.get_errno(), name)
        return "done"

    page = libc.mmap
    page.restype = ctypes.c_void_p
    at = ctypes.c_void_p(page(None, 4096, 1, 1, fd, 0))
    told("flock", lambda: fcntl.flock(fd, fcntl.LOCK_SH))
    told("lockf", lambda: fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB))
    told("getlk", lambda: fcntl.fcntl(fd, fcntl.F_GETLK, bytes(32)))
    told("fadvise", lambda: os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED))
    told("nowait", lambda: os.preadv(fd, [bytearray(1)], 0, os.RWF_NOWAIT))
    told("readahead", lambda: libc_call("readahead", fd, ctypes.c_long(0), 4096))
    told("mincore", lambda: libc_call("mincore", at, 4096, ctypes.create_string_buffer(1)))
    told("pageout", lambda: libc_call("madvise", at, 4096, 21))
    told("pidfd", lambda: os.pidfd_open(os.getpid()))
    told("born", lambda: libc.syscall(56, 0x1000 | 17, 0, ctypes.byref(ctypes.c_int()), 0, 0))
    told("cookie", lambda: socket.socket().getsockopt(socket.SOL_SOCKET, 57, 8))
    told("sysinfo", lambda: libc_call("sysinfo", ctypes.create_string_buffer(256)))
    told("times", lambda: os.utime("/dev/null"))
    sys.exit("that is all")
"""

REFUSED = {
    "flock": "ENOLCK",
    "lockf": "ENOLCK",
    "getlk": "ENOLCK",
    "fadvise": "ENOSYS",
    "nowait": "ENOTSUP",
    "readahead": "ENOSYS",
    "mincore": "ENOSYS",
    "pageout": "EINVAL",
    "pidfd": "ENOSYS",
    "born": "-1",
    "cookie": "ENOPROTOOPT",
    "sysinfo": "ENOSYS",
    "times": "EROFS",
}


def test_what_is_judged_can_leave_no_sign(begin):
    for task in ("duel", "battleOfSexes"):
        episode = begin(task)
        source = textwrap.dedent(SIGNS)
        seen = episode.step(f"cat > {BY_TASK[task].file} <<'END'\n{source}END\nvalidate")
        lines = [x[2:].split() for x in seen["observation"].splitlines() if x.startswith("| ")]
        told = {words[0]: words[1] for words in lines if len(words) == 2}
        assert told == REFUSED, (task, seen["observation"])


def test_the_agent_itself_may_lock_files(begin):
    """The agent may lock files by flock(), because its programs need such locks."""
    seen = begin("duel").step("flock -s strategy.py echo held; flock /usr/bin/env echo seen")
    assert seen["observation"].splitlines()[0] == "held"


def test_control_sequences_of_what_is_judged_are_written_out(begin):
    episode = begin("battleOfSexes")
    text = "import sys\nsys.stderr.write('A\\x1b[2J\\x07B')\nraise SystemExit"
    seen = episode.step(f"cat > strategy.py <<'END'\n{text}\nEND\nvalidate")["observation"]
    assert "| A\\x1b[2J\\x07B" in seen and "\x1b" not in seen
