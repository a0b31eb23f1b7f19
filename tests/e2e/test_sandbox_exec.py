# SPDX-License-Identifier: Apache-2.0
"""fumehood sandbox exec: variables, binds, the folder that it starts in, and exit statuses."""

import fcntl
import os
import pty
import shlex
import signal
import struct
import subprocess
import termios
from pathlib import Path

import pytest


@pytest.fixture
def folder(fumehood) -> Path:
    """The program's current folder, which a sandbox may read."""
    fumehood.folder = fumehood.folder / "folder"
    fumehood.folder.mkdir()
    fumehood.folder.chmod(0o755)
    (fumehood.folder / "file").write_text("mine\n")
    return fumehood.folder


def test_the_examples_of_the_help_work(fumehood, folder):
    text = fumehood("sandbox", "exec", "--help").stdout.split("Examples\n")[1]
    fumehood.env["PATH"] = f"{Path(fumehood.program).parent}:{os.environ['PATH']}"
    shown = []
    for line in text.strip().splitlines():
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=folder,
            env=fumehood.env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (line, done.stderr)
        shown.append(done.stdout)
    assert shown[0] == "42\n" and "file" in shown[1] and shown[2:] == ["0.1\n"]
    assert sorted(p.name for p in folder.iterdir()) == ["file"]


WRONG = [
    ("--no-such-flag", "unknown option --no-such-flag"),
    ("--memory 9999999999T", "--memory wants a size such as 512M or 2G, of less than 8 EiB"),
    ("--bind .:/in:rx", "--bind '.:/in:rx': 'rx' should be ro or rw"),
    ("--bind .:/in:rw:ro", "'rw:ro' should be ro or rw"),
    ("--bind .:in", "the path inside should begin with '/', as in SRC:/DST:rw"),
    ("--bind :/in", "--bind wants SRC[:DST[:rw]], not ':/in'"),
    ("--bind file:/in:rw", "--bind 'file:/in:rw': only a folder can be rw"),
    ("--bind .:/a:rw --bind /opt:/b:rw", "only one folder can be rw"),
    ("--bind none", "--bind 'none': No such file or directory"),
    ("--env A", "--env wants K=V, not 'A'"),
    ("--env -i=1", "--env wants a value (K=V)"),
    ("--env=-i=1", "--env wants K=V, not '-i=1'"),
    ("--env 1A=1", "--env wants K=V, not '1A=1'"),
    ("-w /nothere", "enter '/nothere': No such file or directory"),
    ("-C none", "-C 'none': No such file or directory"),
    ("-C file", "-C 'file': it is not a folder"),
    ("-C /usr/lib", "-C '/usr/lib': the sandbox has files of its own there; --workdir starts in"),
    ("-C here --workdir /tmp", "--workdir and -C both say where to start"),
]


@pytest.mark.parametrize("words,message", WRONG)
def test_wrong_options_have_status_125(fumehood, folder, words, message):
    done = fumehood("sandbox", "exec", *words.split(), "--", "true", status=125)
    assert message in done.stderr and done.stderr.splitlines()[0].startswith("fumehood: ")


def test_the_shell_lists_its_own_statuses(fumehood):
    said = fumehood("sandbox", "shell", "--help").stdout
    assert "--timeout" not in said and "the shell's own exit status" in said


def test_a_run_can_not_bind_for_writing(fumehood, folder):
    words = ["--task", "rows", "--model", "baseline", "--bind"]
    done = fumehood.run(*words, ".:/in:rw", status=2)
    assert "only `fumehood sandbox` can bind with rw" in done.stderr
    assert "'rx' should be ro or rw" in fumehood.run(*words, ".:/in:rx", status=2).stderr


STATUSES = [
    ("exit 2", 2),
    ("exit 125", 125),
    ("kill -9 $$", 128 + 9),
    ("/file", 127),
    ("/etc/passwd", 126),
]


@pytest.mark.parametrize("script,status", STATUSES)
def test_the_program_s_status_is_its_own(fumehood, script, status):
    done = fumehood("sandbox", "exec", "--", "sh", "-c", script, status=status)
    assert "fumehood:" not in done.stderr


def test_a_program_of_this_machine_is_not_in_the_sandbox(fumehood, folder):
    (folder / "a.sh").write_text("#!/bin/sh\necho ran\n")
    (folder / "a.sh").chmod(0o755)
    away = fumehood("sandbox", "exec", "--", "./a.sh", status=127)
    assert "fumehood: './a.sh' is not in the sandbox: -C here shows it" in away.stderr
    assert "-C here" not in fumehood("sandbox", "exec", "--", "./none", status=127).stderr
    assert fumehood("sandbox", "exec", "-C", "here", "--", "./a.sh").stdout == "ran\n"


