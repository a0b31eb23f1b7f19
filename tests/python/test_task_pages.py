# SPDX-License-Identifier: Apache-2.0
"""Each task has a page that tells all of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, describe_data

PROGRAM = os.environ.get("FUMEHOOD", str(ROOT / "build/fumehood"))
TASKS = sorted(path.parent for path in ROOT.glob("tasks/*/task.yaml"))
# Finds a link to another task's page. Pages with such a link don't repeat what that page tells.
SHORT = re.compile(r"\[(\w+)\]\(\.\./\1/README\.md\)")


def page_of(task: Path) -> str:
    return (task / "README.md").read_text()


def test_pages_are_up_to_date() -> None:
    command = [ROOT / "scripts/task-pages", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_page_of_a_task_that_has_its_data_sets_beside_it(tmp_path: Path) -> None:
    text = (ROOT / "docs/first-task.md").read_text()
    home = tmp_path / "tasks/towers"
    for folder in (home / "datasets", tmp_path / "docs", tmp_path / "scripts"):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / "docs/published.csv", tmp_path / "docs")
    script = shutil.copy(ROOT / "scripts/task-pages", tmp_path / "scripts")
    for name in ("task.yaml", "datasets/towers.yaml"):
        (home / name).write_text(text.split(f"`towers/{name}`:\n\n```yaml\n")[1].split("```")[0])
    (home / "README.md").write_text("# towers\n")
    subprocess.run([script], check=True)
    assert "| data | Towers (`towers`), made from the machine's key |" in page_of(home)


@pytest.mark.parametrize("task", TASKS, ids=lambda path: path.name)
def test_a_page_is_complete(task: Path) -> None:
    text = page_of(task)
    assert text.startswith(f"# {task.name}\n")
    words = ["## In numbers\n", "## Files\n", "- comparable: "]
    if not SHORT.search(text):
        words += ["baseline", "solution"]
        variants = yaml.safe_load((task / "task.yaml").read_text()).get("variants", {})
        words += ["leaves out"] if "micro" in variants else []
    assert not [word for word in words if word not in text]


@pytest.mark.parametrize("task", TASKS, ids=lambda path: path.name)
def test_what_a_page_names_exists(task: Path) -> None:
    text = page_of(task)
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert link.startswith("https:") or (task / link).exists(), link
    files = text.partition("## Files\n")[2]
    for name in re.findall(r"^- (.+?):", files, re.MULTILINE):
        for path in re.findall(r"`([^`]+)`", name):
            assert (task / path).exists() or (ROOT / path).exists(), path
    for name in re.findall(r"fumehood data fetch (\w[\w-]*)", text):
        assert name == task.name or "fetch" in describe_data(name), name


@pytest.mark.parametrize("task", TASKS, ids=lambda path: path.name)
def test_a_page_and_task_show_say_the_same_of_published_scores(task: Path) -> None:
    """Both come from task.yaml. A page states no published score beside the written part."""
    own, written = re.split(r"<!-- from task\.yaml.*?-->", page_of(task), maxsplit=1)
    assert not re.search(r"[Pp]ublished(:| is) -?\d|comparable: ", own)
    words = " ".join(written.split())
    for variant in ("full", "micro"):
        command = [PROGRAM, "task", "show", f"{task.name}:{variant}", "--json"]
        shown = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        answer = "yes" if shown["published"]["comparable"] else "no"
        assert f"- comparable: {answer} for `{variant}`. {shown['published']['why']}" in words
        for metric, score in shown["baseline_scores"].items():
            assert f"`{metric}` {score:,.10g}" in written
