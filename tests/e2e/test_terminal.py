# SPDX-License-Identifier: Apache-2.0
"""A person plays at a real terminal, with line editing, completion and a history."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest
from conftest import ROOT, default_signals

UP, HOME, WORD_BACK, KILL_LINE = "\033[A", "\x01", "\x17", "\x15"
ANSWER_S = 200


class Terminal:
    """The program in a terminal of its own, which is its controlling terminal."""

    def __init__(self, fumehood, *args, task="rows", columns=120, **env):
        self.fumehood = fumehood
        self.task = task
        self.master, slave = pty.openpty()
        self.resize(columns)
        self.before = termios.tcgetattr(slave)
        self.child = fumehood.start(
            *fumehood.run_words("--task", task, *args),
            stdin=slave,
            stdout=slave,
            stderr=subprocess.STDOUT,
            env={**fumehood.env, "HOME": str(fumehood.folder), **env},
            preexec_fn=lambda: (default_signals(), os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY)),
        )
        self.slave = slave
        self.shown = b""
        self.steps = 1
        self.begin = self.expect("[step 1]" if "human" in args else "what you think")

    def resize(self, columns: int):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def type(self, text: str):
        os.write(self.master, text.encode())

    def expect(self, text: str) -> str:
        """Waits for a text. Returns the output up to the end of this text."""
        end = time.monotonic() + ANSWER_S
        while text.encode() not in self.shown:
            left = end - time.monotonic()
            assert left > 0 and select.select([self.master], [], [], left)[0], self.shown
            self.shown += os.read(self.master, 65536)
        before, self.shown = self.shown.split(text.encode(), 1)
        return before.decode() + text

    def ask(self, text: str) -> str:
        """Types a line, and waits for the next prompt. Returns the output until then."""
        self.type(text)
        self.steps += 1
        return self.expect(f"[step {self.steps}]")

    def raw(self) -> bool:
        return not termios.tcgetattr(self.slave)[3] & termios.ICANON

    def end(self, status: int = 0) -> list[str]:
        """Waits for the program's end. Returns the actions that were played."""
        late = time.monotonic() + ANSWER_S
        while self.child.poll() is None:
            assert time.monotonic() < late, self.shown
            if select.select([self.master], [], [], 0.1)[0]:
                self.shown += os.read(self.master, 65536)
        assert self.child.wait() == status, self.shown
        assert termios.tcgetattr(self.slave) == self.before
        os.close(self.slave)
        os.close(self.master)
        path = max(self.fumehood.out.glob(f"*/{self.task}.traj"), key=os.path.getmtime)
        self.recorded = json.loads(path.read_text())["trajectory"]
        return [step["action"] for step in self.recorded]


@pytest.fixture
def terminal(fumehood, tmp_path):
    started = []

    def start(*args, **more):
        fumehood.env["FUMEHOOD_STATE"] = str(tmp_path / "state")
        started.append(Terminal(fumehood, *(args or ("--model", "human")), **more))
        return started[-1]

    yield start
    for t in started:
        t.child.kill()
        t.child.wait()


# Keys that are typed into the prompt's line editor, and the action that they make.
KEYS = [
    ("echo b" + HOME + "echo a; \r", "echo a; echo b"),
    ("echo one" + WORD_BACK + "two\r", "echo two"),
    ("nonsense" + KILL_LINE + "echo sense\r", "echo sense"),
    ("echo é" + "\x7f" + "ü\r", "echo ü"),
    ("echo cd\x1b[1;5Dx\r", "echo xcd"),  # Ctrl and an arrow
    ("echo a\x1b[15~\x1b[2~\x1b[1;2Pb\r", "echo ab"),  # F5, Insert and Shift with F1 do nothing
    ("echo x\r", "echo x"),
    (UP + "\x7fy\r", "echo y"),
    (UP + UP + "z\r", "echo xz"),
    ("\x12echo tw\r\r", "echo two"),  # Ctrl-R searches the history
    ("desc\t sample.csv\r", "describe  sample.csv"),
    ("echo a; scroll_\t\tup\r", "echo a; scroll_up"),
    ("echo desc\t\r", "echo desc"),  # an argument is not completed as a command
]


def test_keys(terminal):
    t = terminal("--model", "human", "--max-steps", "50")
    for keys, _ in KEYS:
        t.ask(keys)
    t.type("\x04")
    assert [a.rstrip() for a in t.end()] == [action for _, action in KEYS] + ["exit_forfeit"]


def test_names_of_files(terminal):
    t = terminal("--model", "human", "--max-steps", "50")
    t.ask("mkdir -p deep/inner; cd deep; touch 'two words' inner/{one,other}.csv $'\\e[31mred'\r")
    t.ask("cat tw\t; ls in\to\t\r")
    t.type("ls inner/o\t")
    assert "\033[31m" not in t.expect("one.csv  other.csv")
    t.ask("n\t\r")
    t.ask("ls ~/work\tdeep/inn\t\r")
    t.ask("trap 'sleep 9' DEBUG; cd .\t/inner\r")  # another shell completes names
    t.type("\x04")
    assert t.end()[1:] == [
        "cat two\\ words ; ls inner/o",
        "ls inner/one.csv ",
        "ls ~/workspace/deep/inner/",
        "trap 'sleep 9' DEBUG; cd ./inner",
        "exit_forfeit",
    ]


