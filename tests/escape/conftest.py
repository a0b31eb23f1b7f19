# SPDX-License-Identifier: Apache-2.0
"""Shared by the attacks: an episode that attacks, and one beside it that must not be affected.

inside/ has the attacker's programs. They are compiled here, and bound into episodes at ATTACK. Most
print a line `NAME RESULT` for each attempt, so that a test sees that all were made.
"""

import contextlib
import ctypes
import json
import os
import secrets
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TASKS = HERE / "tasks"
ATTACK = "/home/agent/attack"
ANSWER_S = 700.0  # a program that takes longer to answer counts as hung
GONE_S = 60.0  # time after which nothing may be left of a closed episode
PR_SET_CHILD_SUBREAPER = 36
WALL = 0x40000000  # option of waitpid(): wait also for children without an exit signal

# Orphaned descendants become children of this process, so that it finds all leftover processes.
assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


# --- finding processes of this machine ------------------------------------------------------------


def parents() -> dict[int, int]:
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            stat = Path(f"/proc/{pid}/stat").read_text()
            found[int(pid)] = int(stat.rpartition(")")[2].split()[1])
    return found


def beneath(top: int) -> list[int]:
    """Descendants of a process, parents before their children."""
    table = parents()
    found = [pid for pid, parent in table.items() if parent == top]
    for pid in found:
        found += [child for child, parent in table.items() if parent == pid]
    return found


def wait_until_gone(kept: int) -> None:
    """Waits until `kept` and its descendants are the only descendants of this process."""
    end = time.monotonic() + GONE_S
    while left := set(beneath(os.getpid())) - {kept, *beneath(kept)}:
        for pid in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG | WALL)
        assert time.monotonic() < end, f"left after {GONE_S} s: {left}"
        time.sleep(0.005)


# --- playing episodes -----------------------------------------------------------------------------


class Fumehood:
    """Runs the program with a state folder, and with secrets in its environment."""

    def __init__(self, program: str, folder: Path):
        self.program = program
        self.state = folder / "state"
        self.key = secrets.token_hex(32)
        self.env = {
            **os.environ,
            "FUMEHOOD_STATE": str(self.state),
            "FUMEHOOD_JUDGE_KEY": self.key,
            "PROVIDER_API_KEY": "sk-" + secrets.token_hex(16),
        }

    def start(self, *args, **kwargs) -> subprocess.Popen:
        return subprocess.Popen([self.program, *map(str, args)], env=self.env, **kwargs)

    def __call__(self, *args, status=0, **kwargs) -> subprocess.CompletedProcess:
        child = self.start(
            *args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs
        )
        out, err = child.communicate(timeout=ANSWER_S)
        assert status is None or child.returncode == status, (args, out, err)
        return subprocess.CompletedProcess(args, child.returncode, out, err)


class Episode:
    """An episode in its own process of `fumehood env`."""

    def __init__(self, fumehood: Fumehood, task: str, *args, pass_fds: list[int] = ()):
        pipe = subprocess.PIPE
        words = ["env", "--task", task, "--tasks-dir", TASKS, *args]
        self.child = fumehood.start(
            *words, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, pass_fds=pass_fds
        )
        self.state = fumehood.state
        self.data = bytearray()
        self.over = False
        self.reset()

    @property
    def pid(self) -> int:
        return self.child.pid

    def answer(self) -> dict:
        end = time.monotonic() + ANSWER_S
        while b"\n" not in self.data:
            ready, _, _ = select.select([self.child.stdout], [], [], end - time.monotonic())
            assert ready, "no answer"
            chunk = self.child.stdout.read(1 << 16)
            assert chunk, f"it ended: {self.child.stderr.read().decode()}"
            self.data += chunk
        line, _, self.data = self.data.partition(b"\n")
        return json.loads(line)

    def ask(self, **request) -> dict:
        self.child.stdin.write(json.dumps(request).encode() + b"\n")
        return self.answer()

    def reset(self) -> None:
        answer = self.ask(op="reset", seed=1)
        assert "error" not in answer, answer

    def step(self, action: str, **more) -> dict:
        answer = self.ask(op="step", action=action, **more)
        assert "error" not in answer, answer
        self.over = answer["terminated"] or answer["truncated"]
        return answer

    def sh(self, action: str, outcome: str = "ok", **more) -> str:
        """Output of a command. Fails if the step's outcome is another."""
        answer = self.step(action, **more)
        assert answer["info"]["outcome"] == outcome, answer
        return answer["observation"]

    def tried(self, command: str, **more) -> dict[str, str]:
        """Results of a program of inside/, by the name of the attempt."""
        lines = [line.split(None, 1) for line in self.sh(command, **more).splitlines()]
        assert all(len(line) == 2 for line in lines), lines
        return dict(lines)

    def goes_on(self) -> None:
        assert (
            self.over
            or self.sh("command echo on$((6 * 7))", timeout_s=60).splitlines()[-1] == "on42"
        )

    def end(self, status: int = 0) -> None:
        """Ends the process, unless that was done before, and checks its exit status."""
        self.over = True
        if self.child.stdin.closed:
            return
        self.child.stdin.close()
        ended = self.child.wait(ANSWER_S)
        complaint = self.child.stderr.read().decode()
        self.child.stdout.close()
        self.child.stderr.close()
        assert ended == status, complaint


