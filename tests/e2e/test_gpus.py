# SPDX-License-Identifier: Apache-2.0
"""GPUs: the devices that episodes and sandboxes have.

The tests make null devices with names of NVIDIA's devices, in a /dev of their own.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import TASKS
from test_agent import act, serve  # noqa: F401

DEVICES = """
mount -t tmpfs -o mode=755 none /dev
for device in null=3 zero=5 full=7 random=8 urandom=9 nvidia0=3 nvidia1=3 nvidia2=3 nvidiactl=3; do
    mknod -m 666 "/dev/${device%=*}" c 1 "${device#*=}"
done
mknod -m 666 /dev/tty c 5 0
mknod -m 660 /dev/nvidia7 c 1 3
mkdir /dev/nvidia-caps
mknod -m 666 /dev/nvidia-caps/nvidia-cap1 c 1 3
echo text >/dev/nvidia8
"""
COMMON = {"nvidiactl", "nvidia-caps"}
SHOWN = 'ls /dev | grep nvidia[0-9]; echo "visible: ${CUDA_VISIBLE_DEVICES-none}"'

GRADED = """\
id: graded
name: Graded
description: Write anything to `x`.
metric: {name: gpus, direction: maximize}
starter_code: [starter/]
baseline: cp x y
grader: {kind: script, submission: x, program: grader/count.py, timeout: 20s}
"""
PLAYED = "{kind: duel, submission: x.py, program: grader/ask.py, functions: [count], timeout: 20s}"
COUNT = """\
import json, os
devices = [name for name in os.listdir("/dev") if name.startswith("nvidia") and name[6:].isdigit()]
visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
numbers = {"gpus": len(devices), "visible": len(visible.split(",")) if visible else 0}
os.write(3, json.dumps(numbers).encode())
"""
ASK = """\
import duel

def play(player, numbers):
    (counted,) = player.table("count", 1, lambda answer: True, "numbers").moves()
    return dict(zip(("gpus", "visible"), counted))

duel.judge(play)
"""
PLAYER = COUNT.replace(
    "os.write(3, ", "def count(history):\n    return list(numbers.values())\nprint("
)


@pytest.fixture
def machine(fumehood, tmp_path):
    """The program on a machine with GPUs 0, 1 and 2."""
    if os.geteuid():
        pytest.skip("only root makes devices")
    holder = subprocess.Popen(
        ["unshare", "--mount", "sh", "-ec", DEVICES + "echo stands\nexec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if not holder.stdout.readline():
        pytest.skip(f"no devices can be made here: {holder.communicate()[1]}")
    script = tmp_path / "in-machine"
    inside = 'cd "$1" && shift && exec "$@"'
    enter = f"exec nsenter --mount=/proc/{holder.pid}/ns/mnt"
    words = f"""#!/bin/sh\n{enter} sh -c '{inside}' sh "$PWD" {fumehood.program} "$@"\n"""
    script.write_text(words)
    script.chmod(0o755)
    fumehood.program = str(script)
    yield fumehood
    holder.communicate()


def numbers_in(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"nvidia(\d)", text)]


@pytest.mark.parametrize(
    "words,names",
    [
        ("", set()),
        ("--gpus 1", {"nvidia1"} | COMMON),
        ("--gpus 2,0", {"nvidia0", "nvidia2"} | COMMON),
        ("--gpus 0 --gpus 1", {"nvidia0", "nvidia1"} | COMMON),
    ],
)
def test_a_sandbox_has_its_devices_and_no_other(machine, words, names):
    tried = "for d in /dev/nvidia* /dev/nvidia-caps/*; do [ ! -c $d ] || echo >$d || echo $d; done"
    done = machine("sandbox", "exec", *words.split(), "--", "sh", "-c", f"ls /dev; {tried}")
    assert not done.stderr
    listed = set(done.stdout.split())
    assert {name for name in listed if name.startswith("nvidia")} == names
    assert {"null", "zero", "urandom", "tty", "pts", "shm", "fd", "stdout"} <= listed