def test_lines_outlive_a_run(terminal, tmp_path):
    t = terminal()
    t.ask("echo first\r")
    t.type("submit\r")
    t.end()
    kept = tmp_path / "state" / "human_history"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.read_text() == "echo first\nsubmit\n"
    kept.write_text("\n".join(f"echo line {i}" for i in range(1500)) + "\n")
    t = terminal()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.read_text().splitlines() == [f"echo line {i}" for i in range(500, 1500)]
    t.ask(UP + UP + "\r")
    t.type("\x04")
    assert t.end() == ["echo line 1498", "exit_forfeit"]


def test_a_window_changes_its_size(terminal):
    t = terminal()
    wide = "echo " + "x" * 100
    t.type(wide)
    t.expect("x" * 20)
    for columns in (20, 200, 7, 80):
        t.resize(columns)
        time.sleep(0.05)
    assert t.raw()
    t.ask(HOME + ": ; \r")
    t.type("\x04")
    assert t.end() == [": ; " + wide, "exit_forfeit"]


def test_stopped_and_resumed(terminal):
    t = terminal()
    t.type("echo later")
    t.expect("later")
    t.child.send_signal(signal.SIGSTOP)
    termios.tcsetattr(t.slave, termios.TCSANOW, t.before)  # as a shell restores the terminal
    t.child.send_signal(signal.SIGCONT)
    t.expect("echo later")
    assert t.raw()
    t.ask(HOME + "echo now; \r")
    t.type("\x04")
    assert t.end() == ["echo now; echo later", "exit_forfeit"]


def test_ctrl_c_clears_the_line(terminal):
    t = terminal()
    assert "Ctrl-C: clear the line or end the command; twice: submit or leave." in t.begin
    t.type("rm -r")
    t.expect("rm -r")
    t.type("\x03")
    t.expect("^C")
    t.ask("echo a\r")
    t.type("for i in 1; do\r")
    t.expect("> ")
    t.type("echo\x03")
    t.expect("[step 2]")
    t.type("also wrong\x03")  # lines that were cleared are not wish to leave
    t.expect("[step 2]")
    t.type("cat <<'EOF'\r")
    t.expect("> ")
    t.type("\x04")  # drops the command, and leaves the episode alone
    t.expect("[step 2]")
    t.ask("echo b\r")
    t.type("\x04")
    assert t.end() == ["echo a", "echo b", "exit_forfeit"]


@pytest.mark.parametrize("answer,action", [("s", "submit"), ("l", "exit_forfeit"), ("", None)])
def test_ctrl_c_twice_asks(terminal, answer, action):
    t = terminal()
    t.type("\x03")
    t.expect("[step 1]")
    t.type("\x03")
    question = "submit what is there (s), leave without a score (l), or go on (Enter)?"
    t.expect(question)
    t.type("echo lost\r")  # it is no answer
    t.expect(question)
    t.type(answer + "\r")
    if not action:
        t.expect("[step 1]")
        t.ask("echo on\r")
        t.type("\x04")
    assert t.end() == [action] if action else ["echo on", "exit_forfeit"]


def test_ctrl_c_ends_a_command(terminal):
    t = terminal()
    t.type("echo begun; sleep 1000\r")
    t.expect("begun\r\n")
    t.type("\x03")
    said = t.expect("[step 2]")
    assert "(The command was interrupted.)" in said and "begun" not in said
    t.type("\x03")  # the second Ctrl-C in a row
    t.expect("go on (Enter)?")
    t.type("\r")
    t.steps = int(t.expect("[step 2]")[-2])
    t.ask("echo $((6 * 7)) >a; cat a\r")
    t.type("\x04")
    assert t.end() == ["echo begun; sleep 1000", "echo $((6 * 7)) >a; cat a", "exit_forfeit"]


def test_ctrl_c_twice_while_a_command_runs_asks(terminal):
    t = terminal()
    t.type("trap '' INT; echo begun; sleep 1000\r")
    t.expect("begun\r\n")
    t.type("\x03")
    t.expect("^C")
    # The kernel merges signals until one is taken.
    status = Path(f"/proc/{t.child.pid}/status")
    while int(re.search(r"ShdPnd:\t(\w+)", status.read_text())[1], 16):
        time.sleep(0.001)
    t.type("\x03")
    t.expect("go on (Enter)?")
    t.type("s\r")
    assert t.end() == ["trap '' INT; echo begun; sleep 1000", "submit"]


