# SPDX-License-Identifier: Apache-2.0
"""Channels by which judged code could pass information, such as the judge's moves, to others."""

import ctypes
import mmap
import os
import textwrap

import pytest
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


PAGES = 64
APART = 64  # pages between two that count, so that reading ahead does not touch the next
SHARED = "/data/shared"
READS = f"""
import os
import numpy as np
fd = os.open("{SHARED}", os.O_RDONLY)
def logits(tokens):
    for page in range({PAGES}):
        if page % 3 == 0: os.pread(fd, 1, page * {APART} * 4096)
    return np.zeros((*tokens.shape, 64), "f4")
"""

# A process in the background that notes the time. With `yes` it forks a child and ends, and so does
# the child. A list of such processes is out of date at once.
NOTES = """
import os, sys, time
name, forks = sys.argv[1:]
while True:
    with open(name, "a") as notes: print(time.monotonic(), file=notes)
    if forks == "no": time.sleep(0.01)
    elif os.fork(): os._exit(0)
"""


def longest_pause(episode, name: str) -> float:
    times = [float(line) for line in episode.sh(f"cat {name}").splitlines()]
    return max(later - time for time, later in zip(times, times[1:], strict=False))


def in_memory(path) -> list[int]:
    """Which of the pages that count are in the page cache."""
    libc = ctypes.CDLL(None, use_errno=True)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        n = len(memory) // mmap.PAGESIZE
        found = (ctypes.c_ubyte * n)()
        at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        assert libc.mincore(ctypes.c_void_p(at), ctypes.c_size_t(len(memory)), found) == 0
    return [page for page in range(PAGES) if found[page * APART] & 1]


def drop(path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user may have no control groups")
def test_a_model_leaves_no_sign_between_its_players(begin, tmp_path):
    """Reading a page is a sign, because the next read of it is faster. A process of the episode
    could see it and others while the first player runs, and tell the second.
    """
    shared = tmp_path / "shared"
    shared.write_bytes(bytes(PAGES * APART * 4096))
    drop(shared)
    if in_memory(shared):
        pytest.skip("the folder of temporary files is in memory")
    episode = begin("languageModelingFineWeb", None, "--bind", f"{shared}:{SHARED}")
    episode.put("model.py", READS)
    episode.sh("python3 -c \"from baseline import pack; pack('model.py')\"")
    episode.put("notes.py", NOTES)
    episode.sh("python3 notes.py awake no & python3 notes.py forking yes & sleep 0.2")
    info = episode.validate()["info"]
    assert "score" in info
    assert in_memory(shared) == []
    for name in ("awake", "forking"):
        n = int(episode.sh(f"wc -l <{name}; sleep 0.1"))
        assert longest_pause(episode, name) > 0.8 * info["grading_s"], name
        assert int(episode.sh(f"wc -l <{name}")) > n, name
    # The same reads by the agent's own command, which may leave signs, can be seen.
    episode.sh("python3 -c 'import model, numpy as np; model.logits(np.zeros((1, 1), int))'")
    assert set(in_memory(shared)) >= set(range(0, PAGES, 3))


def test_the_agent_itself_may_lock_files(begin):
    """The agent may lock files by flock(), because its programs need such locks."""
    seen = begin("duel").step("flock -s strategy.py echo held; flock /usr/bin/env echo seen")
    assert seen["observation"].splitlines()[0] == "held"


def test_control_sequences_of_what_is_judged_are_written_out(begin):
    episode = begin("battleOfSexes")
    text = "import sys\nsys.stderr.write('A\\x1b[2J\\x07B')\nraise SystemExit"
    seen = episode.step(f"cat > strategy.py <<'END'\n{text}\nEND\nvalidate")["observation"]
    assert "| A\\x1b[2J\\x07B" in seen and "\x1b" not in seen
