# SPDX-License-Identifier: Apache-2.0
"""An installed copy works by itself, and agents can't see its tasks though it lies in /opt."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def prefix(program: str) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root may install into /opt, which sandboxes see")
    build = Path(program).resolve().parent
    root = tempfile.mkdtemp(prefix="fumehood-test-", dir="/opt")
    os.chmod(root, 0o755)
    try:
        subprocess.run(
            ["meson", "install", "-C", build, "--no-rebuild", "--quiet"],
            env={**os.environ, "DESTDIR": root},
            check=True,
        )
        yield next(Path(root).glob("**/bin/fumehood")).parent.parent
    finally:
        shutil.rmtree(root)


def test_an_installed_copy_plays_a_task(prefix: Path, tmp_path: Path) -> None:
    out = subprocess.run(
        [prefix / "bin/fumehood", "run", "--task", "titanic:micro", "--model", "demo"]
        + ["--out", tmp_path, "--json"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert json.loads(out.splitlines()[-1])["exit_status"] == "submitted"


def test_its_hidden_files_do_not_exist_for_agents(prefix: Path) -> None:
    hidden = prefix / "share/fumehood/tasks/titanic"
    assert hidden.is_dir()
    shown = subprocess.run(
        [prefix / "bin/fumehood", "sandbox", "exec", "--"]
        + ["sh", "-c", f"ls -d {prefix}/bin; ls {hidden}; find {prefix} -name solve.py"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert shown.split() == [f"{prefix}/bin"]