def test_a_signal_ends_the_run(terminal):
    t = terminal()
    t.child.send_signal(signal.SIGTERM)
    assert t.end(128 + signal.SIGTERM) == []
    assert b"early_exit" in t.shown


# Lines to type one after the other. Each case must become one action, because shell syntax is
# unfinished before its last line.
UNFINISHED = [
    ("for i in 1 2; do", "echo $i", "done"),
    ("cat <<EOF", "$(", "EOF"),
    ("echo 'one", "two'"),
    ("if true; then", "echo yes; fi"),
    ("f() {", ":; }"),
    ("echo one \\", "two"),
    ("true &&", "echo two"),
]


def test_unfinished_commands_go_on(terminal):
    t = terminal("--model", "human", "--max-steps", "50")
    for lines in UNFINISHED:
        for line in lines[:-1]:
            t.type(line + "\r")
            t.expect(line + "\r\n")
            t.expect("> ")
        t.ask(lines[-1] + "\r")
    t.ask("fi\r")  # a syntax error, not an unfinished command
    t.type("\x04")
    assert t.end() == ["\n".join(lines) for lines in UNFINISHED] + ["fi", "exit_forfeit"]


def test_programs_that_need_a_terminal_are_refused(terminal):
    t = terminal("--model", "human", "--max-steps", "50")
    for line in (
        "vim a.py",
        "cd /; top",
        "LINES=3 /usr/bin/less a",
        "\\vim",
        "command vim",
        "env vim",
    ):
        t.type(line + "\r")
        said = t.expect("[step 1]")
        assert " needs a whole screen, and a command has none here" in said
    t.type("python3\r")
    assert "python3 would end at once, because a command has no typed input" in t.expect("[step 1]")
    t.ask("echo a | less\r")
    t.ask("echo vim\r")
    t.type("\x04")
    assert t.end() == ["echo a | less", "echo vim", "exit_forfeit"]


def test_output_is_shown_once(terminal):
    """Whole lines are shown when they come, the rest at the end of the command."""
    t = terminal()
    t.type("printf 'one\\ntwo\\n\\e[31mred\\r\\nfour'; sleep .3; echo; echo end\r")
    t.expect("echo end\r\n")
    assert t.expect("[step 2]") == "one\r\ntwo\r\n\\x1b[31mred\r\nfour\r\nend\r\n[step 2]"
    t.type("\x04")
    t.end()


def test_output_in_a_task_of_mlgym_is_shown_once(terminal):
    """The observation has no empty lines, no progress bars and no last newline."""
    t = terminal(
        "--model", "human", "--mlgym-root", ROOT / "tests/fixtures/mlgym-root", task="coin"
    )
    lines = "printf 'one\\n\\n\\ntwo\\r\\n 5%%|#  | 1/9 [00:01]\\nthree\\n'"
    seen = "one\r\ntwo\r\nthree\r\n"
    t.type(lines + "; sleep 1000\r")
    t.expect("sleep 1000\r\n")
    assert t.expect("three\r\n") == seen  # the command still runs
    t.type("\x03")
    said = t.expect("[step 2]").removeprefix("^C")
    assert said == "(The command was interrupted.)\r\n[step 2]"
    for step, (more, left) in enumerate(
        [("", ""), ("; sleep .3; echo four", "four\r\n"), ("; sleep .3; printf 4", "4\r\n")], 3
    ):
        t.type(lines + more + "; :\r")
        t.expect("; :\r\n")
        assert t.expect(f"[step {step}]") == f"{seen}{left}[step {step}]"
    t.type("\x04")
    t.end()
    observed = [s["observation"] for s in t.recorded[1:4]]
    assert observed == ["one\ntwo\nthree", "one\ntwo\nthree\nfour", "one\ntwo\nthree\n4"]


def test_several_lines_and_thoughts(terminal):
    t = terminal("--model", "human_thought")
    t.type("a look\rEND_THOUGHT\r")
    t.expect("[step 1]")
    t.type("start_multiline_command\rls\r" + UP + "; pwd\rend_multiline_command\r")
    t.expect("what you think")
    t.type(UP + "\x7f" * 99 + "\x04")  # the line for thoughts has no history
    assert t.end() == ["ls\nls; pwd\n", "exit_forfeit"]


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": ""}, {"LD_LIBRARY_PATH": "."}])
def test_plain_lines_where_they_can_not_be_edited(fumehood, terminal, env):
    (fumehood.folder / "libedit.so.2").write_text("no library")
    t = terminal(**env)
    assert not t.raw()
    assert "\033" not in t.ask("echo one\n")
    t.type("\x04")
    assert t.end() == ["echo one", "exit_forfeit"]


def test_what_is_shown_can_not_steer_it(terminal):
    t = terminal()
    assert "\033[31m" not in t.ask("d=$'\\e[31mred'; mkdir $d; cd $d; echo -e $d\r")
    assert "\\x1b[31mred $ " in t.expect(" $ ")
    t.type("\x04")
    t.end()
