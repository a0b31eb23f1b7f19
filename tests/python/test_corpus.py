# SPDX-License-Identifier: Apache-2.0
"""Records that are damaged are counted, and the others are compared."""

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEP = {
    "state": '{"open_file": "n/a", "working_dir": "/home/agent/workspace"}',
    "response": "r",
    "thought": "t",
    "action": "ls\n",
    "execution_time": 0.1,
    "observation": "x",
}


def record(**changes) -> str:
    return json.dumps({"trajectory": [STEP | changes], "history": []})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100000,
        '{"trajectory": 7}',
        '{"trajectory": ["x"], "history": []}',
        '{"trajectory": [{"state": 7}], "history": []}',
        record(action=7),
        record(observation=[1]),
    ],
)
def test_a_damaged_record(tmp_path, text):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "rows.traj").write_text(text)
    (tmp_path / "rows.traj").write_text(record(action="cd /tmp"))
    done = subprocess.run(
        [ROOT / "tests/corpus/run", "--json", tmp_path],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "a/rows.traj: it can't be played again: " in done.stderr
    checks = json.loads(done.stdout)["checks"]
    assert checks["damaged"]["different"] == 1 and checks["round_trip"]["different"] >= 1
