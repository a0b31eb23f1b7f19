# SPDX-License-Identifier: Apache-2.0
"""README.md's code blocks: the commands that it shows, and whether a program printed what it shows.

Numbers that differ from machine to machine are not compared: those with a fraction (scores of made
data, times) and those of five digits or more (sizes), which are null where nothing counts them.
`[...]` stands for anything.
"""

import re
from dataclasses import dataclass
from pathlib import Path

VARIES = re.compile(r"[-+]?\d+\.\d+|\d{5,}")
ANYTHING = "[...]"


@dataclass
class Example:
    """A command of a block, what is typed into it, and the lines that it is shown to print."""

    command: str
    typed: str
    shown: list[str]


def blocks(readme: Path, language: str = "") -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", readme.read_text(), re.MULTILINE | re.DOTALL)


def sessions(readme: Path) -> list[list[Example]]:
    """The blocks that begin with a prompt: a list of examples each, which share a shell."""
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
    """A line of the README as an expression. Columns are as wide as their numbers are."""
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
    """Says where what was printed is not what is shown; '' if nowhere. Warnings may come with it."""
    lines = [line for line in printed.splitlines() if not line.startswith("fumehood: ")]
    for i, line in enumerate(shown):
        expected = line.replace("trajectories/you/", f"trajectories/{user}/")
        got = lines[i] if i < len(lines) else "(nothing)"
        if not re.fullmatch(pattern(expected), got.rstrip()):
            return f"README.md shows\n  {line}\nand this was printed:\n  {got}"
    if shown and len(lines) > len(shown):
        return f"README.md does not show\n  {lines[len(shown)]}"
    return ""
