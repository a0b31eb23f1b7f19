# SPDX-License-Identifier: Apache-2.0
"""fumehood sandbox exec on pipes and sockets. It relays them, which neither end may notice."""

import os
import select
import signal
import socket
import subprocess
import time

import pytest

WAIT_S = 60
PIPE = subprocess.PIPE


def play(fumehood, script: str, data: bytes = b"", **more) -> subprocess.CompletedProcess:
    child = fumehood.start(
        *("sandbox", "exec", "--", "sh", "-c", script),
        **{"stdin": PIPE, "stdout": PIPE, "stderr": PIPE, **more},
    )
    out, said = child.communicate(data, timeout=WAIT_S)
    return subprocess.CompletedProcess(script, child.returncode, out, said)


def test_all_comes_through(fumehood):
    data = os.urandom(3_000_001)
    done = play(fumehood, "tee /dev/stderr; exit 7", data)
    assert (done.returncode, done.stdout, done.stderr) == (7, data, data)


@pytest.mark.parametrize("size", [0, 1, 65536, 65537])
def test_what_is_printed_last(fumehood, size):
    """The last output of a program arrives, although the program kills itself."""
    done = play(fumehood, f"head -c {size} /dev/zero; exec kill -9 $$")
    assert (done.returncode, done.stdout) == (137, bytes(size))


def test_one_pipe_keeps_its_order(fumehood):
    script = "for i in $(seq 500); do echo out $i; echo err $i >&2; done"
    done = play(fumehood, script, stderr=subprocess.STDOUT)
    lines = [f"{name} {i}" for i in range(1, 501) for name in ("out", "err")]
    assert done.stdout.decode().splitlines() == lines


def test_the_end_of_the_input_is_told_before_the_programs(fumehood):
    child = fumehood.start(
        "sandbox", "exec", "--", "sh", "-c", "cat; echo end", stdin=PIPE, stdout=PIPE
    )
    child.stdin.write(b"a line\n")
    child.stdin.flush()
    assert child.stdout.readline() == b"a line\n"
    child.stdin.close()
    assert child.stdout.read() == b"end\n" and child.wait(WAIT_S) == 0


def test_a_reader_that_goes_away(fumehood):
    child = fumehood.start("sandbox", "exec", "--", "yes", stdout=PIPE)
    assert child.stdout.readline() == b"y\n"
    child.stdout.close()
    assert child.wait(WAIT_S) == 128 + signal.SIGPIPE


def test_a_writer_that_nobody_reads(fumehood):
    child = fumehood.start("sandbox", "exec", "--", "head", "-c", "1", stdin=PIPE, stdout=PIPE)
    with pytest.raises(BrokenPipeError):
        while True:
            os.write(child.stdin.fileno(), bytes(65536))
    assert child.stdout.read() == b"\0" and child.wait(WAIT_S) == 0


@pytest.mark.parametrize("more", [[], ["--timeout", "1"]])
def test_a_reader_that_does_not_read(fumehood, more):
    """Ctrl-C and a timeout end the program and fumehood. Earlier output can still be read."""
    child = fumehood.start("sandbox", "exec", *more, "--", "yes", stdout=PIPE)
    assert select.select([child.stdout], [], [], WAIT_S)[0]
    time.sleep(0.5)
    if not more:
        child.send_signal(signal.SIGINT)
    assert child.wait(WAIT_S) == (124 if more else 128 + signal.SIGINT)
    assert set(child.stdout.read().split()) == {b"y"}


def test_a_slow_reader_gets_all(fumehood):
    child = fumehood.start(
        "sandbox", "exec", "--", "head", "-c", "400000", "/dev/zero", stdout=PIPE
    )
    time.sleep(6)  # longer than the owner waits for the porter, which copies output
    assert len(child.stdout.read()) == 400000 and child.wait(WAIT_S) == 0


def test_sockets(fumehood):
    ours, theirs = socket.socketpair()
    child = fumehood.start("sandbox", "exec", "--", "cat", stdin=theirs, stdout=theirs)
    theirs.close()
    ours.sendall(b"a line\n")
    assert ours.recv(100) == b"a line\n"
    ours.shutdown(socket.SHUT_WR)
    assert child.wait(WAIT_S) == 0 and ours.recv(100) == b""


def test_files_are_handed_over(fumehood, tmp_path):
    (tmp_path / "in").write_bytes(b"one\ntwo\n")
    with open(tmp_path / "in", "rb") as given, open(tmp_path / "out", "wb") as taken:
        child = fumehood.start("sandbox", "exec", "--", "head", "-n1", stdin=given, stdout=taken)
        assert child.wait(WAIT_S) == 0
    assert (tmp_path / "out").read_bytes() == b"one\n"
