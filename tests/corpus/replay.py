# SPDX-License-Identifier: Apache-2.0
"""Recorded edits, run again: the files of a workspace are rebuilt from what was shown of them."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SHOWS = {"open", "goto", "scroll_up", "scroll_down", "create"}
CHANGES = {"edit": "end_of_edit", "insert": "end_of_insert"}
SEARCHES = {"search_dir", "search_file", "find_file"}
FILES = {"cp", "mv", "rm", "mkdir", "cd", "touch", "export", "ln", "chmod"}

HEADER = re.compile(r"^\[File: (.*) \((\d+) lines total\)\]$")
ABOVE = re.compile(r"^\((\d+) more lines above\)$")
BELOW = re.compile(r"^\((\d+) more lines below\)$")
NUMBERED = re.compile(r"^(\d+):(.*)$")
ERROR = re.compile(r"^- ([EF]\d+ .*)$")
READ_ONLY = re.compile(r"cannot edit read-only file (\S+)")
LOST = "the original lost what the command printed"
# Not the same from one version of Python to the next, or from one machine to another.
LINE_NUMBER = re.compile(r"on line \d+|line \d+:")


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


def is_refused(observation: str) -> bool:
    return bool(errors(observation))


def search_result(observation: str) -> list[str]:
    """What a search found, in no order: lines, files with how often, or paths."""
    found = []
    for line in observation.split("\n"):
        if re.match(r"^Line \d+:|^/.* \(\d+ matches\)$|^/[^ ]*$", line):
            found.append(line.rstrip())
    return sorted(found)


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
    known = SHOWS | set(CHANGES) | SEARCHES | FILES
    if not words or any(w not in known for w in words):
        return "other"
    for names, kind in ((CHANGES, "edits"), (SEARCHES, "searches"), (SHOWS, "shows")):
        if any(w in names for w in words):
            return kind
    return "files"


class Env:
    """One `fumehood env`, an episode for each run."""

    def __init__(self, program: str, tasks: Path):
        self.child = subprocess.Popen(
            [program, "env", "--tasks-dir", tasks, "--task", "rows", "--max-steps", "100000"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: object) -> dict:
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())

    def step(self, action: str) -> dict:
        answer = self.ask(op="step", action=action, timeout_s=60)
        if "error" in answer:
            raise ValueError(answer["error"]["message"])
        return answer

    def put(self, path: str, text: str) -> None:
        word = "END_OF_REBUILT_FILE"
        self.step(
            f"rm -f '{path}'; mkdir -p \"$(dirname '{path}')\"; cat > '{path}' << '{word}'\n{text}{word}\n"
        )

    def close(self) -> None:
        self.child.stdin.close()
        self.child.wait()


@dataclass
class Finding:
    check: str
    verdict: str
    step: int
    what: str = ""
    recorded_s: float = 0
    own_s: float = 0


class Run:
    """A recorded run on its way through an episode."""

    def __init__(self, env: Env, recorded: dict):
        self.env = env
        self.steps = recorded["trajectory"]
        self.known: dict[str, bool] = {}  # files that are as they were then
        self.unsure = False  # something was left out that may have written files
        # Evaluators are, and it shows when somebody tries to edit one.
        self.read_only = {
            m[1] for s in self.steps for m in READ_ONLY.finditer(s["observation"] or "")
        }
        first = recorded["history"][1]["content"] if len(recorded["history"]) > 1 else ""
        limit = re.search(r"Current Step: 0, Remaining Steps: (\d+)", first)
        self.max_steps = int(limit[1]) if limit else len(self.steps)

    def rebuild(self, observation: str) -> None:
        """Files that are shown whole for the first time, or since something was left out."""
        for w in windows(observation)[:1]:
            if w.is_whole() and (w.path not in self.known or self.unsure):
                self.write(w)

    def write(self, w: Window) -> None:
        self.env.put(w.path, w.text())
        if w.path in self.read_only:
            self.env.step(f"chmod 444 '{w.path}'")
        self.known[w.path] = True

    def findings(self) -> Iterator[Finding]:
        self.env.ask(op="reset", seed=0)
        self.env.step("rm -rf ./* && cd /home/agent/workspace")
        for i, step in enumerate(self.steps):
            yield from self.step(i, step)

    def leave_out(self, action: str) -> None:
        if m := re.match(r"\s*(cd [^;&|\n]+)", action):
            self.env.step(m[1])
        if words_of(action)[:1] not in (["ls"], ["cat"], ["head"], ["validate"], ["nvidia-smi"]):
            self.unsure = True

    def step(self, i: int, step: dict) -> Iterator[Finding]:
        action, recorded = step["action"], step["observation"] or ""
        kind = kind_of(action)
        if kind != "other" and i >= self.max_steps:
            if kind != "files":
                yield Finding(kind, "SKIPPED", i, "one step more than may be made: it was not run")
            return
        if kind == "other":
            self.leave_out(action)
            return
        if kind == "files":
            self.env.step(action)
            return
        if kind == "shows":
            self.rebuild(recorded)
        reason = self.reason_to_skip(kind, step)
        if reason:
            yield Finding(kind, "SKIPPED", i, reason)
            if reason is LOST:
                self.env.step(action)
            self.catch_up(step)
            return
        answer = self.env.step(action)
        problem = self.compare(kind, recorded, answer["observation"]) or self.compare_state(
            i, answer["info"]["state"]
        )
        exact = "" if problem else self.is_exact(recorded, answer["observation"])
        verdict = "DIFFERENT" if problem else exact or "EQUAL"
        yield Finding(
            kind, verdict, i, problem, step["execution_time"], answer["info"]["duration_s"]
        )
        if problem:
            self.catch_up(step)

    def is_exact(self, recorded: str, own: str) -> str:
        return "" if errors(recorded) == errors(own) else "NORMALISED"

    def reason_to_skip(self, kind: str, step: dict) -> str:
        state = json.loads(step["state"])
        path = state.get("open_file", "n/a")
        observation = step["observation"] or ""
        if "EXECUTION FAILED OR COMMAND MALFORMED" in observation:
            return LOST
        if "- SyntaxWarning: " in observation:
            return "a warning of Python 3.12 was taken for an error"
        if sum(w in CHANGES for w in words_of(step["action"])) > 1:
            return "of several edits in an action the original spoilt all but the first"
        if kind == "searches":
            return "" if self.is_searchable(step) else "searches files that are not known"
        shown = windows(observation)
        if READ_ONLY.search(observation):
            return "" if self.known.get(path) else "the file was never shown whole"
        if kind == "shows" and not shown:
            return ""
        paths = {w.path for w in shown} or {path}
        if all(self.known.get(p) for p in paths):
            return ""
        return "the file was never shown whole"

    def is_searchable(self, step: dict) -> bool:
        words = step["action"].split()
        state = json.loads(step["state"])
        if words[0] != "search_file":
            return False
        path = words[-1] if len(words) > 2 else state.get("open_file", "n/a")
        path = path.strip("\"'")
        full = path if path.startswith("/") else state["working_dir"] + "/" + path
        return bool(self.known.get(full))

    def compare(self, kind: str, recorded: str, own: str) -> str:
        if kind == "searches":
            a, b = search_result(recorded), search_result(own)
            return "" if a == b else f"found {len(b)} lines, not {len(a)}"
        a, b = windows(recorded), windows(own)
        if is_refused(recorded) != is_refused(own):
            return f"errors {errors(own)}, not {errors(recorded)}"
        if [LINE_NUMBER.sub("", e) for e in errors(recorded)] != [
            LINE_NUMBER.sub("", e) for e in errors(own)
        ]:
            return f"errors {errors(own)}, not {errors(recorded)}"
        if len(a) != len(b):
            return f"{len(b)} windows, not {len(a)}"
        for x, y in zip(a, b, strict=True):
            if x != y:
                return difference(x, y)
        return ""

    def compare_state(self, i: int, own: dict) -> str:
        if i + 1 >= len(self.steps):
            return ""
        state = json.loads(self.steps[i + 1]["state"])
        for key in ("open_file", "working_dir"):
            if state.get(key) != own.get(key):
                return f"{key} is {own.get(key)}, not {state.get(key)}"
        return ""

    def catch_up(self, step: dict) -> None:
        """Goes on as it was recorded: what is open, and what is in it."""
        shown = windows(step["observation"] or "")
        if not shown:
            return
        last = shown[-1]
        if is_refused(step["observation"]):
            return
        if last.is_whole():
            self.write(last)
        else:
            self.known[last.path] = False
        self.env.step(f"[ -f '{last.path}' ] && open '{last.path}' > /dev/null")


def difference(a: Window, b: Window) -> str:
    for name in ("path", "total", "above", "below"):
        if getattr(a, name) != getattr(b, name):
            return f"{name} is {getattr(b, name)}, not {getattr(a, name)}"
    for x, y in zip(a.lines, b.lines, strict=False):
        if x != y:
            return f"line {y[0]} is {y[1]!r}, not line {x[0]} {x[1]!r}"
    return f"{len(b.lines)} lines, not {len(a.lines)}"
