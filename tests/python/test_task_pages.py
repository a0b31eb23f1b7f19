# SPDX-License-Identifier: Apache-2.0
"""Each task has a page that tells all of it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, describe_data

TASKS = sorted(path.parent for path in ROOT.glob("tasks/*/task.yaml"))
# Finds a link to another task's page. Pages with such a link don't repeat what that page tells.
SHORT = re.compile(r"\[(\w+)\]\(\.\./\1/README\.md\)")


def page_of(task: Path) -> str:
    return (task / "README.md").read_text()


def test_pages_are_up_to_date() -> None:
    command = [ROOT / "scripts/task-pages", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("task", TASKS, ids=lambda path: path.name)
def test_a_page_is_complete(task: Path) -> None:
    text = page_of(task)
    assert text.startswith(f"# {task.name}\n")
    words = ["## In numbers\n", "## Files\n"]
    if not SHORT.search(text):
        words += ["baseline", "solution", "comparable: "]
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
