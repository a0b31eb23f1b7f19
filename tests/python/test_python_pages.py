# SPDX-License-Identifier: Apache-2.0
"""The Python of the docs' pages runs as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fumehood._core", reason="the build has no Python extension")

DOCS = Path(__file__).resolve().parents[2] / "docs"
PATIENCE_S = 300
# Packages of blocks that tests/doors run.
ELSEWHERE = re.compile(
    r"^(?:import|from) (?:gymnasium|torch|torchrl|verifiers|openenv|mcp)\b", re.M
)


def programs():
    for page in ("python", "rl"):
        text = (DOCS / f"{page}.md").read_text()
        for i, block in enumerate(re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)):
            if not ELSEWHERE.search(block):
                marks = [pytest.mark.long] if "BATCHES" in block else []
                yield pytest.param(block, id=f"{page}-{i}", marks=marks)


@pytest.mark.parametrize("program", programs())
def test_a_block_of_a_page(program, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
