# SPDX-License-Identifier: Apache-2.0
"""Shared by the fault tests: runs the program, and finds its leftovers on this machine.

FAULT_KILLS is how often the tests kill the owner of one episode: by default 150, and 1000 with
FAULT_ALL. They kill owners of several episodes, and each kind of guest process, a fifth as often.
FAULT_SEED repeats the random numbers of a run.
"""

import contextlib
import ctypes
import fnmatch
import json
import os
import random
import select
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TASKS = Path(__file__).resolve().parent / "tasks"
KILLS = int(os.environ.get("FAULT_KILLS", "1000" if "FAULT_ALL" in os.environ else "150"))
OTHER_KILLS = KILLS // 5
# Set a variable of the environment, so that all workers of pytest-xdist inherit the same seed.
SEED = int(os.environ.setdefault("FAULT_SEED", str(random.SystemRandom().randrange(1 << 32))))

GONE_S = 20.0  # time after which nothing may be left of a killed owner
ANSWER_S = 120.0  # a program that takes longer to answer counts as hung
WALL = 0x40000000
PR_SET_CHILD_SUBREAPER = 36

# Orphaned descendants become children of this process, so that it finds all leftover processes.
assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0

counts = Counter()
notes: list[str] = []


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"seed {SEED} (FAULT_SEED)")
    for name, n in sorted(counts.items()):
        terminalreporter.write_line(f"{name}: {n}")
    for note in notes:
        terminalreporter.write_line(note)


# --- finding leftover processes -------------------------------------------------------------------


class Process:
    """A process, from /proc/PID/stat."""

    def __init__(self, pid: int):
        text = Path(f"/proc/{pid}/stat").read_text()
        name, rest = text.rsplit(") ", 1)
        self.pid = pid
        self.name = name.split("(", 1)[1]
        self.state, parent = rest.split()[:2]
        self.parent = int(parent)

    def __repr__(self):
        return f"{self.name}({self.pid}, {self.state}, child of {self.parent})"


def processes() -> list[Process]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            found.append(Process(int(pid)))
    return found


def children(pid: int) -> list[Process]:
    return [p for p in processes() if p.parent == pid and p.state != "Z"]


def descendants(pid: int) -> list[Process]:
    table = processes()
    found = [p for p in table if p.parent == pid]
    for p in found:
        found += [q for q in table if q.parent == p.pid]
    return found


def wait_until_gone(limit_s: float = GONE_S) -> float:
    """Waits until this process has no descendants. Returns the time in seconds that it took."""
    begin = time.monotonic()
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG | WALL)
        except ChildProcessError:
            return time.monotonic() - begin
        if pid == 0:
            left = descendants(os.getpid())
            assert time.monotonic() - begin < limit_s, f"left after {limit_s} s: {left}"
            time.sleep(0.001)


# --- finding leftover mounts and control groups ---------------------------------------------------


def mounts() -> list[str]:
    """Fumehood's mounts that this process sees."""
    return [m for m in Path("/proc/self/mountinfo").read_text().splitlines() if "fumehood" in m]


def group_roots() -> list[Path]:
    """Folders in which owners make control groups.

    These are our own group of each v1 hierarchy, and the whole of v2: systemd may place groups
    anywhere there.
    """
    own = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        own.update(dict.fromkeys(controllers.split(","), group.lstrip("/")))
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, tail = line.split(" - ")
        kind, _, options = tail.split(" ", 2)
        top = Path(fields.split()[4])
        if kind == "cgroup2":
            found.append(top)
        elif kind == "cgroup":
            found += [top / own[c] for c in options.split(",") if c in own]
    return found


ROOTS = group_roots()


def groups_of(pid: int) -> list[Path]:
    mine = f"fumehood-*-{pid}-*"
    # Don't use glob(): it fails if another process removes a group meanwhile.
    walks = (walk for root in ROOTS for walk in os.walk(root))
    return [Path(at, name) for at, names, _ in walks for name in fnmatch.filter(names, mine)]


