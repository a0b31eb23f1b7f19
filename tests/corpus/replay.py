# SPDX-License-Identifier: Apache-2.0
"""Replays recorded actions on known files: windows, edits, searches and plain commands."""

import json
import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from reading import (
    CHANGES,
    Window,
    errors,
    is_refused,
    kind_of,
    listing,
    ls_arguments,
    matches,
    plain_listing,
    why_not_played,
    windows,
    words_of,
)
from world import Env, Starter, World

READ_ONLY = re.compile(r"cannot edit read-only file (\S+)")
# Removes line numbers from the linter's errors, because they differ between versions of Python.
LINE_NUMBER = re.compile(r"on line \d+|line \d+:")

LOST = "the original lost what the command printed"
UNKNOWN = "the file was never shown whole"
NOT_RUN = "one step more than may be made: it was not run"
SPOILT = "of several edits in an action the original spoilt all but the first"
PYTHON = "a warning of Python 3.12 was taken for an error"
TOO_LARGE = "The file is larger than 20000 characters"
NO_STARTER = "without a checkout nobody knows what the workspace held at first (FUMEHOOD_MLGYM)"
FILES_MAX = 1000
MANY = f"lists more than {FILES_MAX} files, of a data set"
UNREAD = (
    "prints files of which nobody knows what is in them, or lists them in a way that does not tell"
)


@dataclass
class Finding:
    check: str
    verdict: str
    step: int
    what: str = ""
    recorded_s: float = 0
    own_s: float = 0


class Run:
    """Replays a recorded run in an episode."""

    def __init__(self, env: Env, recorded: dict, starter: Starter | None):
        self.steps = recorded["trajectory"]
        observations = [s["observation"] or "" for s in self.steps]
        # Evaluators are read-only files. Their names are known from errors of edits that were
        # refused.
        read_only = {m[1] for o in observations for m in READ_ONLY.finditer(o)}
        self.env = env
        self.has_starter = starter is not None
        self.world = World(env, starter, read_only, first_windows(self.steps))
        first = recorded["history"][1]["content"] if len(recorded["history"]) > 1 else ""
        limit = re.search(r"Current Step: 0, Remaining Steps: (\d+)", first)
        self.max_steps = int(limit[1]) if limit else len(self.steps)

    def findings(self) -> Iterator[Finding]:
        for i, step in enumerate(self.steps):
            kind = kind_of(step["action"])
            if i >= self.max_steps and kind != "files":
                yield Finding(kind, "SKIPPED", i, NOT_RUN)
            elif kind == "programs":
                yield Finding(kind, "SKIPPED", i, why_not_played(step["action"]))
                self.leave_out(step["action"])
            elif kind == "files":
                self.env.step(step["action"])
                self.world.listed.clear()
            else:
                yield self.play(i, kind, step)

    def leave_out(self, action: str) -> None:
        if m := re.match(r"\s*(cd [^;&|\n]+)", action):
            self.env.step(m[1])
        if words_of(action)[:1] != ["nvidia-smi"]:
            self.world.doubt()

    def play(self, i: int, kind: str, step: dict) -> Finding:
        action, recorded = step["action"], step["observation"] or ""
        # Without MLGym's checkout it is unknown whether a file that `create` names existed before.
        if kind == "shows" and not (self.has_starter and "create" in words_of(action)):
            for w in windows(recorded)[:1]:
                self.world.rebuild(w)
        if reason := self.reason_to_skip(kind, step):
            if reason is LOST:
                self.env.step(action)
            self.catch_up(step)
            return Finding(kind, "SKIPPED", i, reason)
        learnt = self.learn(kind, step)
        answer = self.env.step(action)
        own = answer["observation"]
        problem, aside = self.compare(kind, step, own)
        if kind == "searches" and is_refused(recorded) and "matches" in own:
            problem = problem or f"'{own.strip()}', not '{recorded.strip()}'"
        problem = problem or self.compare_state(i, self.state(answer))
        verdict = "DIFFERENT" if problem else "NORMALISED" if learnt or aside else "EQUAL"
        if problem:
            self.catch_up(step)
        elif kind in ("shows", "edits"):
            for w in filter(Window.is_whole, windows(recorded)):
                self.world.learn(w)
        return Finding(
            kind, verdict, i, problem, step["execution_time"], answer["info"]["duration_s"]
        )

    def state(self, answer: dict) -> dict:
        """State after a step, with the open file as MLGym's state command prints it."""
        shown = self.env.step('printf %s "${CURRENT_FILE:-n/a}"')["observation"]
        return answer["info"]["state"] | {"open_file": shown}

    # --- reasons to skip a step -------------------------------------------------------------------

    def reason_to_skip(self, kind: str, step: dict) -> str:
        observation = step["observation"] or ""
        if "EXECUTION FAILED OR COMMAND MALFORMED" in observation:
            return LOST
        if "- SyntaxWarning: " in observation:
            return PYTHON
        if sum(w in CHANGES for w in words_of(step["action"])) > 1:
            return SPOILT
        of_folders = kind == "shell" or step["action"].startswith(("search_dir", "find_file"))
        if of_folders and not self.has_starter:
            return NO_STARTER
        if kind == "searches":
            return self.reason_to_skip_search(step)
        if kind == "shell":
            return self.reason_to_skip_command(step)
        shown = windows(observation)
        path = json.loads(step["state"]).get("open_file", "n/a")
        if kind == "shows" and (not shown or "create" in words_of(step["action"])):
            return ""
        paths = {path} if READ_ONLY.search(observation) or not shown else {w.path for w in shown}
        return "" if all(map(self.world.is_known, paths)) else UNKNOWN

    def searched_file(self, step: dict) -> str:
        state, words = json.loads(step["state"]), shlex.split(step["action"])
        path = words[2] if len(words) > 2 else state.get("open_file", "n/a")
        return posixpath.join(state["working_dir"], path)

    def reason_to_skip_search(self, step: dict) -> str:
        if not step["action"].startswith("search_file") or not matches(step["observation"]):
            return ""
        return "" if self.world.is_known(self.searched_file(step)) else UNKNOWN

    def reason_to_skip_command(self, step: dict) -> str:
        if (step["observation"] or "").count("\n") > FILES_MAX:
            return MANY
        if ls_arguments(step["action"]) is not None or step["action"].startswith("find . -name"):
            return ""
        state = json.loads(step["state"])
        words = [w for w in step["action"].split() if "." in w]
        paths = [posixpath.join(state["working_dir"], w) for w in words]
        return "" if paths and all(map(self.world.is_known, paths)) else UNREAD

    # --- making files that the recorded observation names, before the action is played ------------

    def learn(self, kind: str, step: dict) -> bool:
        """Makes files that the recorded observation names. Whether any had to be made."""
        action, observation = step["action"], step["observation"] or ""
        here = json.loads(step["state"])["working_dir"]
        if kind == "shell" and (arguments := ls_arguments(action)) is not None:
            return self.world.learn_listing(listing(arguments, observation), here)
        if TOO_LARGE in observation:
            return self.world.learn_size(posixpath.join(here, shlex.split(action)[1]), 20001)
        if self.world.is_listed(here):
            return False
        if action.startswith("find_file"):
            return self.world.learn_paths([p for p in matches(observation) if p.startswith("/")])
        if action.startswith("find "):
            return self.world.learn_paths([posixpath.join(here, p) for p in observation.split()])
        return False

    def catch_up(self, step: dict) -> None:
        """Opens the file that was open in the record, and writes it first if a window shows all."""
        observation = step["observation"] or ""
        shown = windows(observation)
        if not shown or errors(observation):
            return
        last = shown[-1]
        if last.is_whole():
            self.world.write(last)
        else:
            self.world.known[last.path] = False
        self.env.step(f"[ -f '{last.path}' ] && open '{last.path}' > /dev/null")

    # --- comparing with the recorded observation --------------------------------------------------

    def compare(self, kind: str, step: dict, own: str) -> tuple[str, bool]:
        recorded = step["observation"] or ""
        if kind == "shell":
            return compare_output(recorded, own)
        if kind == "searches":
            return self.compare_search(step["action"], recorded, own)
        return compare_windows(recorded, own), errors(recorded) != errors(own)

    def compare_search(self, action: str, recorded: str, own: str) -> tuple[str, bool]:
        a, b = matches(recorded), matches(own)
        aside = {f for f in a if action.startswith("search_dir") and not self.world.is_known(f)}
        a = {k: v for k, v in a.items() if k not in aside}
        if a != b:
            return f"found {b}, not {a}", False
        return "", bool(aside)

    def compare_state(self, i: int, own: dict) -> str:
        if i + 1 >= len(self.steps):
            return ""
        state = json.loads(self.steps[i + 1]["state"])
        for key in ("open_file", "working_dir"):
            if state.get(key) != own.get(key):
                return f"{key} is {own.get(key)}, not {state.get(key)}"
        return ""


