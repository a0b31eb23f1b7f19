# SPDX-License-Identifier: Apache-2.0
"""Tests of full disks, used up inodes, and limits of control groups that are hit."""

import ctypes
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import TASKS, Fumehood, counts

CLONE_NEWNS = 0x00020000


@pytest.fixture(scope="session")
def own_mounts():
    """Enters a new mount namespace, so that other processes don't see the tests' mounts."""
    if os.geteuid() != 0 or ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        pytest.skip("only root can mount a small file system")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


@pytest.fixture
def small(own_mounts, tmp_path):
    """A function that mounts a small file system and returns its folder."""
    mounted = []

    def mount(options: str) -> Path:
        folder = tmp_path / f"small{len(mounted)}"
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "small", folder], check=True)
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(folder: Path) -> Path:
    """Writes a file until the file system is full."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(4096))
        except OSError:
            return path


def use_inodes(folder: Path) -> Path:
    """Makes files until the file system has no inode left."""
    many = folder / "many"
    try:
        many.mkdir()
        for i in range(10000):
            (many / str(i)).touch()
    except OSError:
        return many
    raise AssertionError("the file system has no end")


def error_of(answer: dict) -> str:
    return answer["error"]["message"]


@pytest.mark.parametrize("task", ["sums", "sums:disk"])
def test_records_folder_is_full(fumehood, small, task):
    """A step fails if there is no room for its event, and ends the program.

    The record then has all observations that were given out.
    """
    fumehood.out = small("size=256k")
    door = fumehood.door(task)
    assert "observation" in door.ask(op="reset")
    given = []
    while "observation" in (answer := door.step("seq 2000")):
        given.append(answer["observation"])
    assert "No space left on device" in error_of(answer)
    assert 5 < len(given) < 100
    (run,) = fumehood.out.glob("*_run_*")
    lines = (run / "events.jsonl").read_bytes().split(b"\n")
    events = [json.loads(line) for line in lines[:-1]]
    assert lines[-1] == b"", "half an event was left"
    assert [e["observation"] for e in events if e["event"] == "step"] == given
    assert door.end() == 1
    copy = fumehood.state.parent / "copy"
    shutil.copytree(run, copy)
    fumehood("export", copy)
    shutil.rmtree(copy)
    counts["folders of records filled"] += 1


@pytest.mark.parametrize("take", [fill, use_inodes])
def test_no_room_for_records(fumehood, small, take):
    """A reset fails if there is no room for its record, and ends the program.

    With room again, the next start works.
    """
    fumehood.out = small("size=256k,nr_inodes=40")
    door = fumehood.door("sums")
    taken = take(fumehood.out)
    assert "No space left on device" in error_of(door.ask(op="reset"))
    assert door.end() == 1
    shutil.rmtree(taken) if taken.is_dir() else taken.unlink()
    door = fumehood.door("sums")
    assert "observation" in door.ask(op="reset")
    assert door.step("echo on")["observation"] == "on\n"
    assert door.end() == 0
    counts["folders of records filled"] += 1


@pytest.mark.parametrize("take", [fill, use_inodes])
@pytest.mark.parametrize("task", ["sums", "sums:disk"])
def test_state_folder_is_full(program, small, tmp_path, take, task):
    """A run fails with a sentence if the state folder is full. Partial files do no harm later."""
    fumehood = Fumehood(program, tmp_path)
    fumehood.state = small("size=256k,nr_inodes=40")
    fumehood.env["FUMEHOOD_STATE"] = str(fumehood.state)
    taken = take(fumehood.state)
    told = fumehood("run", "--task", task, "--tasks-dir", TASKS, "--model", "baseline", status=None)
    assert told.returncode != 0
    assert "No space left on device" in told.stderr + told.stdout
    shutil.rmtree(taken) if taken.is_dir() else taken.unlink()
    fumehood("run", "--task", task, "--tasks-dir", TASKS, "--model", "baseline")
    counts["state folders filled"] += 1


FULL = {
    "sums": "head -c 1000000000 /dev/zero >full",
    "sums:few": "mkdir many; for ((i = 0; i < 1000000; i++)); do : >many/$i || break; done",
}


@pytest.mark.parametrize("task", FULL)
def test_episode_is_full(fumehood, task):
    """A command that fills the episode's file system fails. The submission can still be scored."""
    door = fumehood.door(task)
    door.ask(op="reset")
    door.step("cp right.csv submission.csv")
    answer = door.step(FULL[task])
    assert "No space left on device" in answer["observation"]
    assert door.step("echo on")["observation"] == "on\n"
    assert door.step("validate")["info"]["score"] == {"accuracy": 1.0}
    door.step("rm -rf full many")
    assert door.step("echo x >again && cat again")["observation"] == "x\n"
    assert door.end() == 0
    counts["episodes filled"] += 1


# For each limit: a command that hits it, and the outcome of the command's step.
LIMITS = {
    "memory": ("head -c 1G /dev/zero | tail", "memory_limit"),
    "pids": ("(for i in {1..200}; do sleep 5 & done; wait)", None),
}


@pytest.fixture
def groups(fumehood):
    if "no control groups" in fumehood("doctor", status=None).stdout:
        pytest.skip("no control groups on this machine")


@pytest.mark.parametrize("limit", LIMITS)
def test_limit_of_an_episode(fumehood, groups, limit):
    command, outcome = LIMITS[limit]
    door = fumehood.door("sums")
    other = fumehood.door("sums")
    for d in (door, other):
        d.ask(op="reset")
    answer = door.step(command, timeout_s=100)
    if outcome:
        assert answer["info"]["outcome"] == outcome
    else:
        assert "Resource temporarily unavailable" in answer["observation"]
    for d in (door, other):
        assert d.step("echo on")["observation"] == "on\n"
        assert d.step("cp right.csv submission.csv; submit")["info"]["score"] == {"accuracy": 1.0}
        assert d.end() == 0
    counts["limits of episodes met"] += 1


@pytest.mark.parametrize("limit", ["memory", "processes"])
def test_limit_of_a_grader(fumehood, groups, limit):
    """A grader that hits a limit gives no score, and an error. The next submission is scored."""
    door = fumehood.door("lines")
    door.ask(op="reset")
    answer = door.step(f"echo {limit} >lines.txt; validate")
    assert "score" not in answer["info"]
    assert "Not scored" in answer["observation"]
    assert answer["info"]["grade_error"]
    assert door.step("seq 7 >lines.txt; submit")["info"]["score"] == {"lines": 7}
    assert door.end() == 0
    counts["limits of graders met"] += 1
