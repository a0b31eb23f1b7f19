# SPDX-License-Identifier: Apache-2.0
"""Sandboxes whose PID 1 can't end them: it is stopped, or sleeps in the kernel on a lock that an agent holds.

Nothing of such a one is left: their nursery ends it, or where that was killed, too, `sandbox gc`.
"""

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
    GONE_S,
    Fumehood,
    Process,
    children,
    counts,
    descendants,
    notes,
    wait_until_gone,
)

IDS = 65534  # subordinate ones that an ordinary user needs


# A process of the agent's that holds the lock of a file for good.
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
    """Its PID 1 closes the pipe as it ends, having read nothing from it."""
    hold(door, "/run/fumehood/validate")


def hold_answer(door, first) -> None:
    """Its PID 1 is to put the answer of a call in the place of this file."""
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
    """One that may make sandboxes."""
    for line in Path("/etc/subuid").read_text().splitlines():
        name, _, count = line.split(":")
        known = subprocess.run(["id", "-u", name], capture_output=True, check=False)
        if int(count) >= IDS and known.returncode == 0 and name != "root":
            return name
    return None


class As(Fumehood):
    """The program as another user, with a state folder of his."""

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
    (first,) = inits_of(door)
    return door, first


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


@pytest.mark.parametrize("way", WAYS)
def test_episode_is_closed(fumehood, way):
    """Its owner lives, and goes on to the next one."""
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


# --- gc ---------------------------------------------------------------------------------------------


def leftovers_check(someone) -> dict:
    checks = json.loads(someone("doctor", "--json", status=None).stdout)["checks"]
    (check,) = [c for c in checks if c["name"] == "leftovers"]
    return check


def ownerless(someone) -> list[int]:
    """Root sees everyone's."""
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
    os.kill(nursery_of(neighbour).pid, signal.SIGKILL)  # its owner lives: it is none
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
