# SPDX-License-Identifier: Apache-2.0
"""The types of the package `fumehood`, as mypy --strict sees them in a user's program."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fumehood._core", reason="the build has no Python extension")

import fumehood  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

RIGHT = """
import fumehood
from collections.abc import Sequence

with fumehood.Env("T", max_steps=3, reward="none", variables={"A": "b"}) as env:
    step: fumehood.Step = env.reset(seed=0)
    score: dict[str, float] | None = env.step("ls").score
    metric: str = env.info["metric"]
with fumehood.EnvPool(["T"], gpus=1) as pool:
    pairs: Sequence[tuple[int, fumehood.Step]] = pool.recv()
info: fumehood.Info = fumehood.Trajectory.read("record").steps[0].info
accuracy: float = info["score"]["accuracy"]


async def play() -> bytes:
    async with await fumehood.AsyncEnv.open("T", max_steps=3) as env:
        await env.put_file("a", b"")
        return await env.get_file("a")
"""

WRONG = [
    'fumehood.Env("T", max_step=3)',
    'fumehood.Env("T", reward="gold")',
    'fumehood.EnvPool("T", 2, max_step=3)',
    'fumehood.AsyncEnv.open("T", max_step=3)',
    "step._replace(reward=0.0)",
    'env.info["metrics"]',
    'info["scores"]',
    'info["best"]["accuracy"]',
]


def test_info_has_the_members_of_the_page():
    page = (ROOT / "docs/protocol.md").read_text()
    table = page.partition("| member of `info` |")[2].partition("\n\n")[0]
    names = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    members = re.findall(r"`(\w+)`", " ".join(names))
    assert sorted(members) == sorted(fumehood.Info.__annotations__)


def test_mypy_knows_options_and_results(tmp_path):
    if not (ROOT / "build-tools/mypy").is_dir():
        pytest.skip("mypy is not installed")
    text = RIGHT + "\n".join(WRONG) + "\n"
    (tmp_path / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "program.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{ROOT}/build-tools", "MYPYPATH": f"{ROOT}/build/python"},
        capture_output=True,
        text=True,
        check=False,
    )
    first = RIGHT.count("\n") + 1
    lines = {
        int(line.split(":")[1])
        for line in done.stdout.splitlines()
        if line.startswith("program.py:") and ": error:" in line
    }
    assert lines == set(range(first, first + len(WRONG))), done.stdout
