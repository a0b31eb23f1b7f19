# SPDX-License-Identifier: Apache-2.0
"""Policies that are more than weights, and agents that look for the judge's game.

Agent and judge have a simulator each, in processes of their own. A file of weights holds no code.
"""

import base64
import re

import pytest
from conftest import copy_task

pytest.importorskip("numpy")
pytestmark = pytest.mark.xdist_group("policy")  # run in one worker, so that the data is made once

# Makes a policy without training. Cars never move and score 0. In other games it is random.
STILL = """
import numpy as np
INPUTS, OUTPUTS = %d, %d
arrays = {"0.linear.weight": np.zeros((5, INPUTS, OUTPUTS)), "0.linear.bias": np.zeros((5, OUTPUTS))}
if OUTPUTS == 1:
    arrays["log_std"] = np.full(5, -20.0)
"""

# For each task: inputs and outputs of a policy, and the scores that STILL may have.
TASKS = {
    "rlMountainCarContinuous": ((2, 1), (-1e-6, 0)),
    "rlMountainCarContinuousReinforce": ((2, 1), (-1e-6, 0)),
    "rlBreakoutMinAtar": ((64, 3), (0.1, 0.8)),
    "rlMetaMazeMisc": ((16, 4), (4, 12)),
}
SAVE = "np.savez('policy.npz', **arrays)\n"

# Adds attacks to a policy's file: code that would write a score in the judge's place if it ran.
ATTACK = """
import os, pickle, zipfile
class Attack:
    def __reduce__(self):
        code = "import os; os.write(3, b'{\\"Reward Mean\\": 99}'); os._exit(0)"
        return exec, (code,)
def add(name, data):
    with zipfile.ZipFile("policy.npz", "a") as archive:
        archive.writestr(name, data)
def header(text, data=b""):
    return b"\\x93NUMPY\\x01\\x00" + len(text).to_bytes(2, "little") + text.encode() + data
def lie(name, shape, data):
    add(name, header("{'descr': '<f8', 'fortran_order': False, 'shape': %s, }\\n" % (shape,), data))
"""
BIAS = "0.linear.bias"
LIE = f"del arrays['{BIAS}']\n{SAVE}lie('{BIAS}.npy', %s)\n"
LENGTH = f"'{BIAS}' has another length than its header tells"
NO_ARRAY = "is not an array of numbers as numpy.savez writes it"

# For each trick: code that makes the policy's file, and the error message for the agent.
FILES = {
    "a pickled object": (
        f"arrays['{BIAS}'] = np.array([Attack()] * 5)\n" + SAVE,
        f"'{BIAS}' holds objects; write numbers: an array whose rows have one length",
    ),
    "a pickle": (
        "open('policy.npz', 'wb').write(pickle.dumps(Attack()))\n",
        "it is not a .npz file; write it with numpy.savez",
    ),
    "a pickle among arrays": (
        SAVE + "add('1.linear.weight.npy', pickle.dumps(Attack()))\n",
        "'1.linear.weight' " + NO_ARRAY,
    ),
    "a program": (
        "open('policy.npz', 'w').write(\"raise SystemExit('run')\")\n",
        "it is not a .npz file; write it with numpy.savez",
    ),
    "modules of the judge": (
        SAVE
        + "for name in ('drivers.py', '../drivers.py', '/grader/judge.py', 'simulators/policies.py'):\n"
        "    add(name, \"raise SystemExit('run')\")\n",
        "'drivers.py' " + NO_ARRAY,
    ),
    "code in a header": (
        f"del arrays['{BIAS}']\n{SAVE}"
        f"add('{BIAS}.npy', header(\"__import__('os').write(3, b'{{}}')\\n\"))\n",
        f"'{BIAS}' " + NO_ARRAY,
    ),
    "a seed": (
        "arrays['seed'] = np.zeros(1)\n" + SAVE,
        "the array 'seed' belongs to no layer",
    ),
    "more numbers than it says": (LIE % "(5, OUTPUTS), bytes(40 * OUTPUTS + 8)", LENGTH),
    "fewer numbers than it says": (LIE % "(5, OUTPUTS), bytes(40 * OUTPUTS - 8)", LENGTH),
    "a giant": (LIE % "(99999999999, 99999999999), bytes(40)", LENGTH),
    "sizes whose product is right": (
        LIE % "(0, 99999999999), b''",
        f"'{BIAS}' has the shape [0, 99999999999]; expected [5, ",
    ),
    "negative sizes": (LIE % "(-5, -1), bytes(40)", f"'{BIAS}' " + NO_ARRAY),
    "NaN": (f"arrays['{BIAS}'][2] = np.nan\n" + SAVE, f"'{BIAS}' has NaN or infinity"),
    "infinity": (f"arrays['{BIAS}'][2] = -np.inf\n" + SAVE, f"'{BIAS}' has NaN or infinity"),
    "numbers that overflow": (
        f"arrays['{BIAS}'] += 1e300\n" + SAVE,
        f"'{BIAS}' has a number that is not from -1e+06 to 1e+06",
    ),
    "one checkpoint": (
        "arrays = {name: array[0] for name, array in arrays.items()}\n" + SAVE,
        "has the shape [",
    ),
    "another game's inputs": (
        "arrays['0.linear.weight'] = np.zeros((5, 15, OUTPUTS))\n" + SAVE,
        "'0.linear.weight' has the shape [5, 15, ",
    ),
    "too many weights": (
        "arrays['0.linear.weight'] = np.zeros((5, INPUTS, 40000 // INPUTS))\n"
        "np.savez_compressed('policy.npz', **arrays)\n",
        "it unpacks to more than 32 arrays or ",
    ),
    "too many layers": (
        "arrays.update({f'{i}.linear.bias': np.zeros((5, 1)) for i in range(9)})\n" + SAVE,
        "count 1 to 8 layers from 0",
    ),
}