def test_variables_and_folders(fumehood, folder):
    def run(*words: str, status=0) -> str:
        return fumehood("sandbox", "exec", *words, status=status).stdout

    assert run("--env", "A=b c=d,e", "-e", "PATH=/x", "--", "/usr/bin/printenv", "A", "PATH") == (
        "b c=d,e\n/x\n"
    )
    assert run(
        "-e", "A=1", "-e", "A=2", "-e", "LANG=C", "--", "sh", "-c", "echo $A $LANG $HOME"
    ) == ("2 C /home/agent\n")
    run("-e", "A=1", "--", "B=2", "printenv", "B", status=127)  # only words before -- are variables
    assert run("--", "sh", "-c", "echo $TERM") == "\n"  # without a terminal TERM is empty
    assert run("-C", "here", "--", "sh", "-c", "pwd; cat file") == f"{folder}\nmine\n"
    (folder / "deep").mkdir()
    assert run("-C", "deep", "--", "pwd") == f"{folder}/deep\n"
    run("-C", "here", "--", "touch", "new", status=1)
    read_only = ["--bind", ".:/in:ro", "--", "touch", "/in/new"]
    run(*read_only, status=1)
    script = "cd /in; cat file; echo changed >new; mv new file; cat file"
    assert run("--bind", ".:/in:rw", "--", "sh", "-c", script) == "mine\nchanged\n"
    assert (folder / "file").read_text() == "mine\n" and not (folder / "new").exists()


def test_a_later_signal_kills_a_program_that_ignores_the_first(fumehood):
    script = "trap '' TERM; echo on; kill -STOP $$"
    child = fumehood.start("sandbox", "exec", "--", "sh", "-c", script, stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"on\n"
    child.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(1.5)
    child.send_signal(signal.SIGTERM)
    assert child.wait(60) == 128 + signal.SIGKILL


LIMITS = [
    ("--timeout 0.2", "sleep 60", 124, "the program was ended: --timeout is 0.2 s"),
    ("--disk 1M", "dd if=/dev/zero of=/tmp/x", 1, "no space left for files: --disk is 1 MiB"),
    ("--memory 40M", "dd if=/dev/zero of=/tmp/x", 1, "files: --memory leaves them 30 MiB"),
    ("--pids 3", "sh -c 'sleep 1 & sleep 1 & sleep 1'", 2, "not be started: --pids is 3"),
    (
        "--memory 60M",
        "python3 -c 'bytearray(99 << 20)'",
        128 + 9,
        "the memory ran out, and a process was ended: --memory is 60 MiB",
    ),
]


@pytest.mark.parametrize("option,command,status,message", LIMITS)
@pytest.mark.parametrize("file", [False, True])
def test_a_limit_is_told(fumehood, option, command, status, message, file):
    log = fumehood.folder / "log"
    words = ["sandbox", "exec", *option.split(), "--", *shlex.split(command)]
    with log.open("w") as out:
        done = subprocess.run(
            [fumehood.program, *words],
            stderr=out if file else subprocess.PIPE,
            text=True,
            env=fumehood.env,
            check=False,
        )
    said = log.read_text() if file else done.stderr
    if "control groups" in said and "process" in message:
        pytest.skip("no control groups here, whose events are counted")
    last = said.splitlines()[-1]
    assert done.returncode == status and last.startswith("fumehood: ") and message in last


def test_no_limit_is_told_in_vain(fumehood):
    words = ["--memory", "200M", "--disk", "2M", "--pids", "9", "--timeout", "60", "--"]
    done = fumehood("sandbox", "exec", *words, "sh", "-c", "head -c 1M /dev/zero >/tmp/x")
    assert [line for line in done.stderr.splitlines() if "control groups" not in line] == []


@pytest.mark.parametrize("term,shown", [("vt100", "vt100"), ("", "dumb")])
def test_a_terminal_has_its_name_and_size(fumehood, term, shown):
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    script = "stty size; echo $TERM; trap 'stty size; exit' WINCH; echo waits; while :; do sleep .1; done"
    child = fumehood.start(
        *["sandbox", "exec", "--", "sh", "-c", script],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**fumehood.env, "TERM": term},
        preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY)),
    )
    os.close(slave)
    said = b""
    while b"waits" not in said:
        said += os.read(master, 4096)
    assert said.decode().split() == ["33", "77", shown, "waits"]
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 88, 0, 0))
    said = b""
    while b"\n" not in said:
        said += os.read(master, 4096)
    assert said.decode().split() == ["44", "88"]
    assert child.wait(60) == 0
    os.close(master)


@pytest.mark.parametrize("keys", [True, False])
def test_a_terminal_has_a_path(fumehood, keys):
    master, slave = pty.openpty()
    script = "tty <&2; echo reached >$(tty <&2); python3 -c 'import os; print(os.ttyname(2))'"
    child = fumehood.start(
        *["sandbox", "exec", "--", "sh", "-c", script],
        stdin=slave if keys else subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    assert child.wait(60) == 0
    assert os.read(master, 4096).decode().split() == ["/dev/pts/0", "reached", "/dev/pts/0"]
    os.close(master)
