# SPDX-License-Identifier: Apache-2.0
"""A gym keeps the layers of a limited number of data seeds."""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

pytest.importorskip("fumehood._core", reason="the build has no Python extension")

import fumehood  # noqa: E402

KEPT = 64  # data seeds that a gym keeps though no environment uses them
ROWS = Path(__file__).resolve().parents[1] / "tasks" / "rows"
MAKE = "import os\nopen('key.txt', 'w').write(os.environ['FUMEHOOD_DATA_KEY'])\n"


@pytest.fixture
def task(tmp_path):
    """A task with made data that opens fast."""
    folder = tmp_path / "seeds"
    shutil.copytree(ROWS, folder)
    (folder / "datasets").mkdir()
    (folder / "datasets" / "keys.yaml").write_text(
        "name: Keys\ndescription: x\nmake: {program: make.py}\nfiles: [{path: key.txt}]\n"
    )
    (folder / "make.py").write_text(MAKE)
    text = (ROWS / "task.yaml").read_text().replace("id: rows", "id: seeds")
    text = text[: text.index("variants:")]
    (folder / "task.yaml").write_text(f"{text}dataset_configs: [keys]\n")
    return str(folder)


def nurseries() -> dict[int, set[str]]:
    """The nurseries, which are children of this process, with the names of their layers."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid():
                found[int(stat.parent.name)] = set(os.listdir(stat.parent / "root" / "layers"))
        except OSError:
            continue
    return found


def layers() -> set[str]:
    return set().union(*nurseries().values())


def key_of(gym, task, seed):
    with fumehood.Env(task, gym=gym, data_seed=seed) as env:
        env.reset()
        return env.step("cat data/key.txt").observation


def test_unused_data_seeds_are_dropped(task, tmp_path):
    with fumehood.Gym(state_dir=str(tmp_path / "state")) as gym:
        held = fumehood.Env(task, gym=gym, data_seed=1000)
        held.reset()
        none = key_of(gym, task, 0)
        before = layers()
        if not before:
            pytest.skip("the nursery's files can't be seen")
        keys = [key_of(gym, task, seed) for seed in range(1, KEPT + 7)]
        assert len({none, *keys}) == KEPT + 7
        # The last one was closed after the last drop.
        until = time.monotonic() + 10
        while len(layers() - before) > KEPT + 1 and time.monotonic() < until:
            time.sleep(0.02)
        kept = layers()
        assert len(kept - before) <= KEPT + 1 and before <= kept
        assert held.step("cat data/key.txt").exit_code == 0
        # A dropped data seed comes back with the same data.
        assert key_of(gym, task, 1) == keys[0] and key_of(gym, task, 0) == none
        # A new nursery gets only the layers that were kept.
        for pid in nurseries():
            os.kill(pid, signal.SIGKILL)
        assert key_of(gym, task, 2) == keys[1] and key_of(gym, task, 0) == none
        assert len(layers() - before) <= KEPT + 1 and before <= layers()
        held.reset()
        assert held.step("cat data/key.txt").exit_code == 0
        held.close()
