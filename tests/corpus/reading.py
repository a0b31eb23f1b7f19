# SPDX-License-Identifier: Apache-2.0
"""Reads recorded actions and observations."""

import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

SHOWS = {"open", "goto", "scroll_up", "scroll_down", "create"}
CHANGES = {"edit": "end_of_edit", "insert": "end_of_insert"}
SEARCHES = {"search_dir", "search_file", "find_file"}
SHELL = {"ls", "cat", "head", "tail", "wc", "grep", "find"}
FILES = {"cp", "mv", "rm", "mkdir", "cd", "touch", "export", "ln", "chmod"}
# Kinds of recorded actions, in order of preference. An action is of the first kind that has one of
# its commands.
KINDS = [(CHANGES, "edits"), (SEARCHES, "searches"), (SHELL, "shell"), (SHOWS, "shows")]

# Reasons not to replay a recorded action, and the commands at its beginning that give each reason.
PROGRAMS = {
    "trains, or runs another program": {"python", "python3", "torchrun", "bash", "rm", "export"},
    "is scored": {"validate", "submit"},
    "gives up": {"exit_format", "exit_context", "exit_cost", "exit_forfeit"},
    "installs": {"pip", "pip3", "conda", "apt-get", "sudo"},
    "asks for GPUs": {"nvidia-smi"},
}

HEADER = re.compile(r"^\[File: (.*) \((\d+) lines total\)\]$")
ABOVE = re.compile(r"^\((\d+) more lines above\)$")
BELOW = re.compile(r"^\((\d+) more lines below\)$")
NUMBERED = re.compile(r"^(\d+):(.*)$")
ERROR = re.compile(r"^- ([EF]\d+ .*)$")
# Parses a line of `ls -lF` into mode, size, name and the mark of the file's type.
LONG = re.compile(
    r"^([-dl][-rwxsStT]{9})[.+]? +\d+ +\S+ +\S+ +(\d+) +\w+ +\d+ +[\d:]+ (.*?)([/*@]?)$"
)
TOTAL = re.compile(r"^total \d+$")


def unpack(folder: Path, into: Path) -> Path:
    """Unpacks archives of runs into a folder. Returns the folder that has the runs."""
    archives = sorted(folder.glob("traj*.tar.zst"))
    for archive in archives:
        subprocess.run(["tar", "--zstd", "-xf", archive, "-C", into], check=True)
    return into if archives else folder


def is_current(recorded: dict) -> bool:
    """Whether MLGym's current code recorded the run: steps begin with the state."""
    steps = recorded["trajectory"]
    return bool(steps) and next(iter(steps[0])) == "state"


@dataclass
class Window:
    path: str
    total: int
    above: int = 0
    below: int = 0
    lines: list[tuple[int, str]] = field(default_factory=list)

    def is_whole(self) -> bool:
        return len(self.lines) == self.total

    def text(self) -> str:
        return "".join(line + "\n" for _, line in self.lines)


def windows(observation: str) -> list[Window]:
    """All windows that an observation shows: parts of files, as `open` prints them."""
    found = []
    for line in observation.replace("\r\n", "\n").split("\n"):
        if m := HEADER.match(line):
            found.append(Window(m[1], int(m[2])))
        elif found and (m := ABOVE.match(line)):
            found[-1].above = int(m[1])
        elif found and (m := BELOW.match(line)):
            found[-1].below = int(m[1])
        elif found and (m := NUMBERED.match(line)):
            number = int(m[1])
            if not found[-1].lines or number == found[-1].lines[-1][0] + 1:
                found[-1].lines.append((number, m[2]))
    return found


def errors(observation: str) -> list[str]:
    return [m[1] for line in observation.split("\n") if (m := ERROR.match(line.rstrip()))]


# --- results of searches --------------------------------------------------------------------------


def matches(observation: str) -> dict[str, str]:
    """Results of a search: the text of each line found, or the number of matches of each file."""
    found = {}
    for line in observation.split("\n"):
        if m := re.match(r"^(Line \d+):(.*)$|^(/.*) \((\d+) matches\)$|^(/[^ ]*)$", line.rstrip()):
            found[m[1] or m[3] or m[5]] = m[2] or m[4] or ""
    return found


