# SPDX-License-Identifier: Apache-2.0
"""Programs of the docs' pages, for the tests of doors."""

import re
import shlex
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def programs(page: str, package: str) -> list[str]:
    """Returns the Python blocks of a page that import the package: at least one."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)
    found = [b for b in blocks if re.search(rf"^(?:import|from) {package}\b", b, re.M)]
    assert found, f"docs/{page} has no program with {package}"
    return found


def commands(page: str, program: str) -> list[list[str]]:
    """Returns the words of a page's command lines that run the program: at least one."""
    text = (DOCS / page).read_text().replace("\\\n", "")
    found = [shlex.split(line) for line in re.findall(rf"^{program} .*$", text, re.M)]
    assert found, f"docs/{page} has no command line with {program}"
    return found


def run(program: str) -> dict[str, object]:
    """Runs a program as a module of its own. Returns its variables."""
    names: dict[str, object] = {"__name__": "__main__"}
    exec(compile(program, "a page", "exec"), names)
    return names
