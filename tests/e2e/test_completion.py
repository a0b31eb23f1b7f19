# SPDX-License-Identifier: Apache-2.0
"""Completion of words on the command line, by the program and by shells."""

import json
import os
import pty
import re
import select
import shutil
import signal
import time

import pytest
from conftest import TASKS

# Words typed after "fumehood", and the completions of the last word. After a blank, the last word
# is empty.
CAN_BECOME = [
    ("ru", ["run"]),
    ("task ", ["list", "show", "check", "new", "--help"]),
    ("help task sh", ["show"]),
    ("help show ", []),
    ("help --completion ", ["bash", "zsh", "fish"]),
    ("help --compl", ["--completion", "--complete"]),
    ("--v", ["--version"]),
    ("task --h", ["--help"]),
    ("bench --only te", ["teardown"]),
    ("bench --only step,a", ["step,agent", "step,alive"]),
    ("config docs l", ["limits", "layout"]),
    ("task show titanicSurvival:", ["titanicSurvival:micro", "titanicSurvival:full"]),
    ("task show titanic:m", ["titanic:micro"]),
    ("task show battleOfSexes:m", ["battleOfSexes:micro"]),
    ("run --run", ["--runs"]),
    ("run --runs 2 --job", ["--jobs"]),
    ("doctor ", ["--help", "--json"]),
    ("doctor --j", ["--json"]),
    ("sandbox exec --j", []),
    ("run --reward ", ["delta", "improvement", "none"]),
    ("run --reward=n", ["--reward=none"]),
    ("run --log-format t", ["text"]),
    ("run --task titanicSurvival:m", ["titanicSurvival:micro"]),
    ("run --task=titanicSurvival:m", ["--task=titanicSurvival:micro"]),
    ("run --task rows,titanicSurvival:m", ["rows,titanicSurvival:micro"]),
    ("run --task rows titanicSurvival:m", ["titanicSurvival:micro"]),
    (f"task show --tasks-dir {TASKS} rows:q", ["rows:quick"]),
    (f"task show --tasks-dir={TASKS} rows:q", ["rows:quick"]),
    ("task check --run battle", ["battleOfSexes", "battleOfSexes:full", "battleOfSexes:micro"]),
    ("task show titanicSurvival ", []),
    ("run --agent too", ["tool_calling", ":files"]),
    ("run --agent=./a", [":files --agent="]),
    ("run -m acti", ["actions:"]),
    ("run --model actions:./a", [":files actions:"]),
    ("run --model baseline,op", ["baseline,openai:"]),
    ("run --out ", [":folders"]),
    ("task show --h", ["--help"]),
    ("export --format ", ["traj", "inspect", "chat", "steps", "csv"]),
    ("replay ", [":files"]),
    ("report --tables aup,over-", ["aup,over-steps", "aup,over-cost"]),
    ("report . -t al", ["all"]),
    ("sandbox exec -- l", [":files"]),
    ("sandbox exec ls --n", [":files"]),
    ("run --max-steps ", []),
    ("nothing ", []),
]


@pytest.mark.parametrize(("words", "expected"), CAN_BECOME)
def test_what_a_word_can_become(fumehood, words, expected):
    out = fumehood("help", "--complete", "--", *words.split(" ")).stdout
    got = [re.sub(r"^(:\w+)\t(.+)", r"\1 \2", line).split("\t")[0] for line in out.splitlines()]
    assert got == expected


def test_descriptions_are_short_phrases(fumehood):
    out = fumehood("help", "--complete", "--", "run", "--").stdout
    phrases = dict(line.split("\t") for line in out.splitlines())
    assert all(0 < len(phrase) <= 60 for phrase in phrases.values()), phrases
    assert phrases["--bind"] == "show a file or folder of this machine in the sandbox"
    assert phrases["--web-hosts"] == "hosts that literature_search and parse_pdf_url may ask"
    assert phrases["--out"] == "folder for the runs' folders"


