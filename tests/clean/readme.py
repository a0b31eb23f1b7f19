# SPDX-License-Identifier: Apache-2.0
"""Reads the code blocks of README.md, and compares the output that they show with real output.

Numbers that differ between machines are not compared. These have a fraction (times, scores of
generated data), a sign (differences), or five digits and more (sizes). Real output may have null in
their place. `[...]` stands for anything.
"""

import re
from dataclasses import dataclass
from pathlib import Path

VARIES = re.compile(r"[-+]\d+(?:\.\d+)?|\d+\.\d+|\d{5,}")
ANYTHING = "[...]"


@dataclass
class Example:
    """A command of a block, the lines typed into it, and the output that the README shows."""

    command: str
    typed: str
    shown: list[str]


def blocks(readme: Path, language: str = "") -> list[str]:
    """Content of the fenced blocks of a language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", readme.read_text(), re.MULTILINE | re.DOTALL)
    return [block for of, block in found if of == language]


def sessions(readme: Path) -> list[list[Example]]:
    """Examples of each block that begins with a prompt."""
    return [examples(block) for block in blocks(readme) if block.startswith("$ ")]


def examples(block: str) -> list[Example]:
    found: list[Example] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Example(line[2:], "", []))
        elif line.startswith('{"op":'):
            found[-1].typed += line + "\n"
        else:
            found[-1].shown.append(line)
    return found


def pattern(line: str) -> str:
    """A line of the README as a regular expression. Any width of blanks matches."""
    parts = []
    for part in re.split(rf"(\s*{re.escape(ANYTHING)}\s*|{VARIES.pattern}|\s+)", line.rstrip()):
        if part.strip() == ANYTHING:
            parts.append(".*")
        elif VARIES.fullmatch(part):
            parts.append(rf"(?:{VARIES.pattern}|null)")
        elif part.isspace():
            parts.append(r"\s+")
        else:
            parts.append(re.escape(part))
    return "".join(parts)


def difference(shown: list[str], printed: str, user: str) -> str:
    """Describes the first line that differs from the README; '' if none. Skips our warnings."""
    lines = [line for line in printed.splitlines() if not line.startswith("fumehood: ")]
    for i, line in enumerate(shown):
        expected = line.replace("trajectories/you/", f"trajectories/{user}/")
        got = lines[i] if i < len(lines) else "(nothing)"
        if not re.fullmatch(pattern(expected), got.rstrip()):
            return f"README.md shows\n  {line}\nand this was printed:\n  {got}"
    if shown and len(lines) > len(shown):
        return f"README.md does not show\n  {lines[len(shown)]}"
    return ""
