# SPDX-License-Identifier: Apache-2.0
"""Makes the files of a recorded run, as far as they are known, in an episode of ours."""

import json
import posixpath
import re
import shlex
import subprocess
from pathlib import Path

from reading import Entry, Listing, Window

WORKSPACE = "/home/agent/workspace"
# C file with our tools, which replace the bash tools of MLGym's agents.
OWN_TOOLS = Path(__file__).resolve().parents[2] / "src/agent/own_tools.c"
TOOLS = "open goto scroll_down scroll_up create edit insert search_dir search_file find_file"
STARTER = "/starter"  # folder of an episode that has the data of MLGym's checkout


class Env:
    """A process of `fumehood env`, with an episode for each recorded run."""

    def __init__(self, program: str, tasks: Path, checkout: Path | None):
        bind = ["--bind", f"{checkout / 'data'}:{STARTER}"] if checkout else []
        self.child = subprocess.Popen(
            [
                program,
                "env",
                "--tasks-dir",
                tasks,
                "--task",
                "rows",
                "--max-steps",
                "100000",
                *bind,
            ],
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

    def __enter__(self) -> "Env":
        return self

    def __exit__(self, *failure: object) -> None:
        self.child.stdin.close()
        self.child.wait()


def own_tools() -> str:
    """The script in the C file. The lines are C strings, which can be read as JSON."""
    script = OWN_TOOLS.read_text().partition("own_tools_script[] =")[2].partition(";\n")[0]
    return "".join(map(json.loads, re.findall(r'^\t(".*")$', script, re.MULTILINE)))


# --- listing the files that a task begins with ----------------------------------------------------


def lists(config: str, key: str) -> list[str]:
    """Items of a list in a task's configuration."""
    found = re.search(rf"^{key}:\n((?: *- .*\n)+)", config, re.MULTILINE)
    return [line.strip("- ") for line in found[1].splitlines()] if found else []


class Starter:
    """Files that the workspace of a task of MLGym begins with, from a checkout."""

    def __init__(self, checkout: Path, task: str):
        files = sorted((checkout / "configs/tasks").glob("*.yaml"), key=lambda f: f.stem != task)
        texts = [f.read_text() for f in files]
        config = next((t for t in texts if re.search(rf"^id: {task}$", t, re.MULTILINE)), "")
        self.data = checkout / "data"
        self.sources = [Path(p).relative_to("data") for p in lists(config, "starter_code")]
        self.evaluators = lists(config, "evaluation_paths")
        datasets = [checkout / "configs" / p for p in lists(config, "dataset_configs")]
        self.has_data = any("is_local: true" in d.read_text() for d in datasets if d.is_file())

    def commands(self) -> str:
        lines = [f"cp -r --no-preserve=mode {STARTER}/{p} ." for p in self.sources]
        lines += [f"chmod 555 {e}" for e in self.evaluators]
        return "\n".join([*lines, "mkdir data" if self.has_data else ":"])

    def files(self) -> dict[str, Path]:
        """All files, by their paths in the workspace."""
        found = {}
        for p in self.sources:
            top = self.data / p
            beneath = [top] if top.is_file() else [f for f in top.rglob("*") if f.is_file()]
            found |= {f"{WORKSPACE}/{f.relative_to(top.parent)}": f for f in beneath}
        return found


# --- rebuilding the files of a recorded run -------------------------------------------------------


class World:
    """Files of a recorded run.

    `known` tells of each file whether its content is the recorded one. `listed` has the folders
    that hold exactly the recorded files.
    """

    def __init__(
        self, env: Env, starter: Starter | None, read_only: set[str], shown: dict[str, Window]
    ):
        self.env = env
        self.known: dict[str, bool] = {}
        self.doubted: set[str] = set()  # files that may differ from the recorded ones
        self.listed: set[str] = set()
        self.modes = dict.fromkeys(read_only, "444")
        env.ask(op="reset", seed=0)
        env.step(f"WINDOW=1000\nOVERLAP=2\nCURRENT_FILE=\n{own_tools()}\n_own_tools {TOOLS}")
        env.step(f"shopt -s expand_aliases\nalias ls='ls -F'\nrm -rf ./* && cd {WORKSPACE}")
        if starter and starter.sources:
            self.begin(starter, shown)

    def begin(self, starter: Starter, shown: dict[str, Window]) -> None:
        """Copies the starting files of the checkout.

        They stay doubted until a window confirms them: the run may have had other versions.
        """
        files = starter.files()
        self.env.step(starter.commands())
        self.known = dict.fromkeys(files, True)
        self.listed = {posixpath.dirname(f) for f in files} | {WORKSPACE}
        self.modes |= {f"{WORKSPACE}/{e}": "555" for e in starter.evaluators}
        self.doubted = set(files)
        for path in set(files) & set(shown):
            self.rebuild(shown[path])

    def is_known(self, path: str) -> bool:
        return bool(self.known.get(path))

    def is_listed(self, folder: str) -> bool:
        """Whether `listed` has the folder, and all known folders in it."""
        beneath = [f for f in self.known if f.startswith(folder.rstrip("/") + "/")]
        return {folder, *map(posixpath.dirname, beneath)} <= self.listed

    def doubt(self) -> None:
        self.doubted = set(self.known)
        self.listed.clear()

    # --- rebuild files from the parts that the editor showed --------------------------------------

    def write(self, w: Window) -> None:
        word = "END_OF_REBUILT_FILE"
        path = shlex.quote(w.path)
        self.env.step(
            f"rm -f {path}; mkdir -p \"$(dirname {path})\"; cat > {path} << '{word}'\n{w.text()}{word}\n"
        )
        if w.path in self.modes:
            self.env.step(f"chmod {self.modes[w.path]} {path}")
        self.learn(w)

    def learn(self, w: Window) -> None:
        self.known[w.path] = True
        self.doubted.discard(w.path)

    def rebuild(self, w: Window) -> None:
        """Writes a file that a window shows whole, unless it has that content already.

        A newline at the end is not compared, because a window does not show it.
        """
        if not w.is_whole() or (self.is_known(w.path) and w.path not in self.doubted):
            return
        if self.is_known(w.path):
            held = self.env.step(f"cat {shlex.quote(w.path)}")["observation"]
            if held.removesuffix("\n") == w.text().removesuffix("\n"):
                self.learn(w)
                return
        self.write(w)

    # --- rebuild files from listings and from results of searches ---------------------------------

    def make(self, commands: list[str]) -> bool:
        """Runs commands of adding(). Returns whether they made or resized files.

        The content of such files is unknown.
        """
        shown = self.env.step("\n".join(["true", *commands]))["observation"]
        new = [line[4:] for line in shown.splitlines() if line.startswith("NEW ")]
        self.known |= dict.fromkeys(new, False)
        return bool(new)

    def learn_listing(self, shown: Listing, working_dir: str) -> bool:
        """Makes files and folders as a listing shows them. Returns whether it told anything new."""
        commands, learnt = [], False
        for folder, entries in shown.folders.items():
            path = posixpath.normpath(posixpath.join(working_dir, folder or ""))
            if path in self.listed or folder is None:
                made = [e for e in entries if self.is_doubtful(path, e)]
            else:
                made, learnt = entries, True
                keep = "".join(f" ! -name {shlex.quote(e.name)}" for e in entries)
                commands.append(f"mkdir -p {shlex.quote(path)}")
                commands.append(
                    f"find {shlex.quote(path)} -mindepth 1 -maxdepth 1 ! -name '.*'{keep} -exec rm -rf {{}} +"
                )
                self.listed.add(path)
            commands += [adding(posixpath.join(path, e.name), e) for e in made]
        for name in shown.missing:
            path = posixpath.normpath(posixpath.join(working_dir, name))
            if posixpath.dirname(path) not in self.listed:
                commands.append(f"rm -rf {shlex.quote(path)}")
        return (self.make(commands) if commands else False) or learnt

    def is_doubtful(self, folder: str, entry: Entry) -> bool:
        path = posixpath.normpath(posixpath.join(folder, entry.name))
        return path in self.doubted or (folder not in self.listed and not self.is_known(path))

    def learn_paths(self, paths: list[str]) -> bool:
        folders = [f"mkdir -p {shlex.quote(posixpath.dirname(p))}" for p in paths]
        return self.make(folders + [adding(p, Entry(p)) for p in paths])

    def learn_size(self, path: str, size: int) -> bool:
        return not self.is_known(path) and self.make([adding(path, Entry(path, size=size))])


def adding(path: str, entry: Entry) -> str:
    """Commands that make a file or folder like an entry of a listing. They print NEW for a file."""
    at = shlex.quote(path)
    if entry.is_folder():
        return f"[ -d {at} ] || {{ rm -f {at}; mkdir {at}; }}"
    lines = [f"[ -e {at} ] || {{ : > {at}; echo NEW {at}; }}"]
    if entry.size is not None:
        size = entry.size
        lines.append(
            f"[ $(stat -c %s {at}) = {size} ] || {{ rm {at}; truncate -s {size} {at}; echo NEW {at}; }}"
        )
    if entry.mode:
        bits = sum(1 << (8 - i) for i, c in enumerate(entry.mode[1:]) if c != "-")
        lines.append(f"chmod {bits:o} {at}")
    elif entry.mark == "*":
        lines.append(f"[ -x {at} ] || chmod +x {at}")
    return "\n".join(lines)
