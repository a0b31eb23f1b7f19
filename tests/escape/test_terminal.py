# SPDX-License-Identifier: Apache-2.0
"""Misuse of terminals: forged input for the next reader, consoles, sessions of others."""

import fcntl
import os
import pty
import select
import subprocess
import termios
import time
from pathlib import Path

import pytest
from conftest import ATTACK

DEVICES = ["/dev/console", "/dev/tty0", "/dev/tty1", "/dev/ttyS0", "/dev/vcs", "/dev/pts/0"]
TRICKS = {"sti": "EPERM", "sti-high": "EPERM", "linux": "EPERM", "discipline": "EPERM"}
TRICKS |= {"console": "EPERM", "switch": "ENOTTY"}


def expected(who: str, steal: str) -> dict[str, str]:
    return {f"{who}:{name}": error for name, error in {**TRICKS, "steal": steal}.items()}


OPENED = {"open:/dev/tty": "ENXIO"} | {f"open:{path}": "ENOENT" for path in DEVICES}


def test_terminals_of_its_own(agent):
    assert agent.tried(f"{ATTACK}/terminal") == OPENED | expected("own", "EPERM")
    assert agent.tried(f"setsid -w {ATTACK}/terminal") == OPENED | expected("own", "done")


def test_the_shell_has_none(agent):
    """The shell has no terminal, so that nothing can forge input, stop it, or ask questions."""
    assert "No such device" in agent.sh("head -c 1 /dev/tty 2>&1")
    assert agent.sh("ps -o tty= -p $$ | tr -d ' '") == "?\n"
    assert agent.step("read -t 1 line")["info"]["exit_code"] == 1
    agent.sh("script -qc 'kill -STOP 0; tput reset' /dev/null >/dev/null", "timeout", timeout_s=0.3)


class Terminal:
    """A terminal of this machine, on which the user runs a program in a sandbox."""

    def __init__(self):
        self.master, self.side = pty.openpty()

    def start(self, fumehood, *command, redirected="") -> subprocess.Popen:
        return subprocess.Popen(
            ["sh", "-c", f'exec "$@" {redirected}', "sh", fumehood.program, *map(str, command)],
            env=fumehood.env,
            **dict.fromkeys(("stdin", "stdout", "stderr"), self.side),
            start_new_session=True,
        )

    def play(self, fumehood, *command, redirected="") -> str:
        child = self.start(fumehood, *command, redirected=redirected)
        text = b""
        while child.poll() is None or select.select([self.master], [], [], 0)[0]:
            if select.select([self.master], [], [], 0.05)[0]:
                text += os.read(self.master, 1 << 16)
        assert child.returncode == 0, text
        return text.decode()

    def waiting(self) -> bool:
        """Whether there is input for the next reader."""
        flags = termios.tcgetattr(self.side)
        flags[3] &= ~termios.ICANON
        termios.tcsetattr(self.side, termios.TCSANOW, flags)
        return bool(select.select([self.side], [], [], 0)[0])


@pytest.fixture
def terminal():
    t = Terminal()
    yield t
    os.close(t.master)
    os.close(t.side)


def test_a_terminal_that_it_is_given(fumehood, inside, terminal, neighbour):
    words = ["sandbox", "exec", "--bind", f"{inside}:{ATTACK}", "--", f"{ATTACK}/terminal"]
    lines = [line.split() for line in terminal.play(fumehood, *words).splitlines()]
    tried = dict(line for line in lines if len(line) == 2)
    steal = {"done", "EPERM"}  # the terminal may already be the session's own
    assert tried.pop("given:steal") in steal and tried.pop("own:steal") in steal
    assert tried.pop("open:/dev/tty") in ("done", "ENXIO")
    both = {**expected("given", "-"), **expected("own", "-")}
    own = {"open:/dev/pts/0": "done"}  # the terminal that the sandbox made for the program
    assert tried == {k: v for k, v in {**OPENED, **own, **both}.items() if k in tried}
    assert len(tried) == len(DEVICES) + 2 * len(TRICKS)
    assert not terminal.waiting()


SPOILER = """
import fcntl, os, signal, struct, termios
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
for fd in (0, 1, 2):
    if not os.isatty(fd):
        continue
    modes = termios.tcgetattr(fd)
    modes[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
    termios.tcsetattr(fd, termios.TCSANOW, modes)
    fcntl.ioctl(fd, termios.TIOCEXCL)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 7, 7, 0, 0))
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK | os.O_ASYNC)
    print("spoilt", fd)
"""


@pytest.mark.parametrize("redirected", ["", "</dev/null", ">/dev/null", "2>/dev/null"])
def test_a_terminal_is_left_as_it_was(fumehood, terminal, redirected):
    def state() -> tuple:
        flags = fcntl.fcntl(terminal.side, fcntl.F_GETFL)
        size = fcntl.ioctl(terminal.side, termios.TIOCGWINSZ, bytes(8))
        exclusive = fcntl.ioctl(terminal.side, 0x80045440, bytes(4))  # TIOCGEXCL
        return flags, size, exclusive, termios.tcgetattr(terminal.side)

    before = state()
    words = ["sandbox", "exec", "--", "python3", "-c", SPOILER]
    shown = terminal.play(fumehood, *words, redirected=redirected)
    assert ("spoilt" in shown) == (redirected != ">/dev/null")
    assert state() == before


def terminals_of(pid: int) -> set[str]:
    links = (os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir())
    return {link for link in links if link.startswith("/dev/pts/") or link.endswith("/ptmx")}


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_its_owner_holds_no_end_of_it(fumehood, terminal):
    """The owner holds no end of the terminal: a program can hold its locks in the kernel."""
    with terminal.start(
        fumehood, "sandbox", "exec", "--", "sh", "-c", "echo on; sleep 99"
    ) as owner:
        assert b"on" in os.read(terminal.master, 100)
        assert terminals_of(owner.pid) == {os.ttyname(terminal.side)}
        children = Path(f"/proc/{owner.pid}/task/{owner.pid}/children").read_text().split()
        relays = [int(p) for p in children if any("ptmx" in t for t in terminals_of(int(p)))]
        assert len(relays) == 1
        owner.kill()
    deadline = time.monotonic() + 5
    while runs(relays[0]):
        assert time.monotonic() < deadline
        time.sleep(0.01)