def is_refused(observation: str) -> bool:
    """Whether MLGym's tool refused its arguments."""
    return observation.startswith("Usage: ")


# --- listings of folders --------------------------------------------------------------------------


@dataclass
class Entry:
    name: str
    mark: str = ""  # mark of `ls -F`: / for a folder, * for a program, @ for a link
    mode: str = ""  # mode as `ls -l` prints it
    size: int | None = None  # bytes; None for a folder, or if unknown

    def is_folder(self) -> bool:
        return self.mark == "/"


@dataclass
class Listing:
    """Output of `ls` or `ls -R`, by folder. Arguments that are files are under None."""

    folders: dict[str | None, list[Entry]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def entry_of(line: str) -> Entry:
    if m := LONG.match(line):
        folder = m[1][0] == "d"
        return Entry(m[3], m[4], m[1], None if folder else int(m[2]))
    return Entry(line.rstrip("/*@"), line[-1] if line[-1] in "/*@" else "")


def ls_arguments(action: str) -> list[str] | None:
    """The folders and files of an action that is a single `ls`; None for any other action."""
    try:
        words = shlex.split(action)
    except ValueError:
        return None
    if not words or words[0] != "ls" or re.search(r"[;&|<>*?\n]", action.strip()):
        return None
    if any(w.startswith("-") and set(w[1:]) - set("alAR1") for w in words[1:]):
        return None
    return [w for w in words[1:] if not w.startswith("-")] or ["."]


def listing(arguments: list[str], observation: str) -> Listing:
    shown = Listing()
    # Without -R, `ls FOLDER` does not print the folder's name: take it from the arguments.
    folder = arguments[0] if len(arguments) == 1 else None
    for line in observation.split("\n"):
        if m := re.match(r"^ls: cannot access '(.*)': ", line):
            shown.missing.append(m[1])
        elif line.endswith(":"):
            folder = line[:-1]
            shown.folders[folder] = []
        elif line and not TOTAL.match(line):
            entry = entry_of(line)
            where = None if entry.name in arguments else folder
            if entry.name not in (".", ".."):
                shown.folders.setdefault(where, []).append(entry)
            elif where is not None:
                shown.folders.setdefault(where, [])
    return shown


def plain_listing(observation: str) -> list[str]:
    """Lines of `ls` without owners, dates and disk blocks. Folders lose their size and mode too."""
    lines = []
    for line in observation.split("\n"):
        if not line or TOTAL.match(line):
            continue
        m = LONG.match(line)
        kind = ("d" if m[1][0] == "d" else f"{m[1]} {m[2]}") if m else ""
        lines.append(f"{kind} {m[3]}{m[4]}" if m else line)
    return lines


# --- parts of actions -----------------------------------------------------------------------------


def without_bodies(action: str) -> str:
    """The commands of an action, without the text that `edit` and `insert` write."""
    kept, end = [], None
    for line in action.split("\n"):
        if end:
            if line.rstrip() == end:
                end = None
            continue
        kept.append(line)
        words = line.split()
        if words and words[0] in CHANGES and "<<" not in line:
            end = CHANGES[words[0]]
    return "\n".join(kept)


def words_of(action: str) -> list[str]:
    """The first word of each command of an action."""
    commands = re.split(r"&&|\|\||[;|\n]", without_bodies(action))
    return [c.split()[0] for c in commands if c.split()]


def kind_of(action: str) -> str:
    words = words_of(action)
    known = SHOWS | set(CHANGES) | SEARCHES | SHELL | FILES
    if not words or any(w not in known for w in words):
        return "programs"
    for names, kind in KINDS:
        if any(w in names for w in words):
            return kind
    return "files"


def why_not_played(action: str) -> str:
    words = [w for w in words_of(action) if w not in ("cd", "create")]
    for why, names in PROGRAMS.items():
        if words and words[0] in names:
            return why
    return "is not a command, or one that only the original's container had"
