# SPDX-License-Identifier: Apache-2.0
"""Each ecosystem's own packages play our environments, in a virtual environment of their own.

tests/doors/NAME.txt has the packages of an ecosystem, and tests/doors/test_NAME.py its tests.
"""

import contextlib
import fcntl
import functools
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
CHOSEN = os.environ.get("DOORS", "")  # "all", or names with commas between them
HEAVY = ("rliable",)  # takes a while
INSTALL_S = 900  # timeout of an installation
TESTS_S = 1200  # timeout of a door's tests
UV = "uv==0.13.9"
BRIEF = ["--retries", "1", "--timeout", "10"]

pytest.importorskip("fumehood._core", reason="the build has no Python extension")


def run(*words, **options):
    """Runs a command. A timeout is a failure like others."""
    words = ["timeout", str(INSTALL_S), *words]
    return subprocess.run(words, check=False, capture_output=True, text=True, **options)


@contextlib.contextmanager
def made_once(folder):
    """Locks a folder, and tells whether it was made before. The caller makes its file `done`."""
    folder.parent.mkdir(exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = (folder / "done").exists()
        if not made:
            shutil.rmtree(folder, ignore_errors=True)
        yield made


@functools.cache
def tools():
    """Returns the folder with the programs pip and, if a package source has it, uv."""
    folder = ROOT / "build/doors/tools"
    with made_once(folder) as made:
        if not made:
            subprocess.run([PYTHON, "-m", "venv", folder], check=True, capture_output=True)
            if run(folder / "bin/pip", "install", "--quiet", *BRIEF, UV).returncode == 0:
                (folder / "done").touch()
    return folder / "bin"


def installers(python):
    """Yields commands that install packages for a Python, and their variables: uv's, then pip's.

    uv takes a twentieth of pip's time. pip is there for sources that uv doesn't know.
    """
    bin_ = tools()
    found = re.findall(r"([\w-]+)='(.*)'", run(bin_ / "pip", "config", "list").stdout)
    names = {"index-url": "UV_DEFAULT_INDEX", "find-links": "UV_FIND_LINKS"}
    env = {names[name]: ",".join(value.split()) for name, value in found if name in names}
    env |= {"UV_HTTP_RETRIES": "1", "UV_HTTP_TIMEOUT": "20"}
    if (bin_ / "uv").exists():
        yield [bin_ / "uv", "pip", "install", "--quiet", "--python", python], env
    yield [bin_ / "pip", "--python", python, "install", "--quiet", "--no-compile", *BRIEF], {}


def environment_of(door):
    """Returns the folder of a virtual environment with the door's packages, made if need be."""
    wanted = (ROOT / f"tests/doors/{door}.txt").read_text()
    folder = ROOT / "build/doors" / f"{door}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}"
    with made_once(folder) as made:
        if made:
            return folder
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", folder], check=True)
        for packages in wanted.split("\n\n"):  # groups that are installed one after the other
            for words, env in installers(folder / "bin/python"):
                done = run(*words, *packages.split(), env=os.environ | env)
                if done.returncode == 0:
                    break
            else:
                why = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
                pytest.skip(f"no packages of {door}: {why}")
        (folder / "done").touch()
    return folder


@pytest.mark.once
@pytest.mark.parametrize(
    "door", [pytest.param(d, marks=[] if d == DOORS[0] else pytest.mark.long) for d in DOORS]
)
def test_door(door, tmp_path):
    if CHOSEN != "all" and (door not in CHOSEN.split(",") if CHOSEN else door in HEAVY):
        pytest.skip("left out: DOORS=all scripts/test python" if not CHOSEN else f"DOORS={CHOSEN}")
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
        timeout=TESTS_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert re.search(r"\d+ passed", done.stdout)