def members_of(pid: int) -> dict[str, str]:
    """Processes in the control groups of an owner, by group."""
    found = {}
    for group in groups_of(pid):
        for at, _, _ in os.walk(group):
            procs = Path(at, "cgroup.procs")
            with contextlib.suppress(OSError):
                if text := procs.read_text().split():
                    found[str(procs)] = text
    return found


# --- running the program --------------------------------------------------------------------------


class Fumehood:
    """The program, with a state folder and a folder for its records."""

    def __init__(self, program: str, folder: Path):
        self.program = program
        self.state = folder / "state"
        self.out = folder / "out"
        self.env = {**os.environ, "FUMEHOOD_STATE": str(self.state)}
        self.doors: list[Door] = []

    def __call__(self, *args, status=0) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [self.program, *map(str, args)],
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ANSWER_S,
            check=False,
        )
        assert status is None or done.returncode == status, (args, done.stdout, done.stderr)
        return done

    def start(self, *args, **kwargs) -> subprocess.Popen:
        return subprocess.Popen([self.program, *map(str, args)], env=self.env, **kwargs)

    def door(self, task: str, *args) -> "Door":
        self.doors.append(Door(self, task, *args))
        return self.doors[-1]

    def clear(self):
        """Kills the processes and removes the records that a test left."""
        for door in self.doors:
            door.child.kill()
        self.doors.clear()
        shutil.rmtree(self.out, ignore_errors=True)


class Door:
    """A process of `fumehood env`, which tests may kill at any time."""

    def __init__(self, fumehood: Fumehood, task: str, *args):
        words = ["env", "--task", task, "--tasks-dir", TASKS, "--out", fumehood.out, *args]
        pipe = subprocess.PIPE
        self.child = fumehood.start(*words, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
        self.data = b""
        self.answers: list[dict] = []

    @property
    def pid(self) -> int:
        return self.child.pid

    def send(self, **request):
        self.child.stdin.write(json.dumps(request).encode() + b"\n")

    def _split(self) -> bool:
        line, newline, rest = self.data.partition(b"\n")
        if newline:
            self.answers.append(json.loads(line))
            self.data = rest
        return bool(newline)

    def answer(self) -> dict:
        """Waits for the next answer. Fails if the program ends, or needs longer than ANSWER_S."""
        end = time.monotonic() + ANSWER_S
        while not self._split():
            ready, _, _ = select.select([self.child.stdout], [], [], end - time.monotonic())
            assert ready, "no answer"
            chunk = self.child.stdout.read(1 << 16)
            assert chunk, f"it ended: {self.child.stderr.read().decode()}"
            self.data += chunk
        return self.answers[-1]

    def ask(self, **request) -> dict:
        self.send(**request)
        return self.answer()

    def step(self, action: str, **more) -> dict:
        return self.ask(op="step", action=action, **more)

    def kill(self):
        """Kills the program. `answers` then has all answers that it gave."""
        self.child.kill()
        self.child.wait()
        self.data += self.child.stdout.read()
        while self._split():
            pass
        self._close()

    def end(self) -> int:
        self.child.stdin.close()
        status = self.child.wait(ANSWER_S)
        self._close()
        return status

    def _close(self):
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            stream.close()


# --- pytest fixtures ------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def program() -> str:
    path = os.environ.get("FUMEHOOD") or shutil.which("fumehood")
    assert path, "FUMEHOOD names no program"
    return os.path.abspath(path)


@pytest.fixture(scope="session")
def home(tmp_path_factory) -> Path:
    """A folder shared by all tests, so that baselines are played once."""
    return tmp_path_factory.mktemp("fault")


@pytest.fixture
def fumehood(program, home) -> Fumehood:
    f = Fumehood(program, home)
    f.clear()
    yield f
    f.clear()
    wait_until_gone()


@pytest.fixture
def dice(request) -> random.Random:
    """Random numbers that depend only on the seed and the test's name."""
    return random.Random(f"{SEED} {request.node.name}")