def first_windows(steps: list[dict]) -> dict[str, Window]:
    """Files whose first window shows them whole, before an edit."""
    found: dict[str, Window] = {}
    for step in steps:
        only_shows = kind_of(step["action"]) == "shows" and "create" not in words_of(step["action"])
        for w in windows(step["observation"] or ""):
            found.setdefault(w.path, w if only_shows else Window(w.path, -1))
    return {path: w for path, w in found.items() if w.is_whole()}


def compare_output(recorded: str, own: str) -> tuple[str, bool]:
    a, b = ([line.rstrip() for line in t.split("\n") if line.strip()] for t in (recorded, own))
    if a == b:
        return "", False
    if plain_listing(recorded) == plain_listing(own):
        return "", True
    return f"'{own}', not '{recorded}'", False


def compare_windows(recorded: str, own: str) -> str:
    a, b = ([LINE_NUMBER.sub("", e) for e in errors(t)] for t in (recorded, own))
    if a != b:
        return f"errors {errors(own)}, not {errors(recorded)}"
    a, b = windows(recorded), windows(own)
    if len(a) != len(b):
        return f"{len(b)} windows, not {len(a)}"
    return next((difference(x, y) for x, y in zip(a, b, strict=True) if x != y), "")


def difference(a: Window, b: Window) -> str:
    for name in ("path", "total", "above", "below"):
        if getattr(a, name) != getattr(b, name):
            return f"{name} is {getattr(b, name)}, not {getattr(a, name)}"
    for x, y in zip(a.lines, b.lines, strict=False):
        if x != y:
            return f"line {y[0]} is {y[1]!r}, not line {x[0]} {x[1]!r}"
    return f"{len(b.lines)} lines, not {len(a.lines)}"
