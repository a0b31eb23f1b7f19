# SPDX-License-Identifier: Apache-2.0
"""The package mini-swe-agent, unmodified, plays in a sandbox without network."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pages

ROOT = Path(__file__).resolve().parents[2]


def bash(number: int, command: str) -> dict:
    use = {"id": f"c{number}", "name": "bash", "arguments": {"command": command}}
    return {"text": "So.", "uses": [use]}


def test_an_episode(tmp_path):
    (command,) = (w[-1] for w in pages.commands("agents.md", "fumehood") if " mini " in w[-1])
    turns = [
        bash(1, "cp zeros.csv submission.csv; id -un"),
        bash(2, "validate"),
        bash(3, "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
    ]
    (tmp_path / "script.json").write_text(json.dumps({"m": {"turns": turns}}))
    server = subprocess.Popen(
        [sys.executable, ROOT / "tests/servers/llm.py", tmp_path / "script.json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
    words = ["run", "--task", "rows", "--tasks-dir", ROOT / "tests/tasks", "--model", "openai:m"]
    words += ["--url", url, "--out", tmp_path / "out", "--python", sys.prefix, "--json", "-q"]
    done = subprocess.run(
        [os.environ["FUMEHOOD"], *words, "--agent-command", command],
        env=os.environ | {"FUMEHOOD_STATE": str(tmp_path / "state"), "OPENAI_API_KEY": "sk-secret"},
        capture_output=True,
        text=True,
        check=False,
    )
    server.stdin.close()
    server.wait()
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    record = Path(result["trajectory"]).read_text()
    assert result["exit_status"] == "submitted" and result["scores"] == 2 * [{"accuracy": 0.5}], (
        record
    )
    assert result["api_calls"] == 3 and "sk-secret" not in record
    history = json.loads(record)["history"]
    assert [h["role"] for h in history] == ["system", *3 * ["user", "assistant"]]
    assert "Write the sign of each row" in history[1]["content"]
    assert "agent" in history[3]["content"] and "cp zeros.csv" in history[2]["action"]
