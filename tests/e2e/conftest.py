# SPDX-License-Identifier: Apache-2.0
"""Shared by the end-to-end tests: runs the program as a user does."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from viewer import Viewer

ROOT = Path(__file__).resolve().parents[2]
TASKS = ROOT / "tests" / "tasks"


PATIENCE_S = 300  # a program that runs longer counts as hung


def until(condition, what: str) -> None:
    """Waits for a condition. Fails after PATIENCE_S."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"waited too long: {what}"
        time.sleep(0.02)


def beneath(top: int, word: str) -> bool:
    """Whether a descendant of the process `top` has the word in its command line."""
    parents, named = {}, []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            stat = (path / "stat").read_text().rpartition(")")[2]
            parents[int(path.name)] = int(stat.split()[1])
            if word.encode() in (path / "cmdline").read_bytes():
                named.append(int(path.name))
    for pid in named:
        while pid := parents.get(pid, 0):
            if pid == top:
                return True
    return False


def default_signals():
    """Resets signals. A suite in the background ignores some, which children would inherit."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Fumehood:
    """Runs the program in a folder of its own, with a state folder of the tests."""

    def __init__(self, program: str, folder: Path, state: Path):
        self.program = program
        self.folder = folder
        self.out = folder / "out"
        self.env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FUMEHOOD_LOG")}
        self.env.update(FUMEHOOD_STATE=str(state), TERM="xterm")

    def __call__(self, *args, status=0, **kwargs):
        """Runs the program to its end, and checks its exit status (None: any)."""
        kwargs.setdefault("stdin", subprocess.DEVNULL if "input" not in kwargs else None)
        done = subprocess.run(
            [self.program, *map(str, args)],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            **{k: v for k, v in kwargs.items() if v is not None},
        )
        if status is not None:
            assert done.returncode == status, (args, done.stdout, done.stderr)
        return done

    def start(self, *args, **kwargs):
        kwargs.setdefault("env", self.env)
        kwargs.setdefault("preexec_fn", default_signals)
        return subprocess.Popen([self.program, *map(str, args)], cwd=self.folder, **kwargs)

    def actions(self, *actions: str) -> str:
        """Name of a model that plays these actions."""
        path = self.folder / "played.jsonl"
        path.write_text("".join(json.dumps(a) + "\n" for a in actions))
        return f"actions:{path}"

    def run_words(self, *args) -> list:
        """Arguments of `run` with the tasks of the tests and a folder for records."""
        return ["run", "--tasks-dir", TASKS, "--out", self.out, *args]

    def run(self, *args, **kwargs):
        return self(*self.run_words(*args), **kwargs)

    def run_json(self, *args, status=0) -> list:
        """Runs `run --json`. Returns the objects that it printed."""
        done = self.run("--json", *args, status=status)
        return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="session")
def program() -> str:
    path = os.environ.get("FUMEHOOD") or shutil.which("fumehood")
    assert path, "FUMEHOOD names no program"
    return os.path.abspath(path)


@pytest.fixture(scope="session")
def state(tmp_path_factory) -> Path:
    """A state folder shared by all tests, so that baselines are scored once."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture
def fumehood(program, state, tmp_path) -> Fumehood:
    return Fumehood(program, tmp_path, state)


class Door:
    """A process of `fumehood env`."""

    def __init__(self, fumehood, *args):
        pipe = subprocess.PIPE
        self.child = fumehood.start(
            "env", "--tasks-dir", TASKS, *args, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )

    def send(self, line: str) -> dict:
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())

    def ask(self, **request) -> dict:
        return self.send(json.dumps(request))

    def step(self, action: str, **more) -> dict:
        return self.ask(op="step", action=action, **more)

    def end(self) -> int:
        self.child.stdin.close()
        assert self.child.stdout.read() == ""
        return self.child.wait(PATIENCE_S)


@pytest.fixture
def view(fumehood):
    started = []

    def start(*places) -> Viewer:
        started.append(Viewer(fumehood, *places))
        return started[-1]

    yield start
    for viewer in started:
        assert viewer.end() == 0


@pytest.fixture
def door(fumehood):
    """A `fumehood env` whose episode has begun, with 1000 steps."""
    d = Door(fumehood, "--task", "rows", "--max-steps", "1000")
    d.ask(op="reset", seed=0)
    yield d
    d.child.kill()
    d.child.wait()


@pytest.fixture
def copy(tmp_path):
    """A copy of the checkout of MLGym, which a test may change."""
    return shutil.copytree(ROOT / "tests/fixtures/mlgym-root", tmp_path / "checkout")
