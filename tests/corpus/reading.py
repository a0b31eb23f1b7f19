# SPDX-License-Identifier: Apache-2.0
"""What recorded actions ask for, and what recorded observations show."""

import re
import shlex
from dataclasses import dataclass, field

SHOWS = {"open", "goto", "scroll_up", "scroll_down", "create"}
CHANGES = {"edit": "end_of_edit", "insert": "end_of_insert"}
SEARCHES = {"search_dir", "search_file", "find_file"}
SHELL = {"ls", "cat", "head", "tail", "wc", "grep", "find"}
FILES = {"cp", "mv", "rm", "mkdir", "cd", "touch", "export", "ln", "chmod"}
# What a kind of action is called, by its words: the first that has one of them.
KINDS = [(CHANGES, "edits"), (SEARCHES, "searches"), (SHELL, "shell"), (SHOWS, "shows")]

# Of what is not played again: why, by its first word.
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
# Mode, size, date, name and its mark of a line of `ls -l`.
LONG = re.compile(
    r"^([-dl][-rwxsStT]{9})[.+]? +\d+ +\S+ +\S+ +(\d+) +\w+ +\d+ +[\d:]+ (.*?)([/*@]?)$"
)
TOTAL = re.compile(r"^total \d+$")


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
    """All windows on files that an observation shows."""
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


# --- searches ---------------------------------------------------------------------------------------


def matches(observation: str) -> dict[str, str]:
    """What a search found: a line and its text, or a file and how often."""
    found = {}
    for line in observation.split("\n"):
        if m := re.match(r"^(Line \d+):(.*)$|^(/.*) \((\d+) matches\)$|^(/[^ ]*)$", line.rstrip()):
            found[m[1] or m[3] or m[5]] = m[2] or m[4] or ""
    return found


def is_refused(observation: str) -> bool:
    """By the original, for what it was asked for."""
    return observation.startswith("Usage: ")


# --- listings ---------------------------------------------------------------------------------------


@dataclass
class Entry:
    name: str
    mark: str = ""  # as `ls -F` has it
    mode: str = ""  # and as `ls -l` has it
    size: int | None = None  # of a file

    def is_folder(self) -> bool:
        return self.mark == "/"


@dataclass
class Listing:
    """What `ls`, or `ls -R`, shows: by folder, with those of its arguments that are files under None."""

    folders: dict[str | None, list[Entry]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def entry_of(line: str) -> Entry:
    if m := LONG.match(line):
        folder = m[1][0] == "d"
        return Entry(m[3], m[4], m[1], None if folder else int(m[2]))
    return Entry(line.rstrip("/*@"), line[-1] if line[-1] in "/*@" else "")


def ls_arguments(action: str) -> list[str] | None:
    """The folders and files of an action that is one `ls`, None for another or one that can't be read."""
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
    # With one argument that is a folder, and no -R, its name stands nowhere.
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
    """Without owners, dates, blocks of a disk, and of folders without size and mode (data is mounted there)."""
    lines = []
    for line in observation.split("\n"):
        if not line or TOTAL.match(line):
            continue
        m = LONG.match(line)
        kind = ("d" if m[1][0] == "d" else f"{m[1]} {m[2]}") if m else ""
        lines.append(f"{kind} {m[3]}{m[4]}" if m else line)
    return lines


# --- actions ----------------------------------------------------------------------------------------


def without_bodies(action: str) -> str:
    """The commands of an action, without the text of those that have one."""
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
    """The first words of all commands."""
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
    return "is no command, or one that only the original's container had"
