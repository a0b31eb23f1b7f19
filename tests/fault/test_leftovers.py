# SPDX-License-Identifier: Apache-2.0
"""Tests sandboxes whose PID 1 can't end them.

PID 1 is stopped, or waits in the kernel for a pipe or file that an agent blocks. The nursery has to
end such a sandbox. If the nursery was killed too, `sandbox gc` has to end it.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from conftest import (
    ANSWER_S,
    GONE_S,
    Fumehood,
    Process,
    children,
    counts,
    descendants,
    notes,
    wait_until_gone,
)

TWO_PLAYERS = Path(__file__).parents[1] / "tasks"
IDS = 65534  # subordinate ids that an ordinary user needs


# Shell commands that start a process in the sandbox. Until it is killed, its splice() holds the
# kernel's own mutex of the file or pipe at {path}. A process that replaces that file, or closes
# that pipe, sleeps in the kernel.
HOLD = """python3 - {path} >said <<'END' &
import ctypes, os, stat, sys, socket
path, pair, ends = sys.argv[1], socket.socketpair(), os.pipe()
fd = os.open(os.path.expanduser(path), os.O_WRONLY | os.O_CREAT, 0o600)
empty = pair[0].fileno() if stat.S_ISFIFO(os.fstat(fd).st_mode) else ends[0]
print("held", flush=True)
ctypes.CDLL(None).splice(empty, None, fd, None, 65536, 0)
END
for i in {{1..200}}; do grep -qs held said && break; sleep .05; done; sleep .1; cat said
"""


def hold(door, path: str) -> None:
    assert door.step(HOLD.format(path=path))["observation"] == "held\n"


def hold_request(door, first) -> None:
    """Holds the kernel's mutex of a pipe, so that PID 1 sleeps when it closes that pipe."""
    hold(door, "/run/fumehood/validate")


def hold_answer(door, first) -> None:
    """Holds the kernel's mutex of the file that the answer to a call replaces, and makes a call."""
    door.step("mkdir -p ~/.fumehood")
    hold(door, "~/.fumehood/answer")
    ask = "printf 'nothing a1\\nanything' >~/.fumehood/call; printf 1 >/run/fumehood/call; sleep 9"
    door.send(op="step", action=ask)
    time.sleep(0.5)


def stop(door, first) -> None:
    os.kill(first.pid, signal.SIGSTOP)


WAYS = [hold_request, stop]


def nursery_of(door):
    (nursery,) = [p for p in children(door.pid) if p.name in ("fh-nursery", "bash")]
    return nursery


def inits_of(door) -> list:
    return [p for p in children(nursery_of(door).pid) if p.name == "init"]


def ordinary_user() -> str | None:
    """Name of an ordinary user with enough subordinate ids to make sandboxes."""
    for line in Path("/etc/subuid").read_text().splitlines():
        name, _, count = line.split(":")
        known = subprocess.run(["id", "-u", name], capture_output=True, check=False)
        if int(count) >= IDS and known.returncode == 0 and name != "root":
            return name
    return None


class As(Fumehood):
    """Runs the program as another user, with a state folder of that user."""

    def __init__(self, program: str, folder: Path, user: str):
        super().__init__(program, folder)
        shutil.chown(folder, user)
        self.words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", program]

    def start(self, *args, **kwargs):
        return subprocess.Popen([*self.words, *map(str, args)], env=self.env, **kwargs)

    def __call__(self, *args, **kwargs):
        self.program, program = self.words[0], self.program
        try:
            return super().__call__(*self.words[1:], *args, **kwargs)
        finally:
            self.program = program


@pytest.fixture(params=["root", "ordinary"])
def someone(request, fumehood):
    if request.param == "root":
        yield fumehood
        return
    user = ordinary_user()
    if os.geteuid() != 0 or not user:
        pytest.skip("no root that could become a user with subordinate ids")
    folder = Path(tempfile.mkdtemp(prefix="leftovers-"))
    folder.chmod(0o755)
    other = As(fumehood.program, folder, user)
    yield other
    other.clear()
    shutil.rmtree(folder)


def begin(fumehood):
    door = fumehood.door("lines")
    assert "observation" in door.ask(op="reset")
    start = time.monotonic()
    while len(inits := inits_of(door)) > 1:  # the sandbox that scored the baseline is ending
        assert time.monotonic() - start < GONE_S
        time.sleep(0.005)
    return door, inits[0]


def has_roll(pid: int) -> bool:
    return "memfd:roll" in Path(f"/proc/{pid}/maps").read_text()


def test_no_sandbox_can_write_that_another_is_closed(fumehood):
    if os.geteuid() != 0:
        pytest.skip("only root sees what they have mapped")
    door, first = begin(fumehood)
    inside = descendants(first.pid)
    assert inside and has_roll(nursery_of(door).pid)
    assert not any(has_roll(p.pid) for p in [first, *inside])
    assert door.end() == 0


def wait_until_ended(pid: int) -> float:
    start = time.monotonic()
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() - start < GONE_S, f"{Process(pid)} is there after {GONE_S} s"
        time.sleep(0.001)
    return time.monotonic() - start


@pytest.mark.parametrize("way", [*WAYS, hold_answer])
def test_owner_is_killed(someone, way):
    door, first = begin(someone)
    way(door, first)
    door.kill()
    took = wait_until_gone()
    notes.append(f"{way.__name__}, then the owner killed: gone in {took * 1e3:.0f} ms")


def sandboxed(door, word: str) -> bool:
    """Whether a process with this word in its command line runs in a sandbox of the program."""
    for process in descendants(door.pid):
        with contextlib.suppress(OSError):
            if word in Path(f"/proc/{process.pid}/cmdline").read_text():
                return True
    return False


