# SPDX-License-Identifier: Apache-2.0
"""The tutorial's and the protocol's pages: their commands run, and every field is described."""

import getpass
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PATIENCE_S, ROOT

sys.path.append(str(ROOT / "tests/clean"))
import readme

DOCS = ROOT / "docs"
SUBMITS = {"gpt-4o-mini": {"turns": [{"text": "So.\n```\npython3 baseline.py && submit\n```\n"}]}}


@pytest.fixture
def model_server(tmp_path):
    """Address of a server that takes the language model's place."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SUBMITS))
    pipe = subprocess.PIPE
    words = [sys.executable, ROOT / "tests/servers/llm.py", script]
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as server:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        server.stdin.close()


def write_files(page: str, folder: Path) -> None:
    """Writes the blocks of a page after a line with a path."""
    for path, text in re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", page, re.M | re.S):
        (folder / path).write_text(text)


@pytest.mark.parametrize("page", ["tutorial", "protocol", "first-task"])
def test_the_commands_of_a_page(fumehood, model_server, page):
    folder = fumehood.folder / "clone"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "build").symlink_to(Path(fumehood.program).parent)
    for name in ("examples", "tasks", "datasets"):
        (folder / name).symlink_to(ROOT / name)
    user = getpass.getuser()
    before, played = "", 0
    for session in readme.sessions(DOCS / f"{page}.md"):
        for example in session:
            command = example.command
            done = subprocess.run(
                ["bash", "-c", before + command],
                cwd=folder,
                env={**fumehood.env, "OPENAI_BASE_URL": model_server, "USER": user},
                input=example.typed,
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
            )
            assert done.returncode == 0, (command, done.stdout, done.stderr)
            why = readme.difference(example.shown, done.stdout, user)
            assert not why, (command, why)
            if command.startswith("cp "):
                write_files((DOCS / f"{page}.md").read_text(), folder)
            if command.startswith("export "):
                before += command + " && "
            played += 1
    assert played == len(re.findall(r"^\$ ", (DOCS / f"{page}.md").read_text(), re.MULTILINE)) > 0


def test_the_tutorial_begins_as_the_readme_does():
    assert readme.blocks(DOCS / "tutorial.md")[0] == readme.blocks(ROOT / "README.md")[0]


def table(text: str, heading: str) -> set[str]:
    """Names in the first column of the table after this text."""
    rows = text.split(heading, 1)[1].split("\n\n", 1)[0]
    return {
        name for row in rows.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])
    }


def test_the_protocol_s_page_has_every_field(fumehood):
    requests = [
        {"op": "step", "action": "ls"},
        {"op": "reset", "seed": 0},
        {"op": "dance"},
        {"op": "step"},
        {"op": "step", "action": "validate", "timeout_s": 9},
        {
            "op": "step",
            "action": "rm -f submission.csv; ln -s /etc/passwd submission.csv; validate",
        },
        {"op": "step", "action": "rm submission.csv; python3 baseline.py; submit"},
        {"op": "step", "action": "ls"},
        {"op": "close"},
    ]
    lines = "no json\n" + "".join(json.dumps(r) + "\n" for r in requests)
    words = ("env", "--task", "titanicSurvival:micro", "--data-seed", 1)
    shown = fumehood(*words, input=lines).stdout
    answers = [json.loads(line) for line in shown.splitlines()]
    assert answers.pop() == {"closed": True}
    text = (DOCS / "protocol.md").read_text()
    steps = [a for a in answers if "error" not in a]
    assert table(text, "| member | of | |\n") == {name for a in steps for name in a}
    infos = {name for a in steps for name in a["info"]}
    # Add "final" to the found members: only tasks with `grader.final` have it, see test_final.py.
    assert table(text, "| member of `info` | |\n") == infos | {"final"}
    codes = {a["error"]["code"] for a in answers if "error" in a}
    assert table(text, "| `code` | |\n") == codes | {"too_long", "failed", "not_opened"}


def test_the_client_is_short_and_scores(fumehood):
    client = ROOT / "examples/client.py"
    assert len(client.read_text().splitlines()) <= 30
    words = [sys.executable, client, fumehood.program]
    shown = subprocess.run(words, env=fumehood.env, capture_output=True, text=True, check=True)
    assert re.search(r"Evaluation Score: \{'accuracy': 0\.[56789]\d*\}", shown.stdout)
    assert re.fullmatch(r"reward -?0\.\d{3}", shown.stdout.splitlines()[-1])
    done = subprocess.run([*words, "noTask"], env=fumehood.env, capture_output=True, check=False)
    assert done.returncode != 0 and b"\nRuntimeError: no task 'noTask'; " in done.stderr
