# SPDX-License-Identifier: Apache-2.0
"""fumehood sandbox exec: what it hands to a program, and what it refuses to."""

import os
import subprocess

import pytest


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_folder_is_not_handed_in(fumehood, number):
    """A sandbox would walk this machine through it."""
    folder = os.open("/", os.O_RDONLY)
    ends = [subprocess.DEVNULL, subprocess.PIPE, subprocess.PIPE]
    ends[number] = folder
    child = fumehood.start(
        *["sandbox", "exec", "--", "sh", "-c", f"ls /proc/self/fd/{number}/ | wc -l"],
        **dict(zip(("stdin", "stdout", "stderr"), ends, strict=True)),
        text=True,
    )
    shown, said = child.communicate(timeout=60)
    os.close(folder)
    assert child.returncode == 1 and not shown
    if number != 2:
        assert f"descriptor {number} is a folder" in said


@pytest.mark.parametrize("network", ["none", "host"])
def test_a_sandbox_can_look_up_its_own_name(fumehood, network):
    """As torchrun does, which otherwise waits until its limit."""
    words = ["--network", network, "--", "sh", "-c", "getent hosts $(hostname) localhost"]
    names = [line.split()[1] for line in fumehood("sandbox", "exec", *words).stdout.splitlines()]
    assert "fumehood" in names and "localhost" in names


@pytest.mark.parametrize("words", ["exec --json -- echo hi", "shell --json"])
def test_the_output_is_not_ours_to_print_as_json(fumehood, words):
    done = fumehood("sandbox", *words.split(), status=2)
    assert done.stdout == "" and "--json: output and exit status are the program's" in done.stderr