def test_owner_is_killed_while_two_players_pause_the_episode(someone):
    """Frozen processes have to end all the same."""
    door = someone.door("guess:twice", "--tasks-dir", TWO_PLAYERS)
    assert "observation" in door.ask(op="reset")
    # The pause may come before the background process runs sleep, so wait for that.
    started = "sleep 987 & while ! grep -q 987 /proc/$!/cmdline; do sleep 0.01; done; "
    strategy = "echo 'import time; time.sleep(9)' >strategy.py; validate"
    door.send(op="step", action=started + strategy)
    deadline = time.monotonic() + ANSWER_S
    while not sandboxed(door, "player.py"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert sandboxed(door, "987")
    door.kill()
    took = wait_until_gone()
    notes.append(f"paused by two players, then the owner killed: gone in {took * 1e3:.0f} ms")


@pytest.mark.parametrize("way", WAYS)
def test_episode_is_closed(fumehood, way):
    """A reset ends the sandbox, and the owner goes on with a new one."""
    door, first = begin(fumehood)
    way(door, first)
    assert "observation" in door.ask(op="reset")
    took = wait_until_ended(first.pid)
    notes.append(f"{way.__name__}, then a reset: gone in {took * 1e3:.0f} ms")
    assert door.step("echo on")["observation"] == "on\n"
    assert door.end() == 0
    wait_until_gone()


@pytest.mark.parametrize("way", WAYS)
def test_owner_ends_in_order(fumehood, way):
    door, first = begin(fumehood)
    way(door, first)
    assert door.end() == 0
    wait_until_gone()


# --- cleaning up by `fumehood sandbox gc` ---------------------------------------------------------


def leftovers_check(someone) -> dict:
    checks = json.loads(someone("doctor", "--json", status=None).stdout)["checks"]
    (check,) = [c for c in checks if c["name"] == "leftovers"]
    return check


def ownerless(someone) -> list[int]:
    """PIDs 1 of sandboxes without an owner. Root sees those of all users."""
    listed = map(json.loads, someone("sandbox", "ps", "--json").stdout.splitlines())
    return [s["pid"] for s in listed if s["owner"] == 0]


@pytest.mark.xdist_group("gc")
def test_gc_ends_what_nobody_else_can(someone):
    neighbour, door = someone.door("lines"), someone.door("lines")
    for each in (neighbour, door):
        assert "observation" in each.ask(op="reset")
    (first,) = inits_of(door)
    os.kill(first.pid, signal.SIGSTOP)
    os.kill(nursery_of(door).pid, signal.SIGKILL)
    os.kill(nursery_of(neighbour).pid, signal.SIGKILL)  # the owner lives: gc must leave the sandbox
    door.kill()
    time.sleep(0.2)

    assert Path(f"/proc/{first.pid}").exists()
    check = leftovers_check(someone)
    assert not check["ok"] and "without an owner" in check["detail"], check
    assert "sandbox gc" in check["fix"]
    assert first.pid in ownerless(someone)
    start = time.monotonic()
    done = json.loads(someone("sandbox", "gc", "--json").stdout)
    notes.append(f"gc took {(time.monotonic() - start) * 1e3:.0f} ms")
    assert done["ended"] >= 1 and done["left"] == 0, done
    assert first.pid not in ownerless(someone)

    assert neighbour.step("echo on")["observation"] == "on\n"
    assert neighbour.end() == 0
    wait_until_gone()
    counts["sandboxes ended by gc"] += 1


@pytest.mark.xdist_group("gc")
def test_gc_says_what_keeps_a_sandbox_alive(fumehood, tmp_path):
    """An agent of another sandbox holds the kernel's lock of a pipe that both have."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "pipe").chmod(0o666)
    tmp_path.chmod(0o755)
    door, other = (fumehood.door("lines", "--bind", f"{tmp_path}:/shared") for _ in range(2))
    for each in (door, other):
        assert "observation" in each.ask(op="reset")
    assert door.step("exec 7<>/shared/pipe; sleep 1000 & echo on")["observation"] == "on\n"
    hold(other, "/shared/pipe")
    (first,) = inits_of(door)
    door.kill()
    done = fumehood("sandbox", "gc", "--json", status=1)
    assert json.loads(done.stdout)["left"] == 1 and Path(f"/proc/{first.pid}").exists()
    assert "Another sandbox holds the lock of a pipe or socket" in done.stderr
    other.kill()
    wait_until_gone()


def other_group() -> Path | None:
    """Makes a control group in which no process is. None: this user can't make one."""
    tops = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))
    top = next((top for top in tops if (top / "cgroup.procs").exists()), None)
    group = top and top / f"other-{os.getpid()}"
    try:
        if group:
            group.mkdir()
    except OSError:
        return None
    return group


def test_gc_removes_groups_of_another_place(fumehood):
    """The owner ran in a control group that the caller of gc is not in."""
    group = other_group()
    if not group:
        pytest.skip("control groups can't be made here")
    gone = subprocess.Popen("true")
    gone.wait()
    stale = group / f"fumehood-run-0-{gone.pid}-1"
    started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    alive = group / f"fumehood-run-0-{os.getpid()}-{started}"
    for folder in (stale / "ep0", alive):
        folder.mkdir(parents=True)

    fumehood("sandbox", "gc")
    left = {folder.name for folder in group.iterdir() if folder.is_dir()}
    alive.rmdir()
    group.rmdir()
    assert left == {alive.name}