class Neighbour(Episode):
    """An episode beside the attacker's, whose files, variables and job have to stay as they are."""

    BEGIN = """
        echo {word} | tee mine /tmp/mine >/dev/shm/mine
        python3 ~/attack/listen.py "{name}" >visits &
        until [ -s visits ]; do sleep 0.01; done
        cat visits
    """
    LOOK = "cat mine /tmp/mine /dev/shm/mine visits; echo $word; jobs -r | wc -l; ls -A . /tmp /dev/shm"

    def __init__(self, fumehood: Fumehood, inside: Path):
        super().__init__(fumehood, "prey", "--bind", f"{inside}:{ATTACK}")
        self.word = "word" + secrets.token_hex(8)
        self.name = "name" + secrets.token_hex(8)
        begin = self.BEGIN.format(word=self.word, name=self.name)
        self.port = int(self.sh(f"word={self.word}\n{begin}"))
        self.seen = self.sh(self.LOOK)
        assert self.seen.count(self.word) == 4

    def check(self) -> None:
        answer = self.step(self.LOOK)
        assert (answer["observation"], answer["info"]["outcome"]) == (self.seen, "ok")
        assert answer["info"]["exit_code"] == 0 and "integrity" not in answer["info"]


# --- pytest fixtures ------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def fumehood(tmp_path_factory) -> Fumehood:
    path = os.environ.get("FUMEHOOD") or shutil.which("fumehood")
    assert path, "FUMEHOOD names no program"
    return Fumehood(os.path.abspath(path), tmp_path_factory.mktemp("escape"))


@pytest.fixture(scope="session")
def inside(tmp_path_factory) -> Path:
    """Folder of the attacker's programs, compiled. Builtins for bash are NAME.so."""
    folder = tmp_path_factory.mktemp("inside")
    for source in (HERE / "inside").iterdir():
        if source.suffix != ".c":
            shutil.copy(source, folder)
            continue
        loaded = source.name.startswith("builtin_")
        made = folder / (source.stem + (".so" if loaded else ""))
        how = ["-shared", "-fPIC"] if loaded else []
        subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", *how, source, "-o", made], check=True)
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def held(fumehood, inside):
    episode = Neighbour(fumehood, inside)
    yield episode
    episode.end()


@pytest.fixture
def neighbour(held) -> Neighbour:
    """The neighbour episode, which is checked after each test."""
    yield held
    held.check()


@pytest.fixture
def begin(fumehood, inside, neighbour):
    """A function that begins an episode.

    After the test each episode has to run a command, or to be over. Nothing of it may be left.
    """
    begun = []

    def one(task: str = "prey", *args) -> Episode:
        begun.append(Episode(fumehood, task, "--bind", f"{inside}:{ATTACK}", *args))
        return begun[-1]

    yield one
    try:
        for episode in begun:
            episode.goes_on()
    finally:
        for episode in begun:
            episode.end()
        wait_until_gone(neighbour.pid)


@pytest.fixture
def agent(begin) -> Episode:
    return begin()