def test_devices_stay_as_they_are(machine):
    """An agent can't change devices of GPUs, or make others."""
    tries = ["touch /dev/x", "mknod /dev/y c 1 3", "rm /dev/nvidia0", "chmod 0 /dev/nvidia0"]
    done = machine("sandbox", "exec", "--gpus", "0", "--", "sh", "-c", "; ".join(tries), status=1)
    assert len(done.stderr.splitlines()) == len(tries)


REFUSED = [
    (
        "sandbox exec --gpus x -- true",
        125,
        "--gpus 'x': a GPU is a number, as 0 is for /dev/nvidia0",
    ),
    ("sandbox exec --gpus 255 -- true", 125, "--gpus '255': a GPU is a number"),
    ("sandbox exec --gpus 1,1 -- true", 125, "--gpus names GPU 1 twice"),
    ("sandbox exec --gpus 4 -- true", 125, "there is no GPU 4: no /dev/nvidia4"),
    ("sandbox exec --gpus 8 -- true", 125, "there is no GPU 8: '/dev/nvidia8' is not a device"),
    ("sandbox exec --gpus 7 -- true", 125, "an agent could not open GPU 7: the mode of"),
    ("env --task rows --gpus 4", 2, "there is no GPU 4"),
    ("run --task rows --gpus 4 --gpus-per-agent 1", 2, "there is no GPU 4"),
    (
        "run --task rows --runs 9 --jobs 2 --gpus-per-agent 1 --gpus 0",
        2,
        "2 agents at the same time with 1 GPUs each need 2, but --gpus names 1",
    ),
]


@pytest.mark.parametrize("words,status,sentence", REFUSED)
def test_what_can_not_be_is_one_sentence(machine, words, status, sentence):
    tasks = [] if words.startswith("sandbox") else ["--tasks-dir", TASKS]
    command, *rest = words.split()
    done = machine(command, *([rest.pop(0)] if not tasks else []), *tasks, *rest, status=status)
    assert sentence in done.stderr and done.stderr.count("\n") == 1


def test_a_gpu_is_one_run_s_until_it_ends_however_it_ends(machine):
    words = ["sandbox", "exec", "--gpus", "1", "--", "sh", "-c", "echo stands; exec sleep 60"]
    first = machine.start(*words, stdout=subprocess.PIPE, text=True)
    assert first.stdout.readline() == "stands\n"
    refused = machine("sandbox", "exec", "--gpus", "0,1", "--", "true", status=125)
    assert "not enough GPUs are free (needed: 2, free: 1 of 2)" in refused.stderr
    assert f"GPU 1 is in use by process {first.pid}\n" in refused.stderr
    assert numbers_in(machine("sandbox", "exec", "--gpus", "0", "--", "ls", "/dev").stdout) == [0]
    first.kill()
    first.communicate()
    assert numbers_in(machine("sandbox", "exec", "--gpus", "1", "--", "ls", "/dev").stdout) == [1]


def played(machine, *words) -> list[str]:
    """Observations of the first action of each episode."""
    words = ["--task", "rows", "--model", machine.actions(f"{SHOWN}; sleep 0.5"), *words]
    paths = [done["trajectory"] for done in machine.run_json(*words)]
    told = [json.loads(Path(path).read_text()) for path in paths]
    return [one["trajectory"][0]["observation"] for one in told]


def test_agents_of_a_run_have_gpus_of_their_own(machine):
    shown = played(machine, "--runs", "4", "--jobs", "2", "--gpus-per-agent", "1")
    numbers = [numbers_in(text) for text in shown]
    assert all(
        len(n) == 1 and "visible: 0\n" in text for n, text in zip(numbers, shown, strict=True)
    )
    assert numbers[0] != numbers[1]
    (shown,) = played(machine, "--gpus", "0", "2", "1", "--gpus_per_agent", "2")
    assert numbers_in(shown) == [0, 2] and "visible: 0,1\n" in shown


