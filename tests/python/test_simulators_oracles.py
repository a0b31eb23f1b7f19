# SPDX-License-Identifier: Apache-2.0
"""Our simulators beside gymnasium, MinAtar and gymnax, where these are installed.

They need not be: tests/unit/test_simulators_oracles.c replays recordings of them. To install them:

    python3 -m venv ENV && ENV/bin/pip install pytest gymnasium==1.4.0 MinAtar==1.0.15 gymnax==0.0.9
    ENV/bin/python -m pytest tests/python/test_simulators_oracles.py
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("FUMEHOOD", ROOT / "build/fumehood")).parent

sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests/oracle")]
import oracles  # noqa: E402

# For each reference simulator: the packages that it needs, and how many steps to compare. gymnax
# takes a millisecond for each step.
NEEDS = {
    "car-gymnasium": ({"gymnasium": "1.4.0", "numpy": "2."}, 100_000),
    "car-gymnax": ({"gymnax": "0.0.9"}, 10_000),
    "breakout-minatar": ({"MinAtar": "1.0.15"}, 100_000),
    "breakout-minatar-sticky": ({"MinAtar": "1.0.15"}, 100_000),
    "breakout-gymnax": ({"gymnax": "0.0.9"}, 10_000),
    "maze-gymnax": ({"gymnax": "0.0.9"}, 20_000),
}


def check_installed(package: str, wanted: str) -> None:
    try:
        found = version(package)
    except PackageNotFoundError:
        pytest.skip(f"{package} {wanted} is not installed")
    if not found.startswith(wanted):
        pytest.skip(f"{package} is {found}, and the simulators follow {wanted}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", oracles.ORACLES)
def test_a_simulator_does_as_its_oracle(name: str) -> None:
    packages, n = NEEDS[name]
    for package, wanted in packages.items():
        check_installed(package, wanted)
    ends = walls = 0
    for step in oracles.lockstep(oracles.ORACLES[name](), n):
        ends += step.terminated
        walls += step.observation[0] == np.float32(-1.2) if name.startswith("car") else 1
    assert ends > 10
    assert walls > 10