def test_tables_of_a_report(fumehood, tmp_path):
    """All tables are candidates, in the order of a report. Each is printed, or a note tells why."""
    opening = {"event": "open", "task": "rows", "metric": "m", "model": "one", "baseline": {"m": 1}}
    step = {"event": "step", "action": "validate", "info": {"score": {"m": 2}}}
    end = {"event": "end", "exit_status": "submitted", "over": True}
    record = tmp_path / "events.jsonl"
    record.write_text("".join(json.dumps(e) + "\n" for e in (opening, step, end)))
    offered = fumehood("help", "--complete", "--", "report", "--tables", "").stdout
    ids = [line.split("\t")[0] for line in offered.splitlines()]
    ids = [name for name in ids if name != "all" and not name.startswith("compare")]
    report = json.loads(fumehood("report", "--tables", ",".join(ids), "--json", tmp_path).stdout)
    chosen = [t["id"] for t in report["tables"]]
    report = json.loads(fumehood("report", "--json", tmp_path).stdout)
    assert chosen == [t["id"] for t in report["tables"]] and len(chosen) > 15


class Terminal:
    """An interactive shell in a pseudo terminal."""

    def __init__(self, argv: list[str], env: dict[str, str], folder):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(argv[0], argv, env)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def wait_for(self, pattern: str) -> re.Match:
        until = time.monotonic() + 60
        while not (found := re.search(pattern, self.shown, re.S)):
            assert time.monotonic() < until, self.shown
            if select.select([self.fd], [], [], 1)[0]:
                self.shown += os.read(self.fd, 65536).decode(errors="replace")
        return found

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


# For each shell: how to start it, and a command that loads Fumehood's completions.
SHELLS = {
    "bash": (
        ["bash", "--norc", "--noprofile", "-i"],
        'source <(fumehood help --completion bash); bind "set bell-style none"',
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        "mkdir -p d && fumehood help --completion zsh >d/_fumehood && fpath=($PWD/d $fpath)"
        " && autoload -Uz compinit && compinit -u -D",
    ),
    "fish": (
        ["fish", "--no-config", "--interactive"],
        "fumehood help --completion fish | source",
    ),
}

# For each text typed before a tab: the words that the shell then has.
TYPED = [
    ("fumehood sandbox she", "fumehood|sandbox|shell"),
    ("fumehood run --reward imp", "fumehood|run|--reward|improvement"),
    ("fumehood run --task titanicSurvival:mi", "fumehood|run|--task|titanicSurvival:micro"),
    ("fumehood run --task=titanicSurvival:mi", "fumehood|run|--task=titanicSurvival:micro"),
    ("fumehood run --agent tool_c", "fumehood|run|--agent|tool_calling"),
    ("fumehood report --tables aup,trou", "fumehood|report|--tables|aup,troubles"),
    ("fumehood run --sweep a\\ fi", "fumehood|run|--sweep|a file.yaml"),
    ("fumehood run --model actions:pla", "fumehood|run|--model|actions:played.jsonl"),
    ("fumehood run --agent=./pla", "fumehood|run|--agent=./played.jsonl"),
    ("fumehood run --out fol", "fumehood|run|--out|folder/"),
]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes(fumehood, shell):
    """Types a tab in a real shell. The shell then writes the words of the line to a file."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    argv, setup = SHELLS[shell]
    (fumehood.folder / "bin").mkdir()
    (fumehood.folder / "bin/fumehood").symlink_to(fumehood.program)
    (fumehood.folder / "a file.yaml").touch()
    (fumehood.folder / "played.jsonl").touch()
    (fumehood.folder / "folder").mkdir()
    env = {k: v for k, v in fumehood.env.items() if k not in ("PROMPT_COMMAND", "PS1")}
    path = f"{fumehood.folder}/bin:{env['PATH']}"
    env.update(HOME=str(fumehood.folder), PATH=path, TERM="dumb", LC_ALL="C.UTF-8")
    terminal = Terminal(argv, env, fumehood.folder)
    try:
        terminal.type(f"{setup}\recho rea''dy\r")
        terminal.wait_for("ready\r?\n")
        for i, (typed, words) in enumerate(TYPED):
            # Type Ctrl-A after the tab: it goes to the line's beginning, so that printf shows the
            # completed words.
            terminal.type(f"{typed}\t\x01printf '%s|' >words{i} \r")
            terminal.type(f"echo over''{i}\r")
            terminal.wait_for(rf"over{i}\r?\n")
            found = (fumehood.folder / f"words{i}").read_text()
            assert found.rstrip("|").rstrip("/") == words.rstrip("/")
    finally:
        terminal.close()
