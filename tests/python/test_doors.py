# SPDX-License-Identifier: Apache-2.0
"""Each ecosystem's own packages play our environments, in a virtual environment of their own.

tests/doors/NAME.txt has the packages of an ecosystem, and tests/doors/test_NAME.py its tests.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOORS = sorted(path.stem for path in (ROOT / "tests/doors").glob("*.txt"))
PYTHON = "/usr/bin/python3"
# They take about half a minute to install and run; each of the others takes one or more.
LIGHT = ("gymnasium", "mcp", "pandas")
ALL = os.environ.get("DOORS") == "all"
INSTALL_S = 600  # timeout of an installation

pytest.importorskip("fumehood._core", reason="the build has no Python extension")


def environment_of(door):
    """Returns the folder of a virtual environment with the door's packages, made if need be."""
    wanted = (ROOT / f"tests/doors/{door}.txt").read_text()
    folder = ROOT / "build/doors" / f"{door}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}"
    folder.parent.mkdir(exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([PYTHON, "-m", "venv", folder], check=True, capture_output=True)
            pip = [folder / "bin/pip", "install", "--quiet", "--no-compile"]
            pip += ["--retries", "1", "--timeout", "10"]
            for line in wanted.split("\n\n"):  # groups that are installed one after the other
                made = subprocess.run(
                    [*pip, *line.split()],
                    check=False,
                    capture_output=True,
                    text=True,
                    timeout=INSTALL_S,
                )
                if made.returncode != 0:
                    pytest.skip(f"no packages of {door}: {made.stderr.strip().splitlines()[-1]}")
            (folder / "done").touch()
    return folder


@pytest.mark.once
@pytest.mark.parametrize(
    "door", [pytest.param(d, marks=[] if d == DOORS[0] else pytest.mark.long) for d in DOORS]
)
def test_door(door, tmp_path):
    if door not in LIGHT and not ALL:
        pytest.skip("its packages take a minute to install: DOORS=all scripts/test python")
    folder = environment_of(door)
    done = subprocess.run(
        [
            folder / "bin/python",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--tb=short",
            ROOT / f"tests/doors/test_{door}.py",
        ],
        env=os.environ
        | {
            "PYTHONPATH": str(ROOT / "build/python"),
            "PYTHONDONTWRITEBYTECODE": "",  # cache the imported modules, which pip didn't compile
            "PYTHONPYCACHEPREFIX": str(folder / "pycache"),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert re.search(r"\d+ passed", done.stdout)