def test_doctor_tells_of_them(machine, program):
    def told(status=None) -> dict:
        report = json.loads(machine("doctor", "--json", status=status).stdout)
        return next(check for check in report["checks"] if check["name"] == "gpus")

    found = told()
    assert not found["ok"] and not found["required"] and "chmod 666" in found["fix"]
    assert found["detail"].startswith("an agent could not open GPU 7: the mode of '/dev/nvidia7'")
    if not os.path.exists("/dev/nvidia0") and not os.path.exists("/proc/driver/nvidia/version"):
        machine.program = program
        none = told()
        assert none["ok"] and "--gpus finds them as /dev/nvidia0" in none["detail"]


def test_a_replay_has_as_many(machine, program):
    words = ["--task", "rows", "--model", machine.actions(SHOWN), "--gpus-per-agent", "1"]
    (first,) = machine.run_json(*words)
    words = ["replay", "--compare", "--json", "--tasks-dir", TASKS, "--out", machine.out / "again"]
    for gpus, different in (([], 0), (["0"], 0), (["0,1"], 1), (["none"], 1)):
        done = machine(
            *words, *["--gpus", *gpus][: 2 * len(gpus)], first["trajectory"], status=None
        )
        assert json.loads(done.stdout)["different"] == different
    machine.program = program
    if not os.path.exists("/dev/nvidia0"):
        refused = machine(*words, first["trajectory"], status=2).stderr
        assert "the run had 1 GPUs (--gpus none plays it without): there is no GPU" in refused


def test_a_run_that_goes_on_has_as_many(machine, serve):  # noqa: F811
    server = serve([act(SHOWN), [{"status": 500}, act("submit")]])
    machine.env |= {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url + "/v1"}
    words = ("--task", "rows", "--model", "openai:m", "--retries", 0, "--gpus-per-agent", "1")
    (broken,) = machine.run_json(*words, status=1)
    (result,) = machine.run_json("--resume", Path(broken["trajectory"]).parent)
    assert result["exit_status"] == "submission_not_found (submit)"
    (shown, *_) = json.loads(Path(result["trajectory"]).read_text())["trajectory"]
    assert numbers_in(shown["observation"]) == [0]


def test_without_a_number_for_each_nobody_has_any(machine):
    (shown,) = played(machine, "--gpus", "0")
    assert numbers_in(shown) == [] and "visible: none" in shown


def test_env(machine):
    lines = ['{"op":"reset"}', json.dumps({"op": "step", "action": SHOWN})]
    words = ["env", "--tasks-dir", TASKS, "--task", "rows", "--gpus", "1", "2"]
    done = machine(*words, input="\n".join(lines))
    shown = json.loads(done.stdout.splitlines()[1])["observation"]
    assert numbers_in(shown) == [1, 2] and "visible: 0,1\n" in shown


@pytest.mark.parametrize("grader", ["script", "duel"])
@pytest.mark.parametrize("n", [0, 2])
def test_a_grader_has_those_of_its_episode(machine, tmp_path, n, grader):
    task = tmp_path / "tasks/graded"
    for folder in ("starter", "grader"):
        (task / folder).mkdir(parents=True)
    text = GRADED if grader == "script" else re.sub("grader: .*", f"grader: {PLAYED}", GRADED)
    (task / "task.yaml").write_text(text)
    (task / "starter/x").write_text("x\n")
    (task / "starter/x.py").write_text(PLAYER)
    (task / "grader/count.py").write_text(COUNT)
    (task / "grader/ask.py").write_text(ASK)
    words = ["--json", "--task", task, "--out", machine.out, "--gpus-per-agent", n]
    done = json.loads(machine("run", *words, "--model", machine.actions("ls")).stdout)
    assert done["best"] == {"gpus": n, "visible": n}