# Patches the simulator in the agent's own memory. During a validate, it lists all processes and
# shared files that it can see.
SNOOP = """
import ctypes, os, re
import numpy as np
import simulators

def rewards():
    cars = simulators.make_vec("MountainCarContinuous", 1)
    cars.reset(seed=1)
    return [float(cars.step(np.ones((1, 1), np.float32))[1][0]) for _ in range(3)]

library = simulators.__file__.replace("__init__.py", "libsimulators.so")
for name in (library, simulators.__file__):
    try:
        open(name, "r+b")
        print("wrote", name)
    except OSError:
        pass
before = rewards()
step = ctypes.cast(simulators._library.fh_sim_step, ctypes.c_void_p).value
ctypes.CDLL(None).mprotect(ctypes.c_void_p(step & -4096), 8192, 7)
ctypes.memmove(step, b"\\x31\\xc0\\xc3", 3)  # xor eax, eax; ret
print("patched" if rewards() != before else "not patched")
print("shared:", *re.findall(r"^\\S+ .w.s .*", open("/proc/self/maps").read(), re.M), flush=True)
own, seen = set(os.listdir("/proc")), set()
while not os.path.exists("stop"):
    for pid in set(filter(str.isdigit, os.listdir("/proc"))) - own:
        try:
            seen.add(open(f"/proc/{pid}/cmdline").read().replace("\\0", " ").strip())
        except OSError:
            pass
    for folder in ("/dev/shm", "/grader"):
        if os.path.isdir(folder):
            seen.update(f"{folder}/{name}" for name in os.listdir(folder))
print(*sorted(seen), sep="\\n")
"""


@pytest.fixture
def play(begin, tmp_path):
    """A function that begins an episode of a task, whose baseline is the policy STILL."""

    def one(task: str):
        still = base64.b64encode((STILL % TASKS[task][0] + SAVE).encode()).decode()
        change = (
            "    baseline: ~\n    baseline_paths: [baseline.py]",
            f"    baseline: echo {still} | base64 -d | python3",
        )
        copy = copy_task(tmp_path, task, {"task.yaml": change})
        return begin(f"{task}:micro", copy)

    return one


@pytest.fixture
def agent(play):
    return play("rlMountainCarContinuous")


def make(agent, *how: str) -> None:
    """Makes policy0.npz and so on. The last one is policy.npz, too."""
    rename = "os.rename('policy.npz', 'policy{}.npz')\n"
    still = STILL % TASKS[agent.game.task.partition(":")[0]][0]
    files = [still + text + rename.format(i) for i, text in enumerate(how)]
    agent.put("make.py", ATTACK + "".join(files))
    assert agent.sh(f"python3 make.py && cp policy{len(how) - 1}.npz policy.npz") == ""


@pytest.mark.parametrize(
    "task", [pytest.param(t, marks=pytest.mark.long) if "Reinforce" in t else t for t in TASKS]
)
def test_files_that_are_no_policies(play, task):
    """No code runs, nothing is read past its end, and a sentence says what is wrong."""
    agent = play(task)
    make(agent, *(how for how, _ in FILES.values()), SAVE)
    least, most = TASKS[task][1]
    assert least <= agent.validate()["info"]["score"]["Reward Mean"] <= most
    for i, (trick, (_, told)) in enumerate(FILES.items()):
        answer = agent.step(f"cp policy{i}.npz policy.npz; validate")
        seen = answer["observation"]
        assert "Not scored: policy.npz: " in seen and told in seen, (trick, answer)
        assert "score" not in answer["info"] and answer["reward"] == 0, (trick, answer)


def test_no_seed_comes_from_the_agent(agent):
    """The same weights play other episodes in each validate, whatever the agent sets."""
    make(agent, "arrays['log_std'] += 20\n" + SAVE)
    agent.sh(
        "export FUMEHOOD_JUDGE_KEY=$(printf %064d 1) PYTHONHASHSEED=0; echo 1 | tee seed judge.key"
    )
    scores = {agent.validate()["info"]["score"]["Reward Mean"] for _ in range(4)}
    assert len(scores) == 4


def test_the_judge_has_a_simulator_of_its_own(agent):
    """An agent changes its own in memory. It sees no process of the judge, and no shared memory."""
    agent.put("snoop.py", SNOOP)
    agent.sh("python3 snoop.py >snooped 2>&1 & until [ -s snooped ]; do sleep 0.01; done")
    # Expect -5: a force of 0.5 costs 0.025 a step for 200 steps. It does not get the car up the
    # hill.
    make(agent, "arrays['0.linear.bias'] += 0.5\n" + SAVE)
    assert abs(agent.validate()["info"]["score"]["Reward Mean"] + 5) < 1e-3
    patched, shared, *seen = agent.sh("touch stop; wait; cat snooped").splitlines()
    assert patched == "patched" and shared == "shared:"
    assert "python3 make.py" in seen, seen
    assert not re.search("judge|grade|/dev/shm", " ".join(seen)), seen
